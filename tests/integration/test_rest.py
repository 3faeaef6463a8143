"""At rest nothing is written but leases."""

import pytest

from tests.integration.worlds import Watched, told, workload


@pytest.mark.slow
def test_a_world_with_a_thousand_instances_writes_nothing_for_a_quarter_of_an_hour():
    """Neither does any pass repeat itself: the writes of fifteen minutes are leases alone."""

    async def story(world: Watched) -> None:
        await world.limit(2000)
        for number in range(4):
            wide = workload(
                f"w{number}",
                cities=("DFW", "LHR"),
                replicas=125,
                instance_management_policy="Parallel",
            )
            await world.user.create(wide)
        for number in range(4):
            await world.served(f"w{number}", seconds=600.0)
        await world.rest()
        assert await world.quiet(900.0) == []

    told(story, cities=("DFW", "LHR"))
