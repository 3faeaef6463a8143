"""All informers of a cluster: shared, and none stopped by another's trouble."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from kubekit.api import crd_generation
from kubekit.api.errors import Expired
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informers import Informers
from kubekit.runtime.watching.watched_part import WHOLE, labelled, only, within
from tests.support.compute import builders
from tests.support.kubekit.following_builders import Plan, config
from tests.support.kubekit.informer_builders import (
    HERE,
    InformerWorld,
    RecordingHandler,
    Story,
    run_in_world,
)
from tests.support.kubekit.plane_worlds import environment

DEFINITIONS = ResourceLocation(CustomResourceDefinition.RESOURCE)
GONE = Plan(refusal=Expired("too old resource version"))
INSTANCES = ResourceLocation(Instance.RESOURCE, "default")


@pytest.fixture
def run_story(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on a fresh plane with all our kinds."""
    return lambda story: run_in_world(tmp_path, story)


@pytest.fixture
def run_bare_story(tmp_path: Path) -> Callable[[Story], None]:
    """Run a story on a fresh plane with none of our kinds."""
    return lambda story: run_in_world(tmp_path, story, Kinds(builtins.core()))


def workload(name: str = "web") -> Workload:
    metadata = ObjectMeta(name=name, namespace="default")
    return Workload(metadata=metadata, spec=builders.workload(name).spec)


def instance(**parts: object) -> Document:
    """An Instance ``one`` that the schema takes; without a spec the class does not."""
    resource = Instance.RESOURCE
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return head | {"metadata": {"name": "one"}} | parts


SPEC = msgspec.to_builtins(builders.instance_spec())
DEFINITION = crd_generation.crd(Workload, lambda kind: {kind.__name__: ""})


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        (WHOLE, {"one", "two", "far", "new"}),
        (labelled("app"), {"two"}),
        (within("default"), {"one", "two", "new"}),
        (only("default", "new"), {"new"}),
        (only("default", "absent"), set()),
    ],
)
def test_an_informer_watches_the_part_that_is_needed(run_story, part, seen):
    """From the first list on, and of the changes after it."""

    async def story(world: InformerWorld) -> None:
        await world.writer.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
        await world.writer.create(config())
        await world.writer.create(with_metadata(config("two"), labels={"app": "web"}))
        await world.writer.create(with_metadata(config("far"), namespace="elsewhere"))
        async with world.informers({ConfigMap: part}) as informers:
            informer = informers.of(ConfigMap)
            await informers.wait_synced()
            await world.writer.create(config("new"))
            await asyncio.sleep(5)
            assert {name for _, name in informer.cache.keys()} == seen  # noqa: SIM118

    run_story(story)


def test_a_kind_has_one_informer(run_story):
    """All callers share it; it starts with the first call."""

    async def story(world: InformerWorld) -> None:
        async with world.informers() as informers:
            assert list(informers) == []
            first = informers.of(ConfigMap)
            assert informers.of(ConfigMap) is first
            second = informers.of(Secret)
            assert list(informers) == [first, second]
            assert informers.problems() == ["ConfigMap: not listed yet", "Secret: not listed yet"]
            await informers.wait_synced()
            assert informers.synced
            assert len(world.transport.listed) == 2

    run_story(story)


def test_informers_end_with_their_scope(run_story):
    """Nothing is watched any more, and no informer can start."""

    async def story(world: InformerWorld) -> None:
        before = world.plane.registry.watching
        scope = Scope("here")
        informers = Informers(HERE, world.client, environment(), scope)
        informers.of(ConfigMap)
        await asyncio.sleep(0.1)
        assert world.plane.registry.watching == before + 1
        await scope.close()
        assert world.plane.registry.watching == before
        with pytest.raises(RuntimeError):
            informers.of(Secret)
        assert [informer.kind for informer in informers] == [ConfigMap]

    run_story(story)


def test_trap_171_a_kind_that_is_not_served_stops_no_other(run_bare_story):
    """It is not waited for; once its definition comes, its objects come by themselves."""

    async def story(world: InformerWorld) -> None:
        await world.writer.create(config())
        async with world.informers() as informers:
            absent, present = informers.of(Workload), informers.of(ConfigMap)
            await informers.wait_synced()
            assert (absent.served, absent.synced, informers.synced) == (False, False, True)
            assert informers.problems() == []
            assert len(present.cache.list("default")) == 1
            assert "does not serve Workload" in absent.problem
            assert not absent.counters().served
            ear = RecordingHandler()
            absent.listen(ear)
            await world.writer.raw.create(DEFINITIONS, DEFINITION, PLAIN_WRITE)
            await world.plane.rest()
            await world.writer.create(workload())
            await absent.wait_synced()
            await asyncio.sleep(5)
            assert (absent.served, absent.problem, ear.signs) == (True, "", ["+web"])

    run_bare_story(story)


def test_trap_171_a_kind_that_goes_leaves_what_was_known(run_bare_story):
    """The response is reported as trouble, not as the removal of everything; the kind may return."""

    async def story(world: InformerWorld) -> None:
        await world.writer.raw.create(DEFINITIONS, DEFINITION, PLAIN_WRITE)
        await world.plane.rest()
        await world.writer.create(workload())
        async with world.informer(Workload) as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            await unserve(world, Workload.RESOURCE.crd_name)
            await asyncio.sleep(60)
            assert informer.served is False
            assert "does not serve" in informer.problem
            assert informer.cache.keys() == [("default", "web")]
            assert ear.signs == ["+web"]

    run_bare_story(story)


async def unserve(world: InformerWorld, name: str) -> None:
    """Have the only version of a kind no longer served; its objects stay."""
    place = ResourceLocation(CustomResourceDefinition.RESOURCE, "", name)
    document = await world.writer.raw.get(place)
    stored = document["spec"]["versions"][0]
    other = stored | {"name": "v9", "storage": False}
    document["spec"]["versions"] = [stored | {"served": False}, other]
    await world.writer.raw.update(place, document, PLAIN_WRITE)
    await world.plane.rest()


def test_an_object_that_cannot_be_read_is_named_and_left_out(run_story, caplog):
    """Once in the log, however often it comes; it is in the metrics until it is fixed or deleted."""

    async def story(world: InformerWorld) -> None:
        await world.writer.raw.create(INSTANCES, instance(), PLAIN_WRITE)
        async with world.informer(Instance) as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            one = ResourceLocation(Instance.RESOURCE, "default", "one")
            assert informer.synced
            assert informer.unreadable.keys() == {("default", "one")}
            assert informer.counters().unreadable == 1
            document = await world.writer.raw.get(one)
            document["metadata"]["labels"] = {"a": "b"}
            labelled = await world.writer.raw.update(one, document, PLAIN_WRITE)
            await asyncio.sleep(0.1)
            assert informer.cache.seen(labelled["metadata"]["resourceVersion"])
            await world.writer.raw.update(one, labelled | {"spec": SPEC}, PLAIN_WRITE)
            await asyncio.sleep(0.1)
            assert (informer.unreadable, ear.signs) == ({}, ["+one"])

    with caplog.at_level(logging.WARNING):
        run_story(story)
    assert [record.message for record in caplog.records] == ["object not readable"]


def test_what_was_known_of_an_object_stays_while_it_cannot_be_read(run_story):
    """To take it for gone would be to undo what was made for it."""

    async def story(world: InformerWorld) -> None:
        made = await world.writer.raw.create(INSTANCES, instance(spec=SPEC), PLAIN_WRITE)
        async with world.informer(Instance) as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            one = ResourceLocation(Instance.RESOURCE, "default", "one")
            without = {name: part for name, part in made.items() if name != "spec"}
            await world.writer.raw.update(one, without, PLAIN_WRITE)
            await asyncio.sleep(0.1)
            assert informer.unreadable
            world.transport.watches.append(GONE)
            await asyncio.sleep(700)
            assert informer.relists == 1
            assert (informer.cache.keys(), ear.signs) == ([("default", "one")], ["+one"])
            await world.writer.raw.delete(one, PLAIN_DELETE)
            await asyncio.sleep(0.1)
            assert (informer.unreadable, ear.signs) == ({}, ["+one", "-one"])

    run_story(story)


def test_an_object_that_went_is_gone_though_its_successor_cannot_be_read(run_story):
    """Another object of the same name is not what was known."""

    async def story(world: InformerWorld) -> None:
        await world.writer.raw.create(INSTANCES, instance(spec=SPEC), PLAIN_WRITE)
        world.transport.watches.extend([Plan(silent=True), GONE])
        async with world.informer(Instance) as informer:
            ear = RecordingHandler()
            informer.listen(ear)
            one = ResourceLocation(Instance.RESOURCE, "default", "one")
            await world.writer.raw.delete(one, PLAIN_DELETE)
            await world.writer.raw.create(INSTANCES, instance(), PLAIN_WRITE)
            await asyncio.sleep(660)
            assert ear.signs == ["+one", "-one"]
            world.transport.watches.append(Plan(silent=True))
            await asyncio.sleep(600)
            await world.writer.raw.delete(one, PLAIN_DELETE)
            await asyncio.sleep(600)
            world.transport.watches.append(GONE)
            await asyncio.sleep(700)
            assert informer.unreadable == {}

    run_story(story)
