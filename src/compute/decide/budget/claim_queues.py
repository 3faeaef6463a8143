"""The arithmetic of a budget, and the order in which claims are served from it.

A claim gets everything it requests or nothing. The oldest claim is served first. A claim
that does not fit does not block later claims: one that can never be granted must not stop a project.
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

CONSUMER: Final = Project.RESOURCE.kind  # the kind that has a budget

Need = tuple[tuple[str, int], ...]
"""The requested amounts, each type once and in order: equal requests have one Need."""


class QueuePosition(NamedTuple):
    """The position of a claim in the queue: by age, and by name among those of one second."""

    since: datetime
    namespace: str
    name: str


class ClaimQueue(NamedTuple):
    """Claims with the same requests, the oldest first."""

    need: Need
    positions: Sequence[QueuePosition]


def need_of(requests: Iterable[ResourceRequest]) -> Need:
    """The sum of the requests of a claim."""
    amounts: dict[str, int] = {}
    for request in requests:
        amounts[request.resource_type] = amounts.get(request.resource_type, 0) + request.amount
    return tuple(sorted(amounts.items()))


def fits(need: Need, budget: Mapping[str, int]) -> bool:
    """Whether all of it is available."""
    return all(amount <= budget.get(kind, 0) for kind, amount in need)


def choose(
    queues: Iterable[ClaimQueue], budget: Mapping[str, int], most: int
) -> list[QueuePosition]:
    """The claims to be served now, at most so many, from what is left of the budget.

    The budget only shrinks meanwhile, so a queue whose first claim does not fit is finished: the cost
    depends on the claims chosen and the number of queues, not on their lengths.
    """
    remaining = dict(budget)
    heads = [
        (queue.positions[0], number, 0, queue)
        for number, queue in enumerate(queues)
        if queue.positions
    ]
    heapq.heapify(heads)
    chosen: list[QueuePosition] = []
    while heads and len(chosen) < most:
        position, number, at, queue = heapq.heappop(heads)
        if not fits(queue.need, remaining):
            continue
        for kind, amount in queue.need:
            remaining[kind] = remaining.get(kind, 0) - amount
        chosen.append(position)
        if at + 1 < len(queue.positions):
            heapq.heappush(heads, (queue.positions[at + 1], number, at + 1, queue))
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
    """The grants that add up to the limit of one type, by name."""
    contributions = [share for kind, share in _all_shares(grants, project) if kind == resource_type]
    return tuple(sorted(contributions, key=lambda share: share.name))


def left(limit: Mapping[str, int], used: Mapping[str, int]) -> dict[str, int]:
    """What can still be granted. A limit that was lowered below what is in use leaves nothing."""
    return {kind: max(0, amount - used.get(kind, 0)) for kind, amount in limit.items()}


def _all_shares(
    grants: Iterable[ResourceGrant], project: str
) -> Iterator[tuple[str, ContributingGrantRef]]:
    for grant in grants:
        if not _counts(grant, project):
            continue
        amounts: dict[str, int] = {}
        for allowance in grant.spec.allowances:
            amount = sum(bucket.amount for bucket in allowance.buckets)
            amounts[allowance.resource_type] = amounts.get(allowance.resource_type, 0) + amount
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
