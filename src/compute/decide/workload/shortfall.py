"""What a workload needs beyond the quota that is left, and how much of it would fit.

lacks = shortfall([planned.need for planned in preview.deployments], remaining(buckets))
lacks.sentence  # needs 8 vCPU, 6 left; try --min 3
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compute.api.quota import AllowanceBucket
from compute.decide.quota.claims import INSTANCES, MEMORY, VCPUS
from compute.decide.quota.units import unit_of
from compute.decide.workload.preview import Need


@dataclass(frozen=True, slots=True)
class QuotaLack:
    """A type of resource of which too little is left, in base units."""

    resource_type: str
    needed: int
    left: int
    is_more: bool = False  # needed besides what the workload has

    def __str__(self) -> str:
        unit = unit_of(self.resource_type)
        amount = unit.phrase(self.needed)
        if self.is_more:
            amount = amount.replace(" ", " more ", 1)
        return f"{amount}, {unit.text(self.left)} left"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why the quota is too small.

    ``most`` is the largest number of instances in each city that fits; 0 if not even one does.
    ``cities`` is then how many of the cities have room for one instance each.
    """

    lacks: tuple[QuotaLack, ...]
    most: int
    cities: int

    @property
    def sentence(self) -> str:
        """What is needed, what is left, and what to try."""
        return f"needs {'; '.join(map(str, self.lacks))}; {self._advice}"

    @property
    def _advice(self) -> str:
        if self.most:
            return f"try --min {self.most}"
        if self.cities:
            noun = "city" if self.cities == 1 else "cities"
            return f"try --min 1 in {self.cities} {noun}"
        return "delete something, or ask for more quota"


def remaining(buckets: Iterable[AllowanceBucket]) -> dict[str, int]:
    """What is left, by type of resource, in base units. Several buckets of a type add up."""
    left: dict[str, int] = {}
    for bucket in buckets:
        kind = bucket.spec.resource_type
        left[kind] = left.get(kind, 0) + bucket.status.available
    return left


def shortfall(
    wanted: Sequence[Need], left: Mapping[str, int], held: Need | None = None
) -> Shortfall | None:
    """What is lacking for these needs, one for each placement and city; None when all fits.

    ``left`` is empty where no quota is enforced. ``held`` is what the workload has already: it keeps
    that, so it needs only what is beyond it.
    """
    if not left:
        return None
    room, had = _added(left, held or Need()), _amounts(held or Need())
    needed = _amounts(sum(wanted, Need()))
    lacks = tuple(
        QuotaLack(kind, amount - had[kind], left.get(kind, 0), is_more=had[kind] > 0)
        for kind, amount in needed.items()
        if amount > room.get(kind, 0)
    )
    if not lacks:
        return None
    ones = [one for need in wanted if (one := _one(need))]
    return Shortfall(lacks, _times(sum(ones, Need()), room), _cities(ones, room))


def _one(need: Need) -> Need | None:
    """The need of one instance; None where there is none."""
    count = need.instances
    return Need(1, need.millicores // count, need.mebibytes // count) if count else None


def _times(one: Need, room: Mapping[str, int]) -> int:
    """How many times the need fits."""
    fits = [room.get(kind, 0) // amount for kind, amount in _amounts(one).items() if amount]
    return max(0, min(fits, default=0))


def _cities(ones: Iterable[Need], room: Mapping[str, int]) -> int:
    """How many of these fit together, in their order."""
    total, count = Need(), 0
    for one in ones:
        total += one
        if not _times(total, room):
            break
        count += 1
    return count


def _added(left: Mapping[str, int], held: Need) -> dict[str, int]:
    amounts = _amounts(held)
    return {kind: left.get(kind, 0) + amounts.get(kind, 0) for kind in {**left, **amounts}}


def _amounts(need: Need) -> dict[str, int]:
    """The need by type of resource."""
    return {INSTANCES: need.instances, VCPUS: need.millicores, MEMORY: need.mebibytes}
