"""What the claims of a project come to, kept up to date change by change.

To list ten thousand claims for each that comes would be a hundred million looks; here a change
costs the same whatever there is besides.
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
    """How a claim stands with the quota service."""

    UNHEARD = "unheard"  # nobody has answered it as it is now
    DENIED = "denied"  # there was too little
    REFUSED = "refused"  # it breaks the rules
    GRANTED = "granted"
    LEAVING = "leaving"  # it goes, and has nothing to give back


_ANSWERS: Final[dict[str, Standing]] = {
    Reason.QUOTA_EXCEEDED: Standing.DENIED,
    Reason.VALIDATION_FAILED: Standing.REFUSED,
}
_NEEDS: Final = 1024  # that are kept once, however many have them
_WAITING: Final = (Standing.UNHEARD, Standing.DENIED)


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """One claim. ``need`` is what it has once it is granted, and what it asks for until then."""

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
    """The claims of one project: what is used, who waits, and who was never answered."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {}
        self.holders: dict[str, int] = {}  # how many claims use it, by type
        self.unheard: dict[Key, None] = {}
        self.refused: dict[Key, None] = {}
        self.cells: dict[str, dict[Key, None]] = {}  # by the cell that made them
        self._entries: dict[Key, ClaimEntry] = {}
        self._lines: dict[Need, list[QueuePosition]] = {}

    def heard(self, changed: CacheChange[ResourceClaim]) -> None:
        """Take a change in."""
        before = self._entries.pop((changed.namespace, changed.name), None)
        if before is not None:
            self._take_out(before)
        if changed.new is not None:
            after = entry_of(changed.new)
            self._entries[after.key] = after
            self._put_in(after)

    def get(self, key: Key) -> ClaimEntry | None:
        return self._entries.get(key)

    def lines(self) -> Iterator[ClaimQueue]:
        """Those who wait, by what they ask for."""
        return (ClaimQueue(need, places) for need, places in self._lines.items())

    def types(self) -> list[str]:
        """Every type that somebody uses or waits for."""
        asked = {kind: None for need in self._lines for kind, _ in need}
        return list(dict.fromkeys(self.used) | asked)

    def owed(self, reserved: tuple[Reservation, ...]) -> list[ClaimEntry]:
        """Those that were promised something and do not have it.

        A claim that went, or asks for something else now, was promised nothing: the grant was
        bound to the version that it had.
        """
        found = ((self._entries.get((each.namespace, each.name)), each) for each in reserved)
        return [
            entry
            for entry, promise in found
            if entry is not None
            and entry.waits
            and (entry.uid, entry.need) == (promise.uid, promise.need)
        ]

    def _put_in(self, entry: ClaimEntry) -> None:
        if entry.cell:
            self.cells.setdefault(entry.cell, {})[entry.key] = None
        if entry.standing is Standing.GRANTED:
            self._count(entry.need, 1)
        if entry.standing is Standing.UNHEARD:
            self.unheard[entry.key] = None
        if entry.standing is Standing.REFUSED:
            self.refused[entry.key] = None
        if entry.waits:
            insort(self._lines.setdefault(entry.need, []), entry.place)

    def _take_out(self, entry: ClaimEntry) -> None:
        if entry.cell:
            _drop(self.cells, entry.cell, entry.key)
        if entry.standing is Standing.GRANTED:
            self._count(entry.need, -1)
        self.unheard.pop(entry.key, None)
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
    """The book of each project that is engaged."""

    def __init__(self) -> None:
        self._books: dict[ClusterName, ClaimLedger] = {}

    def engage(self, cluster: Cluster) -> None:
        """Begin a book, with all that is known already."""
        book = self._books[cluster.name] = ClaimLedger()
        cluster.informers.of(ResourceClaim).listen(book.heard)

    def disengage(self, cluster: Cluster) -> None:
        """Close a book; its informer ends with its cluster."""
        del self._books[cluster.name]

    def of(self, project: ClusterName) -> ClaimLedger:
        """The book of a project. A pass for one that has gone ends here, quietly."""
        book = self._books.get(project)
        if book is None:
            raise NotEngaged(project)
        return book


def entry_of(claim: ResourceClaim) -> ClaimEntry:
    """A claim as the book keeps it."""
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
    """The need as whoever had it first says it: thousands of claims ask alike."""
    return need


def _standing(claim: ResourceClaim) -> Standing:
    said = find(claim.status.conditions, NeighbourCondition.GRANTED)
    if said is not None and said.status == "True":
        return Standing.GRANTED
    if claim.deleting:
        return Standing.LEAVING
    return _answer(claim, said)


def _answer(claim: ResourceClaim, said: Condition | None) -> Standing:
    """What was answered, if that was said of the claim as it is now."""
    if said is None or claim.status.observed_generation != claim.metadata.generation:
        return Standing.UNHEARD
    return _ANSWERS.get(said.reason, Standing.UNHEARD)


def _has(claim: ResourceClaim) -> Need:
    """What a granted claim takes. Whoever granted it without saying how much gave what was asked."""
    given = [each for each in claim.status.allocations if each.status == "Granted"]
    if not given:
        return need_of(claim.spec.requests)
    return tuple(sorted((each.resource_type, each.allocated_amount) for each in given))


def _add(sums: dict[str, int], kind: str, amount: int) -> None:
    """Add to a sum. One that comes to nothing is forgotten: types come and go."""
    total = sums.get(kind, 0) + amount
    if total:
        sums[kind] = total
    else:
        sums.pop(kind, None)


def _drop(groups: dict[str, dict[Key, None]], group: str, key: Key) -> None:
    groups[group].pop(key, None)
    if not groups[group]:
        del groups[group]
