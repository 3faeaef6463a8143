"""Buckets: the usage of one project and one resource type, for users to read.

No decision depends on them. So they are written at most once a second: a thousand claims that arrive
at once cause only a few writes. Another process may observe grants or claims late, and undo a write for
as long as it does, or this one observes buckets late, and its writes fail. Each repetition is delayed
by twice as long as the one before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from compute.api import names, resource_manager
from compute.api.quota import AllowanceBucket, AllowanceBucketSpec, AllowanceBucketStatus, ObjectRef
from compute.api.resource_manager import Project
from compute.decide import budget
from compute.services.quota import lookups
from compute.services.quota.context import BudgetContext
from compute.services.quota.ledger import ClaimEntry, ClaimLedger
from kubekit.api.meta import ObjectMeta

_PACE: Final = timedelta(seconds=1)
_LONGEST: Final = timedelta(seconds=60)  # until the same is written again
_Statuses = Mapping[str, AllowanceBucketStatus]  # by resource type


@dataclass(frozen=True, slots=True)
class _LastWrite:
    """When buckets of a project were written, even if in vain, and how long that was delayed."""

    at: datetime
    statuses: _Statuses
    pause: timedelta

    def pause_before(self, updates: Iterable[str], wanted: _Statuses, now: datetime) -> timedelta:
        """The time from this write to one of these updates."""
        undone = all(self.statuses.get(kind) == wanted[kind] for kind in updates)
        if undone and now < self.at + 2 * _LONGEST:
            return min(2 * self.pause, _LONGEST)
        return _PACE


class Buckets:
    """Writes the buckets of projects, at most once a second for each project."""

    def __init__(self) -> None:
        self._written: dict[str, _LastWrite] = {}

    async def update(
        self, context: BudgetContext, granted: Sequence[ClaimEntry], registered: Iterable[str]
    ) -> timedelta | None:
        """Update the buckets of a project from the ledger and the claims just granted.

        Returns how long to wait if it is too early to write.
        """
        wanted = _statuses(context, granted, registered)
        known = lookups.buckets_of(context.core, context.name)
        stored = {each.spec.resource_type: each for each in known}
        updates = [
            kind for kind, status in wanted.items() if not _is_current(stored.get(kind), status)
        ]
        if not updates:
            return None
        last = self._written.get(context.name)
        pause = last.pause_before(updates, wanted, context.now) if last else _PACE
        if last and last.at + pause > context.now:
            return last.at + pause - context.now
        self._written[context.name] = _LastWrite(context.now, wanted, pause)
        for kind in updates:
            bucket = stored.get(kind) or await _create(context, kind)
            status = msgspec.structs.replace(
                wanted[kind],
                last_reconciliation=context.now.replace(microsecond=0),
                observed_generation=bucket.metadata.generation,
            )
            reported = msgspec.structs.replace(bucket, status=status)
            await context.core.client.patch_status(bucket, reported)
        return None

    def forget(self, project: str) -> None:
        self._written.pop(project, None)


def _statuses(
    context: BudgetContext, granted: Sequence[ClaimEntry], registered: Iterable[str]
) -> _Statuses:
    """The statuses that the buckets should have."""
    grants = lookups.grants_of(context.core, context.name)
    limit = budget.limits(grants, context.name)
    used, holders = _usage(context.claims, granted)
    known = dict.fromkeys(registered)
    claimed = [kind for kind in context.claims.types() if kind in known]
    existing = [each.spec.resource_type for each in lookups.buckets_of(context.core, context.name)]
    statuses = {}
    for kind in dict.fromkeys((*limit, *claimed, *existing)):
        shares = budget.shares(grants, context.name, kind)
        statuses[kind] = AllowanceBucketStatus(
            limit=limit.get(kind, 0),
            allocated=used.get(kind, 0),
            available=max(0, limit.get(kind, 0) - used.get(kind, 0)),
            claim_count=holders.get(kind, 0),
            grant_count=len(shares),
            contributing_grant_refs=shares,
        )
    return statuses


def _usage(
    ledger: ClaimLedger, granted: Sequence[ClaimEntry]
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """What is used, and by how many claims. It includes grants that the ledger does not show yet."""
    used, holders = dict(ledger.used), dict(ledger.holders)
    for entry in granted:
        current = ledger.get(entry.key)
        if current is not None and current.waits and current.uid == entry.uid:
            for kind, amount in entry.need:
                used[kind] = used.get(kind, 0) + amount
                holders[kind] = holders.get(kind, 0) + 1
    return used, holders


def _is_current(bucket: AllowanceBucket | None, wanted: AllowanceBucketStatus) -> bool:
    """Whether the bucket has this status already, whenever it was written."""
    if bucket is None:
        return False
    status = msgspec.structs.replace(bucket.status, last_reconciliation=None, observed_generation=0)
    return status == wanted and bucket.status.last_reconciliation is not None


async def _create(context: BudgetContext, resource_type: str) -> AllowanceBucket:
    project = context.project.metadata.name
    name = names.bucket(resource_type, budget.CONSUMER, project)
    consumer = ObjectRef(api_group=resource_manager.GROUP, kind=Project.RESOURCE.kind, name=project)
    spec = AllowanceBucketSpec(consumer_ref=consumer, resource_type=resource_type)
    metadata: ObjectMeta = lookups.belonging(context.project, name)
    return await context.core.client.create(AllowanceBucket(metadata=metadata, spec=spec))
