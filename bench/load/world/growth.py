"""How the cost of a world grows with its Instances and with its cities."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from bench.controllers.measures import exponent
from bench.load.world.results import WorldResult

_FIRST: Final = 50  # with fewer Instances the start of a world dominates


class Curve(NamedTuple):
    """What was found along one line: ``along`` says what stays the same."""

    along: str
    points: Sequence[tuple[int, float]]

    @property
    def exponent(self) -> float:
        """1 means that twice as much costs twice as much."""
        sizes = [size for size, _ in self.points]
        return exponent(sizes, [cost / size for size, cost in self.points])


def against_instances(worlds: Iterable[WorldResult]) -> Iterator[Curve]:
    """CPU seconds of all Instances, for each number of cities."""
    for count, found in _grouped(worlds, "cities").items():
        points = {each.instances: _cost(each) for each in found}
        yield Curve(cities(count), sorted(points.items()))


def against_cities(worlds: Iterable[WorldResult]) -> Iterator[Curve]:
    """CPU seconds of all Instances, for each number of them."""
    for count, found in _grouped(worlds, "instances").items():
        points = {each.cities: _cost(each) for each in found}
        yield Curve(instances(count), sorted(points.items()))


def beyond_the_first(curve: Curve) -> Curve:
    """What each further Instance costs: without the cost of a world that has but one."""
    first = dict(curve.points).get(1, 0.0)
    rest = [(size, cost - first) for size, cost in curve.points if size >= _FIRST and cost > first]
    return Curve(curve.along, rest)


def instances(count: int) -> str:
    """So many of them, in words."""
    return "1 Instance" if count == 1 else f"{count:,} Instances"


def cities(count: int) -> str:
    """So many of them, in words."""
    return "1 city" if count == 1 else f"{count} cities"


def _grouped(worlds: Iterable[WorldResult], key: str) -> Mapping[int, list[WorldResult]]:
    groups: dict[int, list[WorldResult]] = defaultdict(list)
    for each in worlds:
        if each.growing:
            groups[getattr(each, key)].append(each)
    return groups


def _cost(found: WorldResult) -> float:
    assert found.growing is not None
    return found.growing.cpu
