"""The arithmetic of a budget, and the order in which claims are served from it.

A claim gets everything it asks for or nothing. The oldest is served first, but one that does not
fit keeps nobody behind it waiting: a claim for more than there will ever be must not stop a
project.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from compute.api import resource_manager
from compute.api.conditions import NeighbourCondition
from compute.api.quota import ContributingGrantRef, ObjectRef, ResourceGrant, ResourceRequest
from compute.api.resource_manager import Project
from compute.decide.conditions import is_true

CONSUMER: Final = Project.RESOURCE.kind  # the kind of those whose budget is kept

Need = tuple[tuple[str, int], ...]
"""How much of what is asked for, each type once and in order: claims that ask alike have one Need."""


class QueuePosition(NamedTuple):
    """A claim's place in the line: by age, and by name among those of one second."""

    since: datetime
    namespace: str
    name: str


class ClaimQueue(NamedTuple):
    """Claims that ask for the same, the oldest first."""

    need: Need
    places: Sequence[QueuePosition]


def need_of(requests: Iterable[ResourceRequest]) -> Need:
    """What the requests of a claim come to."""
    amounts: dict[str, int] = {}
    for request in requests:
        amounts[request.resource_type] = amounts.get(request.resource_type, 0) + request.amount
    return tuple(sorted(amounts.items()))


def fits(need: Need, budget: Mapping[str, int]) -> bool:
    """Whether all of it is there."""
    return all(amount <= budget.get(kind, 0) for kind, amount in need)


def choose(
    lines: Iterable[ClaimQueue], budget: Mapping[str, int], most: int
) -> list[QueuePosition]:
    """The claims to be served now, at most so many, from what is left of the budget.

    The budget only shrinks on the way, so a line whose first does not fit is done with: the work
    is that of the claims chosen and of the lines there are, however long the lines.
    """
    remaining = dict(budget)
    heads = [(line.places[0], number, 0, line) for number, line in enumerate(lines) if line.places]
    heapq.heapify(heads)
    chosen: list[QueuePosition] = []
    while heads and len(chosen) < most:
        place, number, at, line = heapq.heappop(heads)
        if not fits(line.need, remaining):
            continue
        for kind, amount in line.need:
            remaining[kind] = remaining.get(kind, 0) - amount
        chosen.append(place)
        if at + 1 < len(line.places):
            heapq.heappush(heads, (line.places[at + 1], number, at + 1, line))
    return chosen


def limits(grants: Iterable[ResourceGrant], project: str) -> dict[str, int]:
    """What the active grants of a project add up to, by type."""
    total: dict[str, int] = {}
    for kind, share in _all_shares(grants, project):
        total[kind] = total.get(kind, 0) + share.amount
    return total


def shares(
    grants: Iterable[ResourceGrant], project: str, resource_type: str
) -> tuple[ContributingGrantRef, ...]:
    """The grants that the limit of one type is made of, by name."""
    found = [share for kind, share in _all_shares(grants, project) if kind == resource_type]
    return tuple(sorted(found, key=lambda share: share.name))


def left(limit: Mapping[str, int], used: Mapping[str, int]) -> dict[str, int]:
    """What can still be given. A limit that was lowered below what is in use leaves nothing."""
    return {kind: max(0, amount - used.get(kind, 0)) for kind, amount in limit.items()}


def _all_shares(
    grants: Iterable[ResourceGrant], project: str
) -> Iterator[tuple[str, ContributingGrantRef]]:
    for grant in grants:
        if not _counts(grant, project):
            continue
        amounts: dict[str, int] = {}
        for allowance in grant.spec.allowances:
            given = sum(bucket.amount for bucket in allowance.buckets)
            amounts[allowance.resource_type] = amounts.get(allowance.resource_type, 0) + given
        for kind, amount in amounts.items():
            yield (
                kind,
                ContributingGrantRef(
                    name=grant.metadata.name,
                    amount=amount,
                    last_observed_generation=grant.metadata.generation,
                ),
            )


def _counts(grant: ResourceGrant, project: str) -> bool:
    active = is_true(grant.status.conditions, NeighbourCondition.ACTIVE)
    return active and not grant.deleting and is_project(grant.spec.consumer_ref, project)


def is_project(consumer: ObjectRef, project: str) -> bool:
    """Whether a consumer is this project."""
    known = (resource_manager.GROUP, CONSUMER, project)
    return (consumer.api_group, consumer.kind, consumer.name) == known
