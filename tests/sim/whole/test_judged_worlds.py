"""Worlds in which nothing goes wrong break no law, and end as they should."""

import asyncio

from compute.api.compute import Workload
from compute.api.resource_manager import Project
from tests.integration.worlds import PROJECT, with_image, with_replicas, workload
from tests.sim.whole.ending import differences, waiting
from tests.sim.whole.judged import JudgedWorld, judged

BAD = "registry.test/does-not-exist:1"


async def _rested(world: JudgedWorld) -> None:
    """Let the world come to rest, and find it as it should be."""
    await world.rest()
    assert differences(world.all_planes) == []


async def _removed(world: JudgedWorld, name: str = "web") -> None:
    await world.user.delete(await world.user.get(Workload, name, "default"))
    await world.gone(PROJECT, Workload, name, "default")


def test_the_life_of_a_workload():
    """To deploy, roll, scale and delete, up to the project itself, is lawful."""

    async def story(world: JudgedWorld) -> None:
        await world.deploy(workload(replicas=2))
        await _rested(world)
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")
        await world.change("web", with_replicas(3))
        await world.served("web")
        await _rested(world)
        await world.change("web", with_replicas(1))
        await world.served("web")
        await _rested(world)
        await _removed(world)
        await _rested(world)
        await world.client("core").delete(await world.client("core").get(Project, PROJECT))
        await world.gone("core", Project, PROJECT)
        await _rested(world)

    assert not judged(story).violation


def test_a_project_that_comes_again():
    """A project of a name that was there before starts again, and nothing is left of the first."""

    async def story(world: JudgedWorld) -> None:
        core = world.client("core")
        await world.deploy(workload(cities=("DFW",)))
        await core.delete(await core.get(Project, PROJECT))
        await world.gone("core", Project, PROJECT)
        await world.make_project()
        await world.deploy(workload(cities=("DFW",)))
        await _rested(world)

    assert not judged(story, ("DFW",)).violation


def test_machines_that_take_their_time():
    """Slow starts, slow stops and failed nodes are no violation."""

    async def story(world: JudgedWorld) -> None:
        await world.set_provider("dfw", startSeconds="3", stopSeconds="5", recoverySeconds="10")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web", 300.0)
        await world.set_provider("dfw", lostNodes="node-0,node-1")
        await asyncio.sleep(60.0)
        await world.set_provider("dfw")
        await world.served("web")
        await _rested(world)
        await _removed(world)
        await _rested(world)

    assert not judged(story, ("DFW",)).violation


def test_an_image_that_is_not_there():
    """A roll that cannot go on stops lawfully, and says why; so it may stay."""

    async def story(world: JudgedWorld) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.change("web", with_image(BAD))
        await _rested(world)
        await world.change("web", with_image("registry.test/web:3"))
        await world.served("web")
        await _rested(world)

    assert not judged(story, ("DFW",)).violation


def test_a_budget_that_does_not_suffice():
    """A claim that does not fit waits lawfully, and no claim that fits waits."""

    async def story(world: JudgedWorld) -> None:
        await world.limit(2)
        await world.user.create(workload(cities=("DFW",), replicas=3))
        await _rested(world)
        assert waiting(world.all_planes) is None
        await world.limit(3)
        await world.served("web", 400.0)
        await _rested(world)

    assert not judged(story, ("DFW",)).violation


def test_a_cell_that_is_cut_off_and_comes_back():
    """What is asked for meanwhile is done afterwards, and nothing stops before."""

    async def story(world: JudgedWorld) -> None:
        ref = next(ref for ref in world.world.links if ref.name == "dfw")
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        world.world.links[ref].cut()
        world.judge.cut("dfw")
        await world.change("web", with_image("registry.test/web:2"))
        await asyncio.sleep(300.0)
        world.world.links[ref].heal()
        world.judge.healed("dfw")
        await world.served("web", 300.0)
        await _rested(world)

    assert not judged(story, ("DFW", "LHR")).violation


def test_two_cells_of_one_city():
    """Each deployment is in one of them."""

    async def story(world: JudgedWorld) -> None:
        for name in ("web", "api"):
            await world.deploy(workload(name, ("SIN",), replicas=2))
        await _rested(world)
        await _removed(world)
        await _rested(world)

    assert not judged(story, ("SIN", "SIN")).violation
