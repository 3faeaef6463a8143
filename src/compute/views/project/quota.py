"""Quota as people read it: what is used of what, in which city, and what waits for it.

Amounts are in the displayed unit. They come from the AllowanceBuckets of the project; the use of a city
is the sum of its granted claims, or of the sizes of its Instances where claims cannot be read.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceRequest
from compute.api.reasons import describe
from compute.decide import joins, quota
from compute.decide.conditions import find
from compute.decide.quota.units import order, unit_of
from compute.views.view import View
from kubekit.api.meta import EPOCH, Condition

Amounts = Mapping[str, int]
"""Amounts in base units, by type of resource."""

UNKNOWN_CITY: Final = "?"

_Key = tuple[str, str]  # the namespace and the name of an Instance


class CityUse(View, frozen=True, kw_only=True):
    """What the instances of a city use of one type of resource."""

    city: str
    used: float


class WaitingAmount(View, frozen=True, kw_only=True):
    """What one instance waits for."""

    instance: str
    amount: float


class QuotaRow(View, frozen=True, kw_only=True):
    """One type of resource of a project."""

    resource_type: str
    display_name: str
    unit: str
    limit: float
    used: float
    available: float
    cities: tuple[CityUse, ...] = ()
    waiting: tuple[WaitingAmount, ...] = ()

    @property
    def share(self) -> float:
        """The share that is used; all of it where nothing was granted."""
        return self.used / self.limit if self.limit else 1.0

    @property
    def constrained(self) -> bool:
        """Whether nothing is left, or too little for an instance that waits."""
        return self.available <= 0 or any(w.amount > self.available for w in self.waiting)


class QuotaWaiter(View, frozen=True, kw_only=True):
    """An Instance that does not start for want of an answer of the quota service, or of quota."""

    instance: str
    workload: str
    city: str
    needs: str
    reason: str
    why: str
    since: datetime | None


class QuotaView(View, frozen=True, kw_only=True):
    """The quota of a project. ``rows`` is empty where no limits can be read."""

    rows: tuple[QuotaRow, ...]
    cities: tuple[str, ...]
    use: dict[str, dict[str, float]]  # by city and type of resource
    waiting: tuple[QuotaWaiter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaObjects:
    """What a view of quota is made of. None stands for what the server does not serve."""

    buckets: Sequence[AllowanceBucket] | None
    claims: Sequence[ResourceClaim] | None
    instances: Sequence[Instance]


def quota_view(
    objects: QuotaObjects,
    *,
    project: str = "",
    cities: Collection[str] = (),
    constrained: bool = False,
) -> QuotaView:
    """The quota of a project. ``cities`` selects the cities; the limits are those of the project."""
    wants = [each for each in _waiting(objects) if not cities or each.waiter.city in cities]
    use = _use(objects, cities)
    rows = [
        _row(kind, buckets, use, wants)
        for kind, buckets in _by_type(objects.buckets or (), project).items()
    ]
    return QuotaView(
        rows=tuple(row for row in rows if row.constrained or not constrained),
        cities=tuple(use),
        use={city: _displayed(amounts) for city, amounts in use.items()},
        waiting=tuple(each.waiter for each in wants),
    )


@dataclass(frozen=True, slots=True)
class _Want:
    waiter: QuotaWaiter
    amounts: Amounts


def _row(
    kind: str,
    buckets: Sequence[AllowanceBucket],
    use: Mapping[str, Amounts],
    wants: Iterable[_Want],
) -> QuotaRow:
    unit = unit_of(kind)
    return QuotaRow(
        resource_type=kind,
        display_name=unit.display_name,
        unit=unit.unit,
        limit=unit.number(sum(each.status.limit for each in buckets)),
        used=unit.number(sum(each.status.allocated for each in buckets)),
        available=unit.number(sum(each.status.available for each in buckets)),
        cities=tuple(
            CityUse(city=city, used=unit.number(amounts[kind]))
            for city, amounts in use.items()
            if amounts.get(kind)
        ),
        waiting=tuple(
            WaitingAmount(instance=want.waiter.instance, amount=unit.number(want.amounts[kind]))
            for want in wants
            if want.amounts.get(kind)
        ),
    )


def _by_type(buckets: Iterable[AllowanceBucket], project: str) -> dict[str, list[AllowanceBucket]]:
    by_type: dict[str, list[AllowanceBucket]] = {}
    for bucket in buckets:
        consumer = bucket.spec.consumer_ref
        if consumer.kind == "Project" and project in {"", consumer.name}:
            by_type.setdefault(bucket.spec.resource_type, []).append(bucket)
    return {kind: by_type[kind] for kind in sorted(by_type, key=order)}


def _displayed(amounts: Amounts) -> dict[str, float]:
    return {kind: unit_of(kind).number(amounts[kind]) for kind in sorted(amounts, key=order)}


def _use(objects: QuotaObjects, cities: Collection[str]) -> dict[str, Amounts]:
    """What is used in each city, by the code of the city."""
    totals: dict[str, Counter[str]] = {}
    for city, amounts in _shares(objects):
        if not cities or city in cities:
            totals.setdefault(city, Counter()).update(amounts)
    return {city: totals[city] for city in sorted(totals)}


def _shares(objects: QuotaObjects) -> Iterator[tuple[str, Amounts]]:
    if objects.claims is None:
        for instance in objects.instances:
            if not _waits(find(instance.status.conditions, ConditionType.QUOTA_GRANTED)):
                yield joins.city(instance), _amounts(quota.requests(instance.spec))
        return
    known = {_key(each): each for each in objects.instances}
    for claim in objects.claims:
        granted = {
            each.resource_type: each.allocated_amount
            for each in claim.status.allocations
            if each.status == "Granted"
        }
        if granted:
            yield _city(claim, known), granted


def _waiting(objects: QuotaObjects) -> list[_Want]:
    """Every Instance that waits for quota, in the order of its claim."""
    claims = {_holder_key(each): each for each in objects.claims or ()}
    wants = [_want(each, claims.get(_key(each))) for each in objects.instances]
    found = [want for want in wants if want is not None]
    known = set(map(_key, objects.instances))
    found += [_unseen(c) for key, c in claims.items() if key not in known and _asks(c)]
    return sorted(found, key=lambda want: (want.waiter.since or EPOCH, want.waiter.instance))


def _want(instance: Instance, claim: ResourceClaim | None) -> _Want | None:
    condition = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    if instance.deleting or not _waits(condition):
        return None
    requests = claim.spec.requests if claim else quota.requests(instance.spec)
    since = claim.metadata.creation_timestamp if claim else instance.metadata.creation_timestamp
    waiter = QuotaWaiter(
        instance=instance.metadata.name,
        workload=joins.workload_name(instance),
        city=joins.city(instance),
        needs=_needs(requests),
        reason=condition.reason if condition else "",
        why=_why(condition),
        since=since,
    )
    return _Want(waiter, _amounts(requests))


def _unseen(claim: ResourceClaim) -> _Want:
    """A claim whose Instance is not in the project yet."""
    name = _holder(claim)
    condition = find(claim.status.conditions, NeighbourCondition.GRANTED)
    waiter = QuotaWaiter(
        instance=name,
        workload=_parts(name)[0],
        city=_parts(name)[1],
        needs=_needs(claim.spec.requests),
        reason=condition.reason if condition else "",
        why=_why(condition),
        since=claim.metadata.creation_timestamp,
    )
    return _Want(waiter, _amounts(claim.spec.requests))


def _asks(claim: ResourceClaim) -> bool:
    return _waits(find(claim.status.conditions, NeighbourCondition.GRANTED))


def _waits(condition: Condition | None) -> bool:
    """Whether quota is asked for and not granted. Without a condition nothing was asked yet."""
    return condition is not None and condition.status != "True"


def _why(condition: Condition | None) -> str:
    if condition is None:
        return ""
    known = describe(condition.reason)
    return condition.message or (known.meaning if known else condition.reason)


def _needs(requests: Iterable[ResourceRequest]) -> str:
    amounts = _amounts(requests)
    return ", ".join(unit_of(kind).phrase(amounts[kind]) for kind in sorted(amounts, key=order))


def _amounts(requests: Iterable[ResourceRequest]) -> Amounts:
    totals: Counter[str] = Counter()
    for request in requests:
        totals[request.resource_type] += request.amount
    return totals


def _holder(claim: ResourceClaim) -> str:
    """The Instance that a claim is for."""
    named = claim.spec.resource_ref.name if claim.spec.resource_ref else ""
    return named or names.claim_instance(claim.metadata.name) or claim.metadata.name


def _key(instance: Instance) -> _Key:
    return instance.metadata.namespace, instance.metadata.name


def _holder_key(claim: ResourceClaim) -> _Key:
    """The namespace and the name of the Instance. They are in one namespace."""
    return claim.metadata.namespace, _holder(claim)


def _city(claim: ResourceClaim, known: Mapping[_Key, Instance]) -> str:
    present = known.get(_holder_key(claim))
    return (joins.city(present) if present else _parts(_holder(claim))[1]) or UNKNOWN_CITY


def _parts(instance: str) -> tuple[str, str]:
    """The workload and the city of an Instance, from its name; empty where it does not show them."""
    slot = names.instance_parts(instance)
    parts = names.deployment_parts(slot[0]) if slot else None
    return (parts[0], parts[2]) if parts else ("", "")
