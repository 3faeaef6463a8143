"""What one city of many costs."""

from collections import defaultdict
from collections.abc import Mapping

from bench.load.world.orders import codes
from bench.load.world.passes import passes
from tests.integration.worlds import Watched, run_story, workload

FEW, MANY = 4, 16


def _cost(cities: list[str]) -> Mapping[str, float]:
    """The passes of every controller for each city that a Workload comes to."""
    cost: defaultdict[str, float] = defaultdict(float)

    async def story(world: Watched) -> None:
        await world.limit(MANY)
        await world.rest()
        before = passes(world.world.metrics())
        await world.deploy(workload("web", cities=tuple(cities)))
        await world.rest()
        for name, many in (passes(world.world.metrics()) - before).items():
            cost[name.partition(":")[0]] += many / len(cities)

    run_story(story, tuple(cities))
    return cost


def test_a_city_costs_no_more_among_many():
    """No controller reconciles all cities because of a change in one of them."""
    few, many = _cost(codes(FEW)), _cost(codes(MANY))
    dearer = {name: (few[name], each) for name, each in many.items() if each > few[name] + 2}
    assert dearer == {}
