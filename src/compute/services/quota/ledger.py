"""The totals of the claims of a project, updated with each watch event.

To sum up ten thousand claims again for each new one would read a hundred million objects. Here the
cost of a change does not depend on the number of claims.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from compute.api import labels
from compute.api.conditions import NeighbourCondition
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.decide.budget import ClaimQueue, Need, QueuePosition, Reservation, need_of
from compute.decide.conditions import find
from kubekit.api.meta import EPOCH, Condition
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.interning import interned
from kubekit.runtime.requests import ClusterName, NotEngaged
from kubekit.runtime.watching.changes import CacheChange

Key = tuple[str, str]  # namespace and name


class ClaimState(StrEnum):
    """The state of a claim."""

    UNANSWERED = "unanswered"  # not answered in its current generation
    DENIED = "denied"  # there was too little
    REFUSED = "refused"  # it breaks the rules
    GRANTED = "granted"
    LEAVING = "leaving"  # being deleted, with nothing to release


_ANSWERS: Final[dict[str, ClaimState]] = {
    Reason.QUOTA_EXCEEDED: ClaimState.DENIED,
    Reason.VALIDATION_FAILED: ClaimState.REFUSED,
}
_NEEDS: Final = 1024  # distinct needs that are shared between claims
_WAITING: Final = (ClaimState.UNANSWERED, ClaimState.DENIED)


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """One claim. ``need`` is what it was granted, or what it requests until then."""

    uid: str
    version: int
    position: QueuePosition
    need: Need
    state: ClaimState
    cell: str

    @property
    def key(self) -> Key:
        return self.position.namespace, self.position.name

    @property
    def waits(self) -> bool:
        return self.state in _WAITING


class ClaimLedger:
    """The claims of one project: what is used, which claims wait, and which were never answered."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {}
        self.holders: dict[str, int] = {}  # how many claims use it, by type
        self.unanswered: dict[Key, None] = {}
        self.refused: dict[Key, None] = {}
        self.cells: dict[str, dict[Key, None]] = {}  # by the cell that created them
        self._entries: dict[Key, ClaimEntry] = {}
        self._queues: dict[Need, list[QueuePosition]] = {}

    def observe(self, changed: CacheChange[ResourceClaim]) -> None:
        """Apply a change."""
        before = self._entries.pop((changed.namespace, changed.name), None)
        if before is not None:
            self._subtract(before)
        if changed.new is not None:
            after = entry_of(changed.new)
            self._entries[after.key] = after
            self._add(after)

    def get(self, key: Key) -> ClaimEntry | None:
        return self._entries.get(key)

    def queues(self) -> Iterator[ClaimQueue]:
        """The waiting claims, by what they request."""
        return (ClaimQueue(need, positions) for need, positions in self._queues.items())

    def types(self) -> list[str]:
        """Every resource type that a claim uses or waits for."""
        requested = {kind: None for need in self._queues for kind, _ in need}
        return list(dict.fromkeys(self.used) | requested)

    def unfulfilled(self, reserved: tuple[Reservation, ...]) -> list[ClaimEntry]:
        """The claims with a reservation that are not granted yet.

        A reservation is void if its claim is gone or requests something else now: it was bound to
        the version of the claim.
        """
        pairs = ((self._entries.get((each.namespace, each.name)), each) for each in reserved)
        return [
            entry
            for entry, reservation in pairs
            if entry is not None
            and entry.waits
            and (entry.uid, entry.need) == (reservation.uid, reservation.need)
        ]

    def _add(self, entry: ClaimEntry) -> None:
        if entry.cell:
            self.cells.setdefault(entry.cell, {})[entry.key] = None
        if entry.state is ClaimState.GRANTED:
            self._count(entry.need, 1)
        if entry.state is ClaimState.UNANSWERED:
            self.unanswered[entry.key] = None
        if entry.state is ClaimState.REFUSED:
            self.refused[entry.key] = None
        if entry.waits:
            insort(self._queues.setdefault(entry.need, []), entry.position)

    def _subtract(self, entry: ClaimEntry) -> None:
        if entry.cell:
            _drop(self.cells, entry.cell, entry.key)
        if entry.state is ClaimState.GRANTED:
            self._count(entry.need, -1)
        self.unanswered.pop(entry.key, None)
        self.refused.pop(entry.key, None)
        if entry.waits:
            queue = self._queues[entry.need]
            del queue[bisect_left(queue, entry.position)]
            if not queue:
                del self._queues[entry.need]

    def _count(self, need: Need, sign: int) -> None:
        for kind, amount in need:
            _add(self.used, kind, sign * amount)
            _add(self.holders, kind, sign)


class ClaimLedgers:
    """The ledger of each engaged project."""

    def __init__(self) -> None:
        self._ledgers: dict[ClusterName, ClaimLedger] = {}

    def engage(self, cluster: Cluster) -> None:
        """Start a ledger with the claims in the cache."""
        ledger = self._ledgers[cluster.name] = ClaimLedger()
        cluster.informers.of(ResourceClaim).listen(ledger.observe)

    def disengage(self, cluster: Cluster) -> None:
        """Drop a ledger; its informer stops with its cluster."""
        del self._ledgers[cluster.name]

    def of(self, project: ClusterName) -> ClaimLedger:
        """The ledger of a project. A pass for a project that is gone ends here without an error."""
        ledger = self._ledgers.get(project)
        if ledger is None:
            raise NotEngaged(project)
        return ledger


def entry_of(claim: ResourceClaim) -> ClaimEntry:
    """The entry of a claim."""
    meta = claim.metadata
    state = _state(claim)
    return ClaimEntry(
        uid=meta.uid,
        version=int(meta.resource_version) if meta.resource_version.isdecimal() else 0,
        position=QueuePosition(
            meta.creation_timestamp or EPOCH, interned(meta.namespace), interned(meta.name)
        ),
        need=_shared(
            _granted_need(claim) if state is ClaimState.GRANTED else need_of(claim.spec.requests)
        ),
        state=state,
        cell=interned(meta.labels.get(labels.SOURCE_CLUSTER, "")),
    )


@lru_cache(_NEEDS)
def _shared(need: Need) -> Need:
    """One shared object for equal needs: thousands of claims request the same."""
    return need


def _state(claim: ResourceClaim) -> ClaimState:
    granted = find(claim.status.conditions, NeighbourCondition.GRANTED)
    if granted is not None and granted.status == "True":
        return ClaimState.GRANTED
    if claim.deleting:
        return ClaimState.LEAVING
    return _answer(claim, granted)


def _answer(claim: ResourceClaim, granted: Condition | None) -> ClaimState:
    """The state that follows from the answer to the current generation of a claim."""
    if granted is None or claim.status.observed_generation != claim.metadata.generation:
        return ClaimState.UNANSWERED
    return _ANSWERS.get(granted.reason, ClaimState.UNANSWERED)


def _granted_need(claim: ResourceClaim) -> Need:
    """What a granted claim uses. A grant without amounts is for what was requested."""
    granted = [each for each in claim.status.allocations if each.status == "Granted"]
    if not granted:
        return need_of(claim.spec.requests)
    return tuple(sorted((each.resource_type, each.allocated_amount) for each in granted))


def _add(sums: dict[str, int], kind: str, amount: int) -> None:
    """Add to a sum. A sum of zero is removed, since resource types come and go."""
    total = sums.get(kind, 0) + amount
    if total:
        sums[kind] = total
    else:
        sums.pop(kind, None)


def _drop(groups: dict[str, dict[Key, None]], group: str, key: Key) -> None:
    groups[group].pop(key, None)
    if not groups[group]:
        del groups[group]
