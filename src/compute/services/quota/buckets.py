"""Buckets: the account of one project and one type of resource, for people to read.

Nothing is decided by them. So they follow the claims at their own pace, and a thousand claims that
come at once are a few writes of a bucket.
"""

from collections.abc import Iterable, Mapping, Sequence
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
from kubekit.runtime.clusters import Cluster

_PACE: Final = timedelta(seconds=1)
_BY_CONSUMER: Final = "consumer"


class Buckets:
    """Writes the buckets of projects, each project's at most once a second."""

    def __init__(self) -> None:
        self._written: dict[str, datetime] = {}

    async def keep(
        self, desk: BudgetContext, granted: Sequence[ClaimEntry], registered: Iterable[str]
    ) -> timedelta | None:
        """Bring the buckets of a project to what the book says, and to what was just granted.

        If it is too early for that: in how long it is not.
        """
        wanted = _statuses(desk, granted, registered)
        stored = {each.spec.resource_type: each for each in _stored(desk.core, desk.name)}
        news = [kind for kind, status in wanted.items() if not _says(stored.get(kind), status)]
        if not news:
            return None
        early = self._written.get(desk.name, desk.now - _PACE) + _PACE - desk.now
        if early > timedelta():
            return early
        for kind in news:
            bucket = stored.get(kind) or await _create(desk, kind)
            status = msgspec.structs.replace(
                wanted[kind],
                last_reconciliation=desk.now.replace(microsecond=0),
                observed_generation=bucket.metadata.generation,
            )
            told = msgspec.structs.replace(bucket, status=status)
            await desk.core.client.patch_status(bucket, told)
        self._written[desk.name] = desk.now
        return None

    def forget(self, project: str) -> None:
        self._written.pop(project, None)


def _statuses(
    desk: BudgetContext, granted: Sequence[ClaimEntry], registered: Iterable[str]
) -> dict[str, AllowanceBucketStatus]:
    """The accounts as they should read, by type."""
    grants = lookups.grants_of(desk.core, desk.name)
    limit = budget.limits(grants, desk.name)
    used, holders = _with(desk.book, granted)
    known = dict.fromkeys(registered)
    asked = [kind for kind in desk.book.types() if kind in known]
    there = [each.spec.resource_type for each in _stored(desk.core, desk.name)]
    statuses = {}
    for kind in dict.fromkeys((*limit, *asked, *there)):
        shares = budget.shares(grants, desk.name, kind)
        statuses[kind] = AllowanceBucketStatus(
            limit=limit.get(kind, 0),
            allocated=used.get(kind, 0),
            available=max(0, limit.get(kind, 0) - used.get(kind, 0)),
            claim_count=holders.get(kind, 0),
            grant_count=len(shares),
            contributing_grant_refs=shares,
        )
    return statuses


def _with(
    book: ClaimLedger, granted: Sequence[ClaimEntry]
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """What is used and by how many, with those that the book does not show as granted yet."""
    used, holders = dict(book.used), dict(book.holders)
    for entry in granted:
        now = book.get(entry.key)
        if now is not None and now.waits and now.uid == entry.uid:
            for kind, amount in entry.need:
                used[kind] = used.get(kind, 0) + amount
                holders[kind] = holders.get(kind, 0) + 1
    return used, holders


def _says(bucket: AllowanceBucket | None, wanted: AllowanceBucketStatus) -> bool:
    """Whether the bucket says so already, whenever it was reckoned."""
    if bucket is None:
        return False
    said = msgspec.structs.replace(bucket.status, last_reconciliation=None, observed_generation=0)
    return said == wanted and bucket.status.last_reconciliation is not None


async def _create(desk: BudgetContext, resource_type: str) -> AllowanceBucket:
    project = desk.project.metadata.name
    name = names.bucket(resource_type, budget.CONSUMER, project)
    consumer = ObjectRef(api_group=resource_manager.GROUP, kind=Project.RESOURCE.kind, name=project)
    spec = AllowanceBucketSpec(consumer_ref=consumer, resource_type=resource_type)
    metadata: ObjectMeta = lookups.belonging(desk.project, name)
    return await desk.core.client.create(AllowanceBucket(metadata=metadata, spec=spec))


def _stored(core: Cluster, project: str) -> list[AllowanceBucket]:
    cache = core.informers.of(AllowanceBucket).cache
    cache.add_index(_BY_CONSUMER, lambda bucket: (bucket.spec.consumer_ref.name,))
    return cache.by(_BY_CONSUMER, project)
