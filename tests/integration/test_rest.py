"""At rest nothing is written but leases; and on the way there, not much."""

import pytest

from tests.integration.worlds import PROJECT, Watched, run_story, workload
from tests.support.generated import depth

CITIES = ("DFW", "LHR")
WORKLOADS = 4
MANY = depth.either(400, 1000)
INSTANCES = "compute.datumapis.com/instances"


async def fill(world: Watched, instances: int) -> float:
    """Have so many Instances run; the writes for each of them, over all planes."""
    await world.limit(2 * instances)
    await world.rest()
    before = len(world.writes)
    for number in range(WORKLOADS):
        replicas = instances // len(CITIES) // WORKLOADS
        wide = workload(
            f"w{number}", cities=CITIES, replicas=replicas, instance_management_policy="Parallel"
        )
        await world.user.create(wide)
    for number in range(WORKLOADS):
        await world.served(f"w{number}", seconds=600.0)
    await world.rest()
    written = [each for each in world.writes[before:] if not each[1].endswith("/leases")]
    return len(written) / instances


@pytest.mark.slow
def test_a_world_with_many_instances_writes_nothing_for_a_quarter_of_an_hour():
    """Neither does any pass repeat itself: the writes of fifteen minutes are leases alone."""

    async def story(world: Watched) -> None:
        assert await fill(world, MANY) <= 14
        assert len(await world.instances(PROJECT)) == MANY
        assert await world.quiet(900.0) == []

    run_story(story, CITIES)


@pytest.mark.parametrize("start", ["0", "15"], ids=["at once", "after a while"])
def test_of_the_words_of_an_instance_only_those_that_last_leave_its_cell(start):
    """Its copy and its projection are made once, and written once for each state that it rests in."""

    async def story(world: Watched) -> None:
        for city in CITIES:
            await world.set_provider(city.lower(), startSeconds=start)
        await fill(world, 40)
        rests = 1 if start == "0" else 2
        for plane in ("hub", PROJECT):
            written = [w for w in world.writes if w[:2] == (plane, INSTANCES)]
            assert len(written) <= 40 * (1 + rests) * 1.2

    run_story(story, CITIES)
