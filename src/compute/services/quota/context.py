"""What one pass over a project's budget works on, and how it answers claims."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from compute.api.quota import (
    ResourceClaim,
    ResourceClaimStatus,
    ResourceGrant,
    ResourceRegistration,
)
from compute.api.resource_manager import Project
from compute.decide import budget
from compute.decide.budget import Ledger, Reservation
from compute.services.quota import lookups
from compute.services.quota.ledger import ClaimEntry, ClaimLedger
from kubekit.api.errors import Conflict, NotFound
from kubekit.api.fields import FieldError
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.concurrency import slow_start_batch

Answer = Callable[[ResourceClaim], ResourceClaimStatus]
Rules = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class BudgetContext:
    """A project, its plane, the core plane, its book and its ledger, at the moment of ``now``."""

    project: Project
    cluster: Cluster
    core: Cluster
    book: ClaimLedger
    kept: ConfigMap | None  # the ledger as it is stored
    ledger: Ledger
    now: datetime

    @property
    def name(self) -> str:
        return self.project.metadata.name

    def registered(self) -> dict[str, ResourceRegistration]:
        """What can be claimed."""
        return budget.active(self.core.informers.of(ResourceRegistration).cache.list())

    def limits(self) -> dict[str, int]:
        """What the project was granted."""
        return budget.limits(lookups.grants_of(self.core, self.name), self.name)

    async def sure_limits(self) -> dict[str, int]:
        """What the project was granted and still is: a cache may be behind for minutes.

        Grants that the cache does not know of yet only add to that.
        """
        known = lookups.grants_of(self.core, self.name)
        live = [
            await self.core.client.find(ResourceGrant, each.metadata.name, each.metadata.namespace)
            for each in known
        ]
        return budget.limits([grant for grant in live if grant is not None], self.name)

    async def is_fresh(self) -> bool:
        """Whether the book shows every grant that the ledger does not name.

        A plane that was restored from a backup never comes to where the ledger saw it. It is
        known then by its own word how far it is.
        """
        claims = self.cluster.informers.of(ResourceClaim).cache
        if claims.seen(str(self.ledger.revision)):
            return True
        page = await self.cluster.client.list(ResourceClaim, options=ListOptions(limit=1))
        newest = page.resource_version
        return int(newest) < self.ledger.revision and claims.seen(newest)

    async def promise(self, entries: Sequence[ClaimEntry], holder: str) -> None:
        """Write down who is to be granted what, unless somebody else wrote since it was read."""
        seen = [entry for each in self.ledger.reserved if (entry := self._known(each))]
        ledger = Ledger(
            project=self.ledger.project,
            revision=max(self.ledger.revision, *(entry.version for entry in (*seen, *entries))),
            holder=holder,
            written=self.now,
            reserved=tuple(_reservation(entry) for entry in entries),
        )
        fresh = lookups.belonging(self.project, lookups.ledger_name(self.name))
        if self.kept is None:
            await self.core.client.create(ConfigMap(metadata=fresh, data=ledger.data()))
            return
        # One that an earlier project of this name left goes with that one, promises and all.
        owned = msgspec.structs.replace(self.kept.metadata, owner_references=fresh.owner_references)
        wanted = msgspec.structs.replace(self.kept, metadata=owned, data=ledger.data())
        await self.core.client.patch(self.kept, wanted)

    def claim(self, entry: ClaimEntry) -> ResourceClaim | None:
        """The claim of an entry, if it still is that very claim and asks for the same."""
        claim = self.cluster.informers.of(ResourceClaim).cache.get(*entry.key)
        if claim is None or claim.metadata.uid != entry.uid:
            return None
        return claim if budget.need_of(claim.spec.requests) == entry.need else None

    def faults(
        self, entry: ClaimEntry, registered: dict[str, ResourceRegistration]
    ) -> list[FieldError]:
        """Why the claim may not be granted."""
        claim = self.claim(entry)
        return list(budget.faults(claim, self.name, registered)) if claim else []

    async def grant(self, entries: Sequence[ClaimEntry]) -> bool:
        """Tell each that it has what it asked for, unless it went or has it already.

        Whether anybody was told. If not, the book is behind.
        """
        return any(await slow_start_batch(self._granted, entries))

    async def tell(self, entry: ClaimEntry, answer: Answer) -> bool:
        """Whether a claim was answered. One that moved on meanwhile will be heard of again."""
        claim = self.claim(entry)
        if claim is None:
            return False
        told = msgspec.structs.replace(claim, status=answer(claim))
        try:
            await self.cluster.client.patch_status(claim, told)
        except (NotFound, Conflict):
            return False
        return True

    async def _granted(self, entry: ClaimEntry) -> bool:
        now = self.book.get(entry.key)
        if now is None or not now.waits:
            return False
        return await self.tell(entry, lambda claim: budget.granted(claim, self.name, self.now))

    def _known(self, promise: Reservation) -> ClaimEntry | None:
        entry = self.book.get((promise.namespace, promise.name))
        return entry if entry is not None and entry.uid == promise.uid else None


def digest(registered: dict[str, ResourceRegistration]) -> Rules:
    """The rules as far as answers depend on them."""
    return tuple(
        (kind, each.metadata.uid, each.metadata.generation)
        for kind, each in sorted(registered.items())
    )


def _reservation(entry: ClaimEntry) -> Reservation:
    namespace, name = entry.key
    return Reservation(namespace=namespace, name=name, uid=entry.uid, need=entry.need)
