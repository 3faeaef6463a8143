"""What one pass over a project's budget reads and writes."""

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
from kubekit.api.meta import with_metadata
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.concurrency import slow_start_batch

Answer = Callable[[ResourceClaim], ResourceClaimStatus]
Rules = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class BudgetContext:
    """A project, its plane, the core plane, its claims and its stored ledger, at the time ``now``."""

    project: Project
    cluster: Cluster
    core: Cluster
    claims: ClaimLedger
    stored: ConfigMap | None  # the ledger as it is stored
    ledger: Ledger
    now: datetime

    @property
    def name(self) -> str:
        return self.project.metadata.name

    def registered(self) -> dict[str, ResourceRegistration]:
        """The registrations that can be claimed, by resource type."""
        return budget.active(self.core.informers.of(ResourceRegistration).cache.list())

    def limits(self) -> dict[str, int]:
        """What the project was granted."""
        return budget.limits(lookups.grants_of(self.core, self.name), self.name)

    async def live_limits(self) -> dict[str, int]:
        """What the project is granted, read live: a cache may be behind for minutes.

        Grants that are not in the cache yet can only add to that.
        """
        known = lookups.grants_of(self.core, self.name)
        fresh = [
            await self.core.client.find(ResourceGrant, each.metadata.name, each.metadata.namespace)
            for each in known
        ]
        return budget.limits([grant for grant in fresh if grant is not None], self.name)

    async def is_fresh(self) -> bool:
        """Whether the cache of claims includes every grant that the stored ledger does not name.

        A plane that was restored from a backup may never reach the revision that the ledger saw.
        Then the plane's newest revision decides.
        """
        claims = self.cluster.informers.of(ResourceClaim).cache
        if claims.seen(str(self.ledger.revision)):
            return True
        page = await self.cluster.client.list(ResourceClaim, options=ListOptions(limit=1))
        newest = page.resource_version
        return int(newest) < self.ledger.revision and claims.seen(newest)

    async def reserve(self, entries: Sequence[ClaimEntry], holder: str) -> None:
        """Write the reservations. Raises `Conflict` if the ledger was written since it was read."""
        seen = [entry for each in self.ledger.reserved if (entry := self._known(each))]
        ledger = Ledger(
            project=self.ledger.project,
            revision=max(self.ledger.revision, *(entry.version for entry in (*seen, *entries))),
            holder=holder,
            written=self.now,
            reserved=tuple(_reservation(entry) for entry in entries),
        )
        fresh = lookups.belonging(self.project, lookups.ledger_name(self.name))
        if self.stored is None:
            await self.core.client.create(ConfigMap(metadata=fresh, data=ledger.data()))
            return
        # A ledger that an earlier project of this name left would be deleted with that project.
        owned = with_metadata(self.stored, owner_references=fresh.owner_references)
        wanted = msgspec.structs.replace(owned, data=ledger.data())
        await self.core.client.patch(self.stored, wanted)

    def claim(self, entry: ClaimEntry) -> ResourceClaim | None:
        """The claim of an entry, if it is still the same claim with the same requests."""
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
        """Grant these claims, except those that are gone or granted already.

        Returns whether any claim was granted. If not, the cache is behind.
        """
        return any(await slow_start_batch(self._granted, entries))

    async def answer(self, entry: ClaimEntry, status: Answer) -> bool:
        """Write the status of a claim. False if it changed meanwhile; its watch event requeues the project."""
        claim = self.claim(entry)
        if claim is None:
            return False
        answered = msgspec.structs.replace(claim, status=status(claim))
        try:
            await self.cluster.client.patch_status(claim, answered)
        except (NotFound, Conflict):
            return False
        return True

    async def _granted(self, entry: ClaimEntry) -> bool:
        current = self.claims.get(entry.key)
        if current is None or not current.waits:
            return False
        return await self.answer(entry, lambda claim: budget.granted(claim, self.name, self.now))

    def _known(self, reservation: Reservation) -> ClaimEntry | None:
        entry = self.claims.get((reservation.namespace, reservation.name))
        return entry if entry is not None and entry.uid == reservation.uid else None


def digest(registered: dict[str, ResourceRegistration]) -> Rules:
    """The part of the registrations that decides which claims are valid."""
    return tuple(
        (kind, each.metadata.uid, each.metadata.generation)
        for kind, each in sorted(registered.items())
    )


def _reservation(entry: ClaimEntry) -> Reservation:
    namespace, name = entry.key
    return Reservation(namespace=namespace, name=name, uid=entry.uid, need=entry.need)
