"""The measures of bench/world.py, in a whole world on a virtual clock."""

from bench.load.world import orders, phases, status_delays
from bench.load.world.journal import Journal
from bench.load.world.passes import passes
from bench.load.world.phases import Measured
from compute.api.compute import Instance, Workload
from tests.integration.worlds import PROJECT, Watched, run_story

CITIES = ("DFW", "LHR")
HOPS = ["created", "granted", "programmed", "ready", "copied", "projected", "all"]


def measured(world: Watched, instances: int) -> Measured:
    journal = Journal()
    world.world.planes.join(journal)
    return Measured(
        journal=journal,
        passes=lambda: passes(world.world.metrics()),
        user=world.user,
        cells={name.lower(): world.planes[name.lower()] for name in CITIES},
        workloads=orders.workloads(instances, CITIES, "50%"),
        patience=300.0,
    )


def test_growing_is_measured_for_every_instance():
    """Each Instance passes each stage in order, and writes and reconciles are counted."""

    async def story(world: Watched) -> None:
        there = measured(world, 6)
        bout = await phases.grow(there)
        hops = there.journal.hops()
        assert list(hops) == list(bout.hops) == HOPS
        assert all(len(took) == 6 and min(took) >= 0 for took in hops.values())
        assert sum(map(sum, list(hops.values())[:-1])) == sum(hops["all"])
        assert bout.writes["project compute.datumapis.com/instances"] >= 6
        assert bout.passes["projector: success"] >= 6
        assert max(hops["all"]) / 1e9 <= bout.seconds <= bout.settled

    run_story(story, CITIES)


def test_a_restart_is_over_when_every_instance_is_another():
    """What was Ready before does not count: all are created again, and the Workload reports it."""

    async def story(world: Watched) -> None:
        there = measured(world, 4)
        await phases.grow(there)
        before = await identities(world)
        bout = await phases.restart(there)
        after = await identities(world)
        assert len(after) == 4
        assert not before & after
        hops = there.journal.hops()
        assert all(len(took) == 4 for took in hops.values())
        assert max(hops["all"]) / 1e9 <= bout.seconds

    run_story(story, CITIES)


def test_a_world_at_rest_writes_nothing():
    """Nothing but heartbeats is written while there are no requests."""

    async def story(world: Watched) -> None:
        there = measured(world, 2)
        await phases.grow(there)
        resting = await phases.rest(there, 5.0)
        assert not [what for what in resting.writes if "leases" not in what]

    run_story(story, CITIES)


def test_what_a_provider_says_is_shown_once_for_each():
    """Every status that was written arrives in the project, and the provider leaves it alone."""

    async def story(world: Watched) -> None:
        there = measured(world, 6)
        await phases.grow(there)
        before = there.journal.work
        said = await status_delays.statuses(world.planes[PROJECT], there.cells.values(), 10.0, 0.4)
        await phases.quiet(there.journal)
        assert said.count == 4
        assert 0 < said.p50 <= said.p99
        assert there.journal.work - before == 3 * said.count  # in the cell, hub and project

    run_story(story, CITIES)


def test_deletion_is_over_when_no_workload_is_left():
    """A deletion is measured until the last Workload is gone, with nothing left in the cells."""

    async def story(world: Watched) -> None:
        there = measured(world, 4)
        await phases.grow(there)
        bout = await phases.delete(there)
        assert bout.writes["cell compute.datumapis.com/instances"] >= 4
        assert not (await world.user.every(Workload)).items
        assert not await identities(world)

    run_story(story, CITIES)


async def identities(world: Watched) -> set[tuple[str, str]]:
    """Every Instance in a cell. A uid is unique in its plane alone."""
    cells = [world.client(city.lower()) for city in CITIES]
    found = [each for cell in cells for each in (await cell.every(Instance)).items]
    return {(each.metadata.name, each.metadata.uid) for each in found}
