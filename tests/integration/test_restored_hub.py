"""A hub that is put back to an older copy, or lost: nothing in the cities stops, and all comes right.

What projects say is what holds. The hub is only the way from them to the cells: whatever it has
forgotten it is sent again, and what it remembers though it is gone is removed from it.
"""

import asyncio

import pytest

from compute.api.compute import Workload
from compute.api.karmada import MemberCluster
from compute.app.planes import HUB, PlaneRef
from tests.integration.apart import running_apart
from tests.integration.restores import (
    Copies,
    InstanceRecorder,
    Replaceable,
    WorldWithoutManagement,
    machines,
)
from tests.integration.worlds import PROJECT, Planes, Watched, with_image, with_replicas, workload
from tests.support.compute.end_states import State, compared, differences
from tests.support.generated import depth
from tests.support.kubekit.virtual_time import run

pytestmark = pytest.mark.slow
CITIES = ("DFW", "LHR")
CELLS = ("dfw", "lhr")
PATIENCE = (
    1800.0  # seconds, after which even a controller that waits for its own write has reconciled
)
FINAL = {"stays": (1, 1), "grows": (4, 1), "shrinks": (1, 1), "rolls": (1, 4), "comes": (1, 1)}


async def start(world: Watched) -> None:
    """What is there when the copy is made."""
    await world.limit(50)
    for name in ("stays", "grows", "rolls", "goes"):
        await world.deploy(workload(name, cities=CITIES))
    await world.deploy(workload("shrinks", cities=CITIES, replicas=4))
    await world.rest()


async def go_on(world: Watched, rounds: int = 3) -> None:
    """What users do afterwards: the more they do, the further the copy is behind."""
    for number in range(rounds):
        await world.change("grows", with_replicas(FINAL["grows"][0] - rounds + number + 1))
        await world.change("shrinks", with_replicas(rounds - number))
        await world.change("rolls", with_image(f"registry.test/web:{4 - rounds + number + 1}"))
        await world.rest()
    await leave(world)
    await world.deploy(workload("comes", cities=CITIES))
    await world.rest()


async def leave(world: Watched) -> None:
    """A user deletes a Workload, unless that is done already."""
    leaving = await world.user.find(Workload, "goes", "default")
    if leaving is not None:
        await world.user.delete(leaving)
        await world.gone(PROJECT, Workload, "goes", "default", seconds=300.0)


def final(name: str) -> Workload:
    """A Workload as its user wants it in the end."""
    replicas, image = FINAL[name]
    made = workload(name, cities=CITIES, replicas=replicas)
    return with_image(f"registry.test/web:{image}")(made)


async def fresh() -> State:
    """What all planes are like where the Workloads were simply created."""
    async with running_apart(CITIES) as world:
        await world.limit(50)
        for name in FINAL:
            await world.deploy(final(name))
        await world.rest()
        return compared(world)


async def register(world: Watched) -> None:
    """Tell the hub of its cells, if it does not know them: a world does so when it starts."""
    for site in world.world.sites:
        if await world.client("hub").find(MemberCluster, site.cell) is None:
            await world.client("hub").create(site.cluster)


async def everything_is_obeyed(world: Watched) -> None:
    """Nothing is stuck: whatever users ask for from now on is done."""
    for name in FINAL:
        await world.change(name, with_image("registry.test/web:9"))
        await world.change(name, with_replicas(2))
    for name in FINAL:
        await world.served(name, seconds=300.0)


@pytest.mark.parametrize("rounds", depth.either([3], [1, 3]))
@pytest.mark.parametrize("kept", [True, False], ids=["an older copy", "nothing"])
def test_a_restored_hub_stops_nothing_and_comes_to_what_projects_say(tmp_path, kept, rounds):
    """No Instance of a Workload comes or goes in a cell, and every plane is as it should be.

    What was deleted since the copy may run again for a moment, until it is removed.
    """

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path)
        async with running_apart(CITIES, planes) as world:
            await start(world)
            if kept:
                copies.keep()
            await go_on(world, rounds)
            before = await machines(world, CELLS)
        copies.restore()
        async with running_apart(CITIES, planes) as world:
            watchman = InstanceRecorder(world, CELLS)
            await world.rest()
            assert [each for each in watchman.seen if " goes-" not in each] == []
            assert await machines(world, CELLS) == before
            for name in FINAL:
                await world.served(name, seconds=0.0)
            assert differences(compared(world), await fresh()) == []
            await everything_is_obeyed(world)

    run(tell())


def test_what_users_change_while_the_hub_is_away_is_done_when_it_is_restored(tmp_path):
    """A hub whose generations start again is applied, though cells have seen higher ones."""

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path)
        async with running_apart(CITIES, planes) as world:
            await start(world)
            copies.keep()
            await go_on(world)
            world.world.links[HUB].cut()
            await world.change("rolls", with_image("registry.test/web:5"))
            await world.change("stays", with_replicas(2))
            await world.change("shrinks", with_replicas(2))
        copies.restore()
        async with running_apart(CITIES, planes) as world:
            for name in FINAL:
                await world.served(name, seconds=600.0)
            await everything_is_obeyed(world)

    run(tell())


def test_an_older_hub_is_not_believed_before_its_management_is_there(tmp_path):
    """Cells keep what they have while no controller can send the hub what projects say now."""

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path)
        async with running_apart(CITIES, planes) as world:
            await start(world)
            copies.keep()
            await go_on(world)
            before = await machines(world, CELLS)
        copies.restore()
        async with running_apart(CITIES, planes, WorldWithoutManagement) as world:
            await asyncio.sleep(60)
            during = await machines(world, CELLS)
            assert {name: during.get(name) for name in before} == before
            assert isinstance(world.world, WorldWithoutManagement)
            await world.world.lead()
            await world.rest()
            assert await machines(world, CELLS) == before
            assert differences(compared(world), await fresh()) == []

    run(tell())


@pytest.mark.parametrize("kept", [True, False], ids=["an older copy", "nothing"])
def test_a_restored_hub_finds_what_runs_in_either_cell_of_a_city(tmp_path, kept):
    """What it does not remember having sent stays where it is, and nothing runs twice."""
    cells = ("dfw", "dfw-2")

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path)
        async with running_apart(("DFW", "DFW"), planes) as world:
            if kept:
                copies.keep()
            for name in "abcdef":
                await world.deploy(workload(name, cities=("DFW",)))
            for name in "ac":
                await world.user.delete(await world.user.get(Workload, name, "default"))
            await world.rest()
            before = await machines(world, cells)
        copies.restore()
        async with running_apart(("DFW", "DFW"), planes) as world:
            watchman = InstanceRecorder(world, cells)
            await world.rest()
            assert watchman.seen == []
            assert await machines(world, cells) == before
            for name in "bdef":
                await world.served(name, seconds=0.0)

    run(tell())


@pytest.mark.parametrize("kept", [True, False], ids=["an older copy", "nothing"])
def test_a_hub_that_is_put_back_while_controllers_run(tmp_path, kept):
    """Versions that go back under a watch delay no client indefinitely, and stop nothing.

    A client that waits to observe its own last write waits for twenty minutes, unless it restarts.
    """

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path)
        async with running_apart(CITIES, planes, Replaceable) as world:
            await start(world)
            if kept:
                copies.keep()
            await go_on(world)
            before, watchman = await machines(world, CELLS), InstanceRecorder(world, CELLS)
            await world.world.planes.remove(HUB)
            copies.restore()
            await asyncio.sleep(5)
            await world.world.planes.open(HUB)
            await register(world)
            await asyncio.sleep(PATIENCE)
            await world.rest()
            assert [each for each in watchman.seen if " goes-" not in each] == []
            assert await machines(world, CELLS) == before
            assert differences(compared(world), await fresh()) == []
            await everything_is_obeyed(world)

    run(tell())


@pytest.mark.parametrize("kept", [True, False], ids=["an older copy", "nothing"])
def test_a_restored_cell_comes_to_what_projects_say(tmp_path, kept):
    """What it lost is made again, what it should not have any more goes, and other cities do not notice."""

    async def tell() -> None:
        planes, copies = Planes(tmp_path), Copies(tmp_path, PlaneRef("cell", "dfw"))
        async with running_apart(CITIES, planes) as world:
            await start(world)
            await leave(world)  # a cell cannot know of what was deleted since its copy was made
            await world.rest()
            if kept:
                copies.keep()
            await go_on(world)
            before = await machines(world, ["lhr"])
        copies.restore()
        async with running_apart(CITIES, planes) as world:
            watchman = InstanceRecorder(world, ["lhr"])
            await world.rest()
            for name in FINAL:
                await world.served(name, seconds=600.0)
            await world.rest()
            assert watchman.seen == []
            assert await machines(world, ["lhr"]) == before
            assert differences(compared(world), await fresh()) == []
            await everything_is_obeyed(world)

    run(tell())
