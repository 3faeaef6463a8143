"""One kind kept in memory: the cache follows the plane, and handlers are called for changes."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kubekit.api.errors import Expired, Forbidden, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import EVERYTHING, PLAIN_WRITE
from kubekit.client.transport import Document, ResourceLocation
from kubekit.runtime.reporting.counters import InformerCounters
from kubekit.runtime.watching.changes import CacheChange
from tests.support.kubekit.following_builders import Answer, Plan, config
from tests.support.kubekit.informer_builders import (
    HERE,
    InformerWorld,
    RecordingHandler,
    Story,
    run_in_world,
)

CUT = Plan(cut_after=0)
GONE = Plan(refusal=Expired("too old resource version"))


@pytest.fixture
def run_story(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on a fresh plane."""
    return lambda story: run_in_world(tmp_path, story)


def test_the_cache_follows_the_plane(run_story):
    """What is there at the start, and whatever becomes of it."""

    async def story(world: InformerWorld) -> None:
        one = await world.writer.create(config("one", a="1"))
        async with world.informer() as informer:
            assert informer.synced
            assert (informer.served, informer.problem) == (True, "")
            changed = await world.change(one, a="2")
            two = await world.writer.create(config("two"))
            await asyncio.sleep(0.1)
            assert [one.data for one in informer.cache.list("default")] == [{"a": "2"}, {}]
            assert informer.cache.seen(changed.metadata.resource_version)
            assert informer.cache.seen(two.metadata.resource_version)
            await world.writer.delete(changed)
            await asyncio.sleep(0.1)
            assert informer.cache.get("default", "one") is None

    run_story(story)


def test_waiters_resume_when_the_cache_is_synced(run_story):
    """Not before the last page of the list."""

    async def story(world: InformerWorld) -> None:
        for number in range(501):
            await world.writer.create(config(f"n{number:03}"))
        async with world.informers() as informers:
            informer = informers.of(ConfigMap)
            before = informer.synced
            await informer.wait_synced()
            assert (before, informer.synced) == (False, True)
            assert len(world.transport.listed) == 2
            assert ("default", "n500") in informer.cache

    run_story(story)


def test_a_listener_hears_what_is_here_then_what_comes(run_story):
    """With the old and the new object of each change."""

    async def story(world: InformerWorld) -> None:
        one = await world.writer.create(config("one"))
        async with world.informer() as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            assert ear.signs == ["+one"]
            changed = await world.change(one, a="1")
            await world.writer.delete(changed)
            await asyncio.sleep(0.1)
        assert ear.signs == ["+one", "~one", "-one"]
        data = [(c.old and c.old.data, c.new and c.new.data) for c in ear.changes]
        assert data == [(None, {}), ({}, {"a": "1"}), ({"a": "1"}, None)]
        assert ear.changes[2].old is ear.changes[2].old
        assert {(c.cluster, c.namespace) for c in ear.changes} == {(HERE, "default")}

    run_story(story)


def test_a_change_says_in_words_what_it_is():
    """For logs."""
    words = [
        repr(CacheChange(HERE, "ns", "x", ConfigMap, old=old, new=new))
        for old, new in ((None, b"{}"), (b"{}", b"{}"), (b"{}", None))
    ]
    assert words == ["<added here/ns/x>", "<modified here/ns/x>", "<removed here/ns/x>"]


def test_a_listener_that_comes_in_the_middle_misses_and_repeats_nothing(run_story):
    """Even one that is added while another is called."""

    async def story(world: InformerWorld) -> None:
        late = RecordingHandler()

        def adding(change: CacheChange[ConfigMap]) -> None:
            if change.name == "two":
                informer.listen(late)

        await world.writer.create(config("one"))
        async with world.informer() as informer:
            informer.listen(adding)
            await world.writer.create(config("two"))
            await world.writer.create(config("three"))
            await asyncio.sleep(0.1)
        assert late.signs == ["+one", "+two", "+three"]

    run_story(story)


def test_handlers_are_called_in_the_order_of_their_registration(run_story):
    """Every time."""

    async def story(world: InformerWorld) -> None:
        changes: list[str] = []
        async with world.informer() as informer:
            informer.listen(lambda change: changes.append(f"first {change.name}"))
            informer.listen(lambda change: changes.append(f"second {change.name}"))
            await world.writer.create(config())
            await asyncio.sleep(0.1)
        assert changes == ["first one", "second one"]

    run_story(story)


def test_a_handler_can_remove_itself_and_others_while_it_is_called(run_story):
    """A removed handler is not called again, not even for this change; removing twice is fine."""

    async def story(world: InformerWorld) -> None:
        first, last = RecordingHandler(), RecordingHandler()
        async with world.informer() as informer:

            def ending(change: CacheChange[ConfigMap]) -> None:
                first(change)
                for end in ends:
                    end()
                    end()

            ends = [informer.listen(ending), informer.listen(last)]
            await world.writer.create(config("one"))
            await world.writer.create(config("two"))
            await asyncio.sleep(0.1)
        assert (first.signs, last.signs) == (["+one"], [])

    run_story(story)


def test_a_handler_that_fails_affects_no_other(run_story, caplog):
    """The others are called, the cache is updated, and the log names the object."""

    def failing(change: CacheChange[ConfigMap]) -> None:
        raise ValueError(change.name)

    async def story(world: InformerWorld) -> None:
        await world.writer.create(config("one"))
        async with world.informer() as informer:
            ear = RecordingHandler()
            informer.listen(failing)
            informer.listen(ear)
            await world.writer.create(config("two"))
            await asyncio.sleep(0.1)
            assert ear.signs == ["+one", "+two"]
            assert len(informer.cache) == 2

    with caplog.at_level(logging.ERROR):
        run_story(story)
    failed = [record.__dict__["object"] for record in caplog.records]
    assert failed == ["default/one", "default/two"]


def test_a_second_list_is_turned_into_the_differences(run_story):
    """Unchanged objects are not reported; a replaced object is removed and added."""

    async def story(world: InformerWorld) -> None:
        same, changing, going, replaced = [
            await world.writer.create(config(name)) for name in ("a", "b", "c", "d")
        ]
        world.transport.watches.append(Plan(silent=True))
        world.transport.watches.append(GONE)
        async with world.informer() as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            ear.signs.clear()
            await world.change(changing, a="1")
            await world.writer.delete(going)
            await world.writer.delete(replaced)
            newer = await world.writer.create(config("d"))
            await world.writer.create(config("e"))
            await asyncio.sleep(660)
            assert ear.signs == ["~b", "-d", "+d", "+e", "-c"]
            gone, come = ear.changes[-4:-2]
            assert (gone.old, come.new) == (bare(replaced), bare(newer))
            assert informer.cache.uid_of("default", "d") == newer.metadata.uid
            assert informer.cache.get("default", "a") == bare(same)
            assert informer.relists == 1

    run_story(story)


def bare(obj: ConfigMap) -> ConfigMap:
    """The object as a cache keeps it."""
    metadata = msgspec.structs.replace(obj.metadata, managed_fields=())
    return msgspec.structs.replace(obj, metadata=metadata)


def test_a_list_that_is_behind_sets_the_revision_back(run_story):
    """A pass that waits for its own write waits until the cache really shows it."""

    async def story(world: InformerWorld) -> None:
        stale = await world.transport.list(ResourceLocation(ConfigMap.RESOURCE), EVERYTHING)
        world.transport.watches.append(Plan(cut_after=1))
        world.transport.watches.append(GONE)
        async with world.informer() as informer:
            made = await world.writer.create(config("one"))
            await asyncio.sleep(0.1)
            assert informer.cache.seen(made.metadata.resource_version)
            world.transport.lists.append(Answer(instead=stale))
            world.transport.watches.append(Plan(silent=True))
            await asyncio.sleep(10)
            assert not informer.cache.seen(made.metadata.resource_version)
            assert informer.cache.keys("default") == []
            await asyncio.sleep(700)
            assert informer.cache.seen(made.metadata.resource_version)
            assert informer.cache.keys("default") == [("default", "one")]

    run_story(story)


def unfinished(document: Document) -> Document:
    """A list as if more pages followed it."""
    return document | {"metadata": document["metadata"] | {"continue": "more"}}


def test_a_list_that_is_behind_sets_the_revision_back_with_its_first_page(run_story):
    """Between two pages no pass assumes that the cache shows its own write."""

    async def story(world: InformerWorld) -> None:
        await world.writer.create(config("one"))
        stale = await world.transport.list(ResourceLocation(ConfigMap.RESOURCE), EVERYTHING)
        world.transport.watches.extend([Plan(cut_after=1), GONE])
        async with world.informer() as informer:
            made = await world.writer.create(config("two"))
            await asyncio.sleep(0.1)
            assert informer.cache.seen(made.metadata.resource_version)
            world.transport.lists.extend([Answer(instead=unfinished(stale)), Answer(hangs=True)])
            await asyncio.sleep(30)
            assert not informer.cache.seen(made.metadata.resource_version)
            await asyncio.sleep(120)
            assert informer.cache.seen(made.metadata.resource_version)

    run_story(story)


def test_a_list_that_starts_over_forgets_what_it_had_shown(run_story):
    """What went between the two beginnings is gone."""

    async def story(world: InformerWorld) -> None:
        one = await world.writer.create(config("one"))
        stale = await world.transport.list(ResourceLocation(ConfigMap.RESOURCE), EVERYTHING)
        world.transport.watches.extend([Plan(silent=True), GONE])
        async with world.informer() as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            await world.writer.delete(one)
            refused = Answer(refusal=Unavailable("down"))
            world.transport.lists.extend([Answer(instead=unfinished(stale)), refused])
            await asyncio.sleep(700)
            assert "-one" in ear.signs
            assert informer.cache.keys("default") == []

    run_story(story)


def test_a_great_loss_is_reported_in_bursts(run_story):
    """A list without the known objects does not block the loop."""

    async def story(world: InformerWorld) -> None:
        for number in range(501):
            await world.writer.create(config(f"n{number:03}"))
        empty = await world.transport.list(
            ResourceLocation(ConfigMap.RESOURCE, "kube-public"), EVERYTHING
        )
        world.transport.watches.append(CUT)
        world.transport.watches.append(GONE)
        async with world.informer() as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            world.transport.lists.append(Answer(instead=empty))
            world.transport.always = Plan(silent=True)
            await asyncio.sleep(10)
            assert len(ear.signs) == 1002
            assert len(informer.cache) == 0

    run_story(story)


def test_trouble_is_reported_and_ends(run_story):
    """The words of the server, for as long as it lasts; it is not synced meanwhile."""

    async def story(world: InformerWorld) -> None:
        world.transport.lists.extend([Answer(refusal=Forbidden("you may not list"))] * 3)
        async with world.informers() as informers:
            informer = informers.of(ConfigMap)
            await asyncio.sleep(0.1)
            assert (informer.problem, informer.served) == ("you may not list", None)
            problems = informers.problems()
            assert (problems, informers.synced) == (["ConfigMap: you may not list"], False)
            await informers.wait_synced()
            await asyncio.sleep(5)
            assert [informer.problem, *informers.problems()] == [""]

    run_story(story)


def test_an_informer_knows_its_figures(run_story):
    """For metrics."""

    async def story(world: InformerWorld) -> None:
        async with world.informer() as informer:
            await world.writer.raw.create(
                ResourceLocation(ConfigMap.RESOURCE, "default"),
                {"metadata": {"name": "x"}},
                PLAIN_WRITE,
            )
            await asyncio.sleep(0.1)
            assert informer.counters() == InformerCounters(
                HERE, "ConfigMap", 1, 0, 0, synced=True, served=True
            )

    run_story(story)
