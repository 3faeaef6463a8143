"""Stories in which planted mistakes show at once: of one Workload, in a small world as it is shipped.

Worlds drawn from seeds find them too, but later, and the seed that is quick today is not tomorrow.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.app.planes import PlaneRef
from tests.integration.worlds import PROJECT, with_image, with_replicas, workload
from tests.sim.replay import logs_in
from tests.sim.trace import Trace
from tests.sim.whole.ending import differences
from tests.sim.whole.judged import JudgedWorld, Story, judged

CITY: Final = ("DFW",)
CELL: Final = PlaneRef("cell", "dfw")
SLOW: Final = {"startSeconds": "2", "stopSeconds": "2"}


async def a_life(world: JudgedWorld) -> None:
    """Instances that start and stop slowly are rolled, scaled down, and deleted."""
    await world.set_provider("dfw", **SLOW)
    await world.deploy(workload(cities=CITY, replicas=3))
    await _rested(world)
    await world.change("web", with_image("registry.test/web:2"))
    await world.served("web")
    await world.change("web", with_replicas(2))
    await world.served("web")
    await _rested(world)
    await _removed(world, "web")
    await _rested(world)


async def a_small_budget(world: JudgedWorld) -> None:
    """There is quota for two Instances, which run, and a third is asked for."""
    await world.limit(2)
    await world.deploy(workload("web", CITY, replicas=2))
    await _rested(world)
    await world.user.create(workload("api", CITY))
    await _rested(world)


async def a_pause(world: JudgedWorld) -> None:
    """A rollout is paused while its first Instance is replaced."""
    await world.set_provider("dfw", **SLOW)
    await world.deploy(workload(cities=CITY, replicas=2))
    await world.change("web", with_image("registry.test/web:2"))
    await asyncio.sleep(1.0)
    await world.change("web", _paused)
    await _rested(world)


async def a_parallel_roll(world: JudgedWorld) -> None:
    """All of the Instances may start at once, and one at a time may be replaced."""
    await world.set_provider("dfw", **SLOW)
    await world.deploy(workload(cities=CITY, replicas=4, instance_management_policy="Parallel"))
    await world.change("web", with_image("registry.test/web:2"))
    await world.served("web")


async def two_in_a_city(world: JudgedWorld) -> None:
    """One of two Workloads of a city is deleted."""
    await world.deploy(workload("web", CITY))
    await world.deploy(workload("api", CITY))
    await _rested(world)
    await _removed(world, "api")
    await _rested(world)


async def two_projects(world: JudgedWorld) -> None:
    """A second project has a namespace of the same name."""
    await world.deploy(workload(cities=CITY))
    await world.make_project("bazaar")
    await world.client("bazaar").create(workload(cities=CITY))
    await _rested(world)


async def changes_of_a_cut_cell(world: JudgedWorld) -> None:
    """Two changes are made while the cell is cut off, and a node is lost there."""
    await world.deploy(workload(cities=CITY, replicas=2))
    await _rested(world)
    _cut(world)
    for image in ("registry.test/web:2", "registry.test/web:3"):
        await world.change("web", with_image(image))
        await asyncio.sleep(20.0)
    await world.set_provider("dfw", lostNodes="node-0,node-1")
    await asyncio.sleep(60.0)
    await world.set_provider("dfw")
    _healed(world)
    await world.served("web", 300.0)
    await _rested(world)


async def a_move_in_a_cut_cell(world: JudgedWorld) -> None:
    """An Instance is started again, on another node, while its cell is cut off."""
    await world.deploy(workload(cities=CITY))
    await _rested(world)
    _cut(world)
    await world.set_provider("dfw", lostNodes="node-0,node-1", recoverySeconds="5")
    await asyncio.sleep(60.0)
    _healed(world)
    await _rested(world)


ALL: Final[Sequence[Story]] = (
    a_life,
    a_small_budget,
    a_pause,
    two_in_a_city,
    two_projects,
    a_parallel_roll,
    changes_of_a_cut_cell,
    a_move_in_a_cut_cell,
)


def verdict(story: Story) -> str:
    """What the judge says of a world in which the story happens; empty when nothing is wrong."""

    async def to_its_end(world: JudgedWorld) -> None:
        try:
            await story(world)
        except AssertionError:  # it waits in vain: what it waits for is not as it should be
            _look(world)
            if not world.judge.violation:
                raise

    with logs_in(Trace()):
        return judged(to_its_end, CITY).violation


def _paused(present: Workload) -> Workload:
    notes = present.metadata.annotations | {annotations.PAUSED: "true"}
    return replace(present, metadata=replace(present.metadata, annotations=notes))


async def _removed(world: JudgedWorld, name: str) -> None:
    await world.user.delete(await world.user.get(Workload, name, "default"))
    await world.gone(PROJECT, Workload, name, "default")


async def _rested(world: JudgedWorld) -> None:
    """Let the world come to rest, and let the judge check it."""
    await world.rest()
    _look(world)


def _look(world: JudgedWorld) -> None:
    if wrong := differences(world.all_planes):
        world.judge.accuse(f"in the end: {'; '.join(wrong[:5])}")


def _cut(world: JudgedWorld) -> None:
    world.world.links[CELL].cut()
    world.judge.cut(CELL.name)


def _healed(world: JudgedWorld) -> None:
    world.world.links[CELL].heal()
    world.judge.healed(CELL.name)
