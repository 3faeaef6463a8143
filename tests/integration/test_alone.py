"""A day on its own: what runs in a cell goes on, and its return writes what differs and no more."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest

from compute.api.compute import Workload
from compute.app.planes import CORE, HUB, PlaneRef
from kubekit.client.transport import Document
from tests.integration.test_cells import cut
from tests.integration.test_rollouts import restarted
from tests.integration.test_traps import SHOP, nothing_else_is_left
from tests.integration.worlds import (
    PROJECT,
    Watched,
    run_story,
    with_image,
    with_replicas,
    workload,
)
from tests.support.generated import depth
from tests.support.kubekit.stage import Write

HOUR = 3600.0
DAY = depth.either(3, 24) * HOUR  # a short one in a quick run
CELLS = ("dfw", "lhr")
COMPUTE = "compute.datumapis.com"
EVENTS = "/events"


def documents(world: Watched, *planes: str) -> dict[Write, Document]:
    """What is in planes, leases aside, without what a write alone would change."""
    found = {}
    for plane in planes or tuple(world.planes):
        for kind in world.planes[plane].kinds.stored():
            for record in world.planes[plane].store.collection(kind).range():
                document = msgspec.json.decode(record.data)
                document["metadata"] |= {"resourceVersion": "", "managedFields": []}
                found[plane, kind, record.key] = document
    return {name: each for name, each in found.items() if not name[1].endswith("/leases")}


def changed(before: dict[Write, Document], after: dict[Write, Document]) -> set[Write]:
    """What came, went, or is not what it was."""
    names = before.keys() | after.keys()
    return {name for name in names if before.get(name) != after.get(name)}


def written(world: Watched, since: int) -> Counter[Write]:
    """How often each object was written since then, leases aside."""
    return Counter(each for each in world.writes[since:] if not each[1].endswith("/leases"))


def split(writes: Counter[Write]) -> tuple[Counter[Write], Counter[str]]:
    """The writes of other objects than events, and the number of events about each object."""
    events = Counter(name.rpartition(".")[0] for _, kind, name in writes if kind == EVENTS)
    return Counter({each: n for each, n in writes.items() if each[1] != EVENTS}), events


async def heal(world: Watched, cell: str) -> Counter[Write]:
    """Bring a cell back, and count the writes this causes, the command itself excluded."""
    since = len(world.writes)
    await cut(world, cell, "false")
    await world.rest()
    await world.quiet(HOUR)
    return written(world, since) - Counter([("hub", "cluster.karmada.io/clusters", cell)])


async def change_elsewhere(world: Watched) -> None:
    """Users go on: one Workload rolls, one grows, one comes and one goes, in other cities."""
    await world.change("rolls", with_image("registry.test/web:2"))
    await world.change("grows", with_replicas(3))
    await world.user.create(workload("comes", cities=("SIN",)))
    await world.user.delete(await world.user.get(Workload, "goes", "default"))
    await world.gone(PROJECT, Workload, "goes", "default", seconds=300.0)
    for name in ("rolls", "grows", "comes"):
        await world.served(name)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cell_that_is_cut_off_for_a_day_is_undisturbed_and_returns_quietly():
    """Nothing in it is written, whatever happens elsewhere; then the project withdraws it."""

    async def story(world: Watched) -> None:
        await world.limit(20)
        await world.deploy(workload("stays", cities=("LHR",), replicas=2))
        await world.deploy(workload("both", cities=("DFW", "LHR")))
        for name in ("rolls", "grows", "goes"):
            await world.deploy(workload(name, cities=("DFW",)))
        await world.rest()
        before = documents(world, "lhr")
        await cut(world, "lhr")
        await world.rest()
        since = len(world.writes)
        await change_elsewhere(world)
        await asyncio.sleep(DAY)
        assert [each for each in written(world, since) if each[0] == "lhr"] == []
        assert documents(world, "lhr") == before
        writes, events = split(await heal(world, "lhr"))
        assert writes == {
            ("hub", "cluster.karmada.io/clusters", "lhr"): 1,
            (PROJECT, "networking.datumapis.com/locationbindings", "lhr"): 1,
            (PROJECT, f"{COMPUTE}/workloaddeployments", "default/stays-home-lhr"): 1,
            (PROJECT, f"{COMPUTE}/workloaddeployments", "default/both-home-lhr"): 1,
            (PROJECT, f"{COMPUTE}/workloads", "default/stays"): 1,
            (PROJECT, f"{COMPUTE}/workloads", "default/both"): 1,
        }
        back = ("stays", "both", "stays-home-lhr", "both-home-lhr")  # each has the event once
        assert events == Counter(f"default/{name}" for name in back)
        assert documents(world, "lhr") == before
        for name in ("stays", "both"):
            await world.served(name)

    run_story(story)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "unreachable",
    [(HUB,), (SHOP,), (HUB, SHOP, CORE)],
    ids=["the hub", "the project", "all of them"],
)
def test_cells_without_the_rest_of_the_world_for_a_day_are_undisturbed(
    unreachable: Sequence[PlaneRef],
):
    """No Instance is restarted, replaced or removed, and nothing is left to write afterwards."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        await world.rest()
        before, since = documents(world), len(world.writes)
        for home in unreachable:
            world.world.links[home].cut()
        await asyncio.sleep(DAY)
        assert [each for each in written(world, since) if each[0] in CELLS] == []
        for home in unreachable:
            world.world.links[home].heal()
        await world.rest()
        assert await world.quiet(HOUR) == []
        assert changed(before, documents(world)) == set()
        await world.served("web")

    run_story(story, cities=("DFW", "LHR"))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_what_changed_in_a_day_only_the_differences_are_written():
    """Once a cell is back, only what differs by then is written; unchanged objects are left alone."""

    async def story(world: Watched) -> None:
        await world.limit(20)
        for name in ("calm", "rolls", "grows", "goes", "heals"):
            await world.deploy(workload(name, cities=("LHR",), replicas=2))
        await cut(world, "lhr")
        await world.rest()
        await world.change("rolls", restarted)
        await world.change("grows", with_replicas(3))
        await world.user.delete(await world.user.get(Workload, "goes", "default"))
        await asyncio.sleep(DAY / 2)
        await world.set_provider("lhr", lostNodes="*/heals-home-lhr-1", recoverySeconds="60")
        await asyncio.sleep(HOUR)
        await world.set_provider("lhr")
        await asyncio.sleep(DAY / 2)
        before = documents(world)
        writes = await heal(world, "lhr")
        others, events = split(writes)
        assert {name for name in others if "calm" in name[2]} == {
            (PROJECT, f"{COMPUTE}/workloaddeployments", "default/calm-home-lhr"),
            (PROJECT, f"{COMPUTE}/workloads", "default/calm"),
        }
        assert (events["default/calm"], events["default/calm-home-lhr"]) == (1, 1)
        assert set(writes) == changed(before, documents(world))
        for name in ("calm", "rolls", "grows", "heals"):
            await world.served(name)
        kept = [f"{name}-home-lhr-{n}" for name in ("calm", "rolls", "heals") for n in (0, 1)]
        await nothing_else_is_left(world, *kept, *(f"grows-home-lhr-{n}" for n in range(3)))

    run_story(story)


def test_a_cell_that_is_back_before_anybody_noticed_writes_nothing():
    """A short silence leaves no trace, in any plane."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=2))
        await world.rest()
        before = documents(world)
        await cut(world, "lhr")
        await asyncio.sleep(20)
        assert await heal(world, "lhr") == {}
        order = ("hub", "cluster.karmada.io/clusters", "lhr")  # it says "false" from now on
        assert changed(before, documents(world)) == {order}

    run_story(story)
