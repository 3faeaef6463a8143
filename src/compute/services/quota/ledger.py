"""The totals of the claims of a project, updated with each watch event.

To list ten thousand claims for each new one would read a hundred million objects; here a change
costs the same however many claims there are.
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


class Standing(StrEnum):
    """The state of a claim."""

    UNANSWERED = "unanswered"  # not answered in its current generation
    DENIED = "denied"  # there was too little
    REFUSED = "refused"  # it breaks the rules
    GRANTED = "granted"
    LEAVING = "leaving"  # being deleted, with nothing to release


_ANSWERS: Final[dict[str, Standing]] = {
    Reason.QUOTA_EXCEEDED: Standing.DENIED,
    Reason.VALIDATION_FAILED: Standing.REFUSED,
}
_NEEDS: Final = 1024  # distinct needs that are shared between claims
_WAITING: Final = (Standing.UNANSWERED, Standing.DENIED)


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """One claim. ``need`` is what it was granted, or what it requests until then."""

    uid: str
    version: int
    place: QueuePosition
    need: Need
    standing: Standing
    cell: str

    @property
    def key(self) -> Key:
        return self.place.namespace, self.place.name

    @property
    def waits(self) -> bool:
        return self.standing in _WAITING


class ClaimLedger:
    """The claims of one project: what is used, which claims wait, and which were never answered."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {}
        self.holders: dict[str, int] = {}  # how many claims use it, by type
        self.unanswered: dict[Key, None] = {}
        self.refused: dict[Key, None] = {}
        self.cells: dict[str, dict[Key, None]] = {}  # by the cell that created them
        self._entries: dict[Key, ClaimEntry] = {}
        self._lines: dict[Need, list[QueuePosition]] = {}

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

    def lines(self) -> Iterator[ClaimQueue]:
        """The waiting claims, by what they request."""
        return (ClaimQueue(need, places) for need, places in self._lines.items())

    def types(self) -> list[str]:
        """Every resource type that a claim uses or waits for."""
        requested = {kind: None for need in self._lines for kind, _ in need}
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
        if entry.standing is Standing.GRANTED:
            self._count(entry.need, 1)
        if entry.standing is Standing.UNANSWERED:
            self.unanswered[entry.key] = None
        if entry.standing is Standing.REFUSED:
            self.refused[entry.key] = None
        if entry.waits:
            insort(self._lines.setdefault(entry.need, []), entry.place)

    def _subtract(self, entry: ClaimEntry) -> None:
        if entry.cell:
            _drop(self.cells, entry.cell, entry.key)
        if entry.standing is Standing.GRANTED:
            self._count(entry.need, -1)
        self.unanswered.pop(entry.key, None)
        self.refused.pop(entry.key, None)
        if entry.waits:
            line = self._lines[entry.need]
            del line[bisect_left(line, entry.place)]
            if not line:
                del self._lines[entry.need]

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
    standing = _standing(claim)
    return ClaimEntry(
        uid=meta.uid,
        version=int(meta.resource_version) if meta.resource_version.isdecimal() else 0,
        place=QueuePosition(
            meta.creation_timestamp or EPOCH, interned(meta.namespace), interned(meta.name)
        ),
        need=_shared(_has(claim) if standing is Standing.GRANTED else need_of(claim.spec.requests)),
        standing=standing,
        cell=interned(meta.labels.get(labels.SOURCE_CLUSTER, "")),
    )


@lru_cache(_NEEDS)
def _shared(need: Need) -> Need:
    """One shared object for equal needs: thousands of claims request the same."""
    return need


def _standing(claim: ResourceClaim) -> Standing:
    granted = find(claim.status.conditions, NeighbourCondition.GRANTED)
    if granted is not None and granted.status == "True":
        return Standing.GRANTED
    if claim.deleting:
        return Standing.LEAVING
    return _answer(claim, granted)


def _answer(claim: ResourceClaim, granted: Condition | None) -> Standing:
    """The answer to the claim, if it was given to its current generation."""
    if granted is None or claim.status.observed_generation != claim.metadata.generation:
        return Standing.UNANSWERED
    return _ANSWERS.get(granted.reason, Standing.UNANSWERED)


def _has(claim: ResourceClaim) -> Need:
    """What a granted claim uses. A grant without amounts is for what was requested."""
    given = [each for each in claim.status.allocations if each.status == "Granted"]
    if not given:
        return need_of(claim.spec.requests)
    return tuple(sorted((each.resource_type, each.allocated_amount) for each in given))


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
