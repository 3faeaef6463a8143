"""Following a collection of a real plane: the picture, the changes, and where to go on."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from compute.api.compute import Instance
from kubekit.api.errors import Expired, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.resource import Resource
from kubekit.client.list_watch import NotServed, follow
from kubekit.client.options import EVERYTHING, PLAIN_WRITE, ListOptions
from kubekit.client.transport import Document, ResourceLocation
from tests.support.kubekit.following_builders import (
    Answer,
    Plan,
    Story,
    World,
    config,
    gaps,
    run_in_world,
)
from tests.support.kubekit.plane_worlds import environment

GONE = Expired("too old resource version")


@pytest.fixture
def run_story(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on a fresh plane."""
    return lambda story: run_in_world(tmp_path, story)


def test_the_list_comes_first_then_the_changes(run_story):
    """Existing objects come as a list, changes as they happen."""

    async def story(world: World) -> None:
        one = await world.writer.create(config("one"))
        async with world.following() as picture:
            await world.writer.create(config("two"))
            await world.change(one, a="1")
            await world.writer.delete(one)
            await asyncio.sleep(0.1)
        assert picture.words == ["list one", "ADDED two", "MODIFIED one", "DELETED one"]
        assert world.troubles == []

    run_story(story)


def test_a_list_comes_in_pages(run_story):
    """Each page says whether it begins or ends the picture; the changes follow the last."""

    async def story(world: World) -> None:
        for name in "abcde":
            await world.writer.create(config(name))
        async with world.following(ListOptions(limit=2)) as picture:
            await world.writer.create(config("f"))
            await asyncio.sleep(0.1)
        pages = picture.steps[:3]
        assert picture.words == ["list a b", "list c d", "list e", "ADDED f"]
        assert [(page.is_first, page.is_last) for page in pages] == [
            (True, False),
            (False, False),
            (False, True),
        ]

    run_story(story)


def test_the_selectors_hold_for_the_list_and_the_watch(run_story):
    """Only selected objects are yielded, by both."""

    async def story(world: World) -> None:
        for name in ("a", "b"):
            await world.writer.create(config(name))
        async with world.following(ListOptions(field_selector="metadata.name!=a")) as picture:
            await world.writer.create(config("c"))
            await asyncio.sleep(0.1)
        assert picture.words == ["list b", "ADDED c"]
        assert world.transport.listed[0][1].limit == 500

    run_story(story)


@pytest.mark.parametrize(
    "plan",
    [Plan(cut_after=1), Plan(cut_after=1, error=Unavailable("gone away")), Plan(doubled=True)],
    ids=["ended", "broken", "doubled"],
)
def test_a_spoilt_watch_is_resumed_without_a_gap_or_a_repetition(run_story, plan: Plan):
    """It resumes from the last change that was yielded; there is no second list."""

    async def story(world: World) -> None:
        world.transport.watches.append(plan)
        async with world.following() as picture:
            for name in "abc":
                await world.writer.create(config(name))
            await asyncio.sleep(5)
            await world.writer.create(config("d"))
            await asyncio.sleep(5)
        assert picture.words == ["list", "ADDED a", "ADDED b", "ADDED c", "ADDED d"]
        assert len(world.transport.listed) == 1

    run_story(story)


def test_a_bookmark_is_as_good_as_a_change(run_story):
    """A quiet watch is resumed from its bookmark, though the version of its list is forgotten."""

    async def story(world: World) -> None:
        await world.writer.create(config())
        async with world.following() as picture:
            await world.writer.raw.create(
                ResourceLocation(ConfigMap.RESOURCE, "kube-system"),
                {"metadata": {"name": "x"}},
                PLAIN_WRITE,
            )
            await asyncio.sleep(120)
            await world.forget()
            await asyncio.sleep(700)
            await world.writer.create(config("two"))
            await asyncio.sleep(1)
        assert picture.words == ["list one", "ADDED two"]
        assert len(world.transport.watched) > 1

    run_story(story)


def test_a_watch_is_asked_to_last_five_to_ten_minutes(run_story):
    """Each another time, so that many do not come back together; one that was good is resumed at once."""

    async def story(world: World) -> None:
        async with world.following():
            await asyncio.sleep(3600)
        seconds = [options.timeout_seconds or 0 for _, options in world.transport.watched]
        assert all(300 <= one < 600 for one in seconds)
        assert len(set(seconds)) > 1
        assert gaps(world.transport.watched) == seconds[:-1]
        assert world.troubles == []

    run_story(story)


def test_a_forgotten_version_makes_a_new_list(run_story):
    """A watch that is refused with 410 is followed by the whole picture."""

    async def story(world: World) -> None:
        one = await world.writer.create(config("one"))
        world.transport.watches.append(Plan(cut_after=1))
        async with world.following() as picture:
            await world.writer.create(config("two"))
            await world.writer.delete(one)
            await world.writer.create(config("three"))
            await world.forget()
            await asyncio.sleep(10)
        assert picture.words == ["list one", "ADDED two", "list three two"]
        assert world.troubles[-1] is None

    run_story(story)


def test_a_stream_that_says_gone_makes_a_new_list(run_story):
    """The other form of 410 comes in the stream; having forgotten is no trouble."""

    async def story(world: World) -> None:
        world.transport.watches.append(Plan(cut_after=1, error=GONE))
        async with world.following() as picture:
            await world.writer.create(config("one"))
            await asyncio.sleep(10)
        assert picture.words == ["list", "ADDED one", "list one"]
        assert world.troubles == []

    run_story(story)


def test_versions_that_are_no_numbers_are_followed_too(run_story):
    """They cannot be compared, so everything is yielded."""

    async def story(world: World) -> None:
        world.transport.lists.append(Answer(instead={"metadata": {"resourceVersion": "x"}}))
        world.transport.watches.append(Plan(refusal=Unavailable("down")))
        async with world.following() as picture:
            await asyncio.sleep(5)
        assert world.transport.watched[0][1].resource_version == "x"
        assert picture.words == ["list", "list"]

    run_story(story)


class Kite(ConfigMap, frozen=True, kw_only=True):
    """A kind that no plane here serves."""

    RESOURCE = Resource(group="kites.test", version="v1", kind="Kite", plural="kites")


def test_trap_171_a_kind_that_is_not_served_is_waited_for(run_story):
    """It is asked for every few seconds, at most ten, and reported as what it is."""

    async def story(world: World) -> None:
        async with world.following(kind=Kite):
            await asyncio.sleep(120)
        pauses = gaps(world.transport.listed)
        assert all(0.5 <= pause <= 10 for pause in pauses)
        assert len(pauses) > 12
        assert [type(trouble) for trouble in world.troubles] == [NotServed]
        assert str(world.troubles[0]) == "the server does not serve Kite of kites.test/v1"

    run_story(story)


def bad_instance(name: str) -> Document:
    """An Instance that the schema takes and the class does not."""
    resource = Instance.RESOURCE
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name},
    }


def test_an_object_that_cannot_be_read_is_named_and_skipped(run_story):
    """In the list and in the watch; the other objects are yielded."""

    async def story(world: World) -> None:
        place = ResourceLocation(Instance.RESOURCE, "default")
        await world.writer.raw.create(place, bad_instance("bad"), PLAIN_WRITE)
        async with world.following(kind=Instance) as picture:
            await world.writer.raw.create(place, bad_instance("worse"), PLAIN_WRITE)
            await asyncio.sleep(0.1)
        listed, seen = picture.steps
        assert [(bad.namespace, bad.name) for bad in listed.unreadable] == [("default", "bad")]
        assert (seen.object, seen.namespace, seen.name) == (None, "default", "worse")
        assert "spec" in seen.unreadable
        assert world.troubles == []

    run_story(story)


def test_an_event_without_an_object_is_skipped(run_story):
    """It has no version to go on from, so the last one stays."""

    async def story(world: World) -> None:
        world.transport.watches.append(Plan(garbled=True, cut_after=1))
        async with world.following() as picture:
            await world.writer.create(config("one"))
            await world.writer.create(config("two"))
            await asyncio.sleep(5)
        assert picture.words == ["list", "ADDED one", "ADDED ", "ADDED two"]
        assert picture.steps[2].unreadable

    run_story(story)


def test_a_burst_of_changes_lets_others_run(run_story):
    """A burst of changes is yielded in turns with other tasks."""

    async def story(world: World) -> None:
        one = await world.writer.create(config())
        steps = follow(world.client, ConfigMap, "default", EVERYTHING, environment(), print)
        turns: list[int] = []
        async with aclosing(steps):
            await anext(steps)
            for number in range(450):
                one = await world.change(one, a=str(number))
            step = await anext(steps)
            counting = asyncio.ensure_future(count(turns))
            while step.resource_version != one.metadata.resource_version:
                step = await anext(steps)
            counting.cancel()
        assert len(turns) >= 4

    run_story(story)


async def count(turns: list[int]) -> None:
    """Note each turn that one gets."""
    for turn in range(1000):
        turns.append(turn)
        await asyncio.sleep(0)


def test_a_closed_follower_leaves_no_watch_behind(run_story):
    """Closing the steps closes the stream."""

    async def story(world: World) -> None:
        before = world.plane.registry.watching
        async with world.following():
            assert world.plane.registry.watching == before + 1
        assert world.plane.registry.watching == before

    run_story(story)
