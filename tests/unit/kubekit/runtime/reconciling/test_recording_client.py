"""The client of reconcilers: writes are made in the name of a pass, and noted."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from msgspec.structs import replace

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_DELETE,
    PLAIN_WATCH,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.reconciling.passes import (
    Leadership,
    NotLeading,
    Pass,
    PassOver,
    WriteContext,
    current,
)
from kubekit.runtime.reconciling.write_conflicts import (
    WriteConflictBreaker,
    WriteConflictLoop,
    WriteConflictSettings,
)
from kubekit.runtime.reporting.counters import ControllerCounters
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.scope import Scope
from tests.support.kubekit.question_builders import echo, virtual
from tests.support.kubekit.runtime_builders import (
    A,
    LaggingClient,
    Reconciling,
    RuntimeWorld,
    annotated,
    config,
    run_story,
    term,
    world,
)
from tests.support.kubekit.virtual_time import run

HOME = ResourceLocation(ConfigMap.RESOURCE, "default")
ONE = ResourceLocation(ConfigMap.RESOURCE, "default", "one")
DRY = WriteOptions(dry_run=True)
Write = Callable[[Client, ConfigMap], Awaitable[object]]


def document(name: str, **data: str) -> Document:
    made: Document = msgspec.to_builtins(config(name, data))
    return made


WRITES: dict[str, Write] = {
    "create": lambda client, _: client.create(config("new")),
    "raw create": lambda client, _: client.raw.create(HOME, document("new"), PLAIN_WRITE),
    "raw create with a generated name": lambda client, _: client.raw.create(
        HOME, {**document(""), "metadata": {"generateName": "new-"}}, PLAIN_WRITE
    ),
    "patch": lambda client, one: client.patch(one, annotated(one, a="1")),
    "raw patch": lambda client, _: client.raw.patch(
        ONE, PatchType.JSON, [{"op": "add", "path": "/data", "value": {"c": "3"}}], PLAIN_WRITE
    ),
    "apply": lambda client, _: client.apply(document("one", b="2"), "applier"),
    "update": lambda client, _: client.raw.update(ONE, document("one", b="2"), PLAIN_WRITE),
    "delete": lambda client, one: client.delete(one),
    "raw delete": lambda client, _: client.raw.delete(ONE, PLAIN_DELETE),
    "delete all": lambda client, _: client.raw.delete_collection(HOME, ListOptions(), PLAIN_DELETE),
}
TRIES: dict[str, Write] = {
    "create": lambda client, _: client.create(config("new"), DRY),
    "raw create": lambda client, _: client.raw.create(HOME, document("new"), DRY),
    "patch": lambda client, one: client.patch(one, annotated(one, a="1"), DRY),
    "update": lambda client, _: client.raw.update(ONE, document("one", b="2"), DRY),
    "delete": lambda client, one: client.delete(one, DeleteOptions(dry_run=True)),
    "delete all": lambda client, _: client.raw.delete_collection(
        HOME, ListOptions(), DeleteOptions(dry_run=True)
    ),
}


HOLD = "example.com/held"


def begin(clusters: Clusters, reign: Leadership | None = None, limit: int = 30) -> Pass:
    """Be in a pass from here on, of a controller that follows the ConfigMaps of cluster ``a``."""
    cluster = clusters.get(A)
    cluster.informers.of(ConfigMap)
    freshness = Freshness()
    freshness.follow(cluster.client.raw, cluster.informers)
    write_conflicts = WriteConflictBreaker("minder", WriteConflictSettings(limit=limit))
    context = WriteContext("minder", write_conflicts, freshness, ControllerCounters())
    made = Pass(context, Request(A, "default", "one"), 1, reign)
    current.set(made)
    return made


async def come_and_go(client: Client, times: int) -> None:
    for _ in range(times):
        await client.delete(await client.create(config("one")))


def behind(made: Pass) -> float:
    return made.context.freshness.behind(made.request, asyncio.get_running_loop().time())


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_every_write_is_counted_and_waited_for(tmp_path, write):
    """Whatever the verb and the door, the next pass waits until the cache has seen it."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one", a="1")
        lagging = LaggingClient(world.planes[A])
        await world.projects.engage(A, lagging)
        made = begin(world.projects)
        await asyncio.sleep(1)
        client = world.writer()
        await write(client, await client.get(ConfigMap, "one", "default"))
        assert made.writes == 1
        await asyncio.sleep(600)
        assert behind(made) > 0
        lagging.flows.set()
        await asyncio.sleep(1)
        assert behind(made) == 0

    run_story(tmp_path, story)


@pytest.mark.parametrize("write", TRIES.values(), ids=TRIES.keys())
def test_a_dry_run_is_no_write(tmp_path, write):
    """Nothing is counted, nothing waited for, and it may be asked by who does not lead."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one", a="1")
        made = begin(world.projects, term(seconds=0))
        await asyncio.sleep(1)
        client = world.writer()
        await write(client, await client.get(ConfigMap, "one", "default"))
        assert (made.writes, behind(made)) == (0, 0)

    run_story(tmp_path, story)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_no_write_happens_without_the_lead(tmp_path, write):
    """Once the term is over each verb is refused, before anything is sent."""

    async def story(world: RuntimeWorld) -> None:
        one = await world.write("one", a="1")
        made = begin(world.projects, term(seconds=0))
        with pytest.raises(NotLeading, match="term 1 is over"):
            await write(world.writer(), one)
        everything = await world.client().list(ConfigMap, "default")
        assert [c.metadata.name for c in everything.items] == ["one"]
        assert everything.items[0] == one
        assert made.writes == 0

    run_story(tmp_path, story)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_outside_of_a_pass_nothing_is_checked(tmp_path, write):
    """A webhook or a provider writes through the same client, outside of any pass."""

    async def story(world: RuntimeWorld) -> None:
        one = await world.write("one", a="1")
        await write(world.writer(), one)

    run_story(tmp_path, story)


def test_reads_pass_through(tmp_path):
    """What is read is what the cluster has, through both doors."""

    async def story(world: RuntimeWorld) -> None:
        one = await world.write("one", a="1")
        begin(world.projects, term(seconds=0))
        client = world.writer()
        assert await client.get(ConfigMap, "one", "default") == one
        assert await client.find(ConfigMap, "none", "default") is None
        assert (await client.list(ConfigMap, "default")).items == (one,)
        assert (await client.every(ConfigMap, "default")).items == (one,)
        assert (await client.raw.get(ONE))["data"] == {"a": "1"}
        assert len((await client.raw.list(HOME, EVERYTHING))["items"]) == 1
        since = WatchOptions(resource_version="0")
        async with client.watch(ConfigMap, "default", since) as seen:
            assert (await anext(seen)).object == one
        async with client.raw.watch(HOME, PLAIN_WATCH) as events:
            assert (await anext(events)).object["metadata"]["name"] == "one"

    run_story(tmp_path, story)


def test_a_question_is_no_write(tmp_path):
    """A review is asked with a create and leaves nothing behind."""
    riddle = virtual("Riddle")

    async def story() -> None:
        async with world(tmp_path, [A], Kinds((*builtins.core(), riddle))) as there:
            await there.engage(A)
            there.planes[A].registry.virtual_handlers[riddle.storage, ""] = echo
            made = begin(there.projects)
            await there.writer().raw.create(
                ResourceLocation(riddle.resource), {"spec": {}}, PLAIN_WRITE
            )
            assert made.writes == 0

    run(story())


def test_a_write_carries_the_name_of_the_controller(tmp_path):
    """Fields are owned by who wrote them; a name that was given is kept."""

    async def story(world: RuntimeWorld) -> None:
        begin(world.projects)
        one = await world.writer().create(config("one", {"a": "1"}))
        named = replace(PLAIN_WRITE, field_manager="other")
        two = await world.writer().patch(one, annotated(one, a="1"), named)
        three = await world.writer().patch(
            two, annotated(two, b="1"), WriteOptions(field_validation="Strict")
        )
        managers = [entry.manager for entry in three.metadata.managed_fields]
        assert sorted(managers) == ["minder", "other"]

    run_story(tmp_path, story)


def test_trap_1_1_8_a_patch_merges_maps(tmp_path):
    """A key that another controller wrote since the object was read is still there."""

    async def story(world: RuntimeWorld) -> None:
        read = await world.write("one", a="1")
        theirs = world.client(manager="referenced-data")
        latest = await theirs.patch(read, annotated(read, theirs="kept"))
        begin(world.projects)
        view = with_metadata(read, resource_version=latest.metadata.resource_version)
        written = await world.writer().patch(view, annotated(view, ours="1"))
        assert written.metadata.annotations == {"theirs": "kept", "ours": "1"}

    run_story(tmp_path, story)


def test_a_task_begun_in_a_pass_writes_in_its_name(tmp_path):
    """What a reconciler spreads over several tasks is one pass all the same."""

    async def story(world: RuntimeWorld) -> None:
        made = begin(world.projects)
        scope = Scope("tasks")
        tasks = [
            scope.spawn(world.writer().create(config(f"c{number}")), f"{number}")
            for number in range(3)
        ]
        for task in tasks:
            await task
        assert made.writes == 3

    run_story(tmp_path, story)


def test_no_write_happens_once_the_pass_is_over(tmp_path):
    """A task that outlives its pass gets an error."""

    async def story(world: RuntimeWorld) -> None:
        begin(world.projects).finished = True
        with pytest.raises(PassOver, match="a/default/one by minder is over"):
            await world.writer().create(config("late"))

    run_story(tmp_path, story)


def test_making_and_removing_the_same_object_is_a_fight_too(tmp_path):
    """Repeated creates and deletes of one name are reported as such, without another writer."""

    async def story(world: RuntimeWorld) -> None:
        made = begin(world.projects, limit=6)
        with pytest.raises(WriteConflictLoop) as raised:
            await come_and_go(world.writer(), 20)
        assert "its creation (16 times), its deletion (15 times)" in str(raised.value)
        assert made.context.counters.write_conflicts == 1

    run_story(tmp_path, story)


def test_what_is_held_by_a_finalizer_is_waited_for_as_a_change(tmp_path):
    """A delete that leaves the object there, being deleted, must be seen like any other write."""

    async def story(world: RuntimeWorld) -> None:
        held = config("one")
        metadata = msgspec.structs.replace(held.metadata, finalizers=(HOLD,))
        one = await world.client().create(msgspec.structs.replace(held, metadata=metadata))
        made = begin(world.projects)
        await asyncio.sleep(1)
        await world.writer().delete(one)
        assert behind(made) > 0
        await asyncio.sleep(1)
        assert behind(made) == 0
        await world.writer().raw.delete_collection(HOME, ListOptions(), PLAIN_DELETE)
        await asyncio.sleep(1)
        assert behind(made) == 0

    run_story(tmp_path, story)


def test_what_goes_with_its_last_finalizer_is_waited_for_to_go(tmp_path):
    """The answer to such a write has the version from before: only the cache tells that it went."""

    async def story(world: RuntimeWorld) -> None:
        held = await commit.add_finalizer(
            world.client(), await world.client().create(config("one")), HOLD
        )
        await world.client().delete(held)
        made = begin(world.projects)
        await asyncio.sleep(1)
        leaving = await world.client().get(ConfigMap, "one", "default")
        await commit.remove_finalizer(world.writer(), leaving, HOLD)
        assert behind(made) > 0
        await asyncio.sleep(1)
        assert behind(made) == 0

    run_story(tmp_path, story)


def test_at_rest_nothing_is_written(tmp_path):
    """A controller whose object is as it should be makes passes, and no write."""

    async def story(world: RuntimeWorld) -> None:
        async def reconcile(request: Request) -> Result:
            obj = await world.writer().find(ConfigMap, request.name, request.namespace)
            if obj is not None:
                await world.writer().patch(obj, annotated(obj, seen="yes"))
            return DONE

        reconciler = Reconciling(reconcile)
        controller = world.controller(reconciler)
        world.start(controller)
        await world.write("one", a="1")
        await asyncio.sleep(1)
        before = await world.client().get(ConfigMap, "one", "default")
        await asyncio.sleep(900)
        assert await world.client().get(ConfigMap, "one", "default") == before
        assert reconciler.names.count("one") == 2

    run_story(tmp_path, story)
