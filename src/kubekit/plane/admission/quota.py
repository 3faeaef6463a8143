"""The quota of one plane. A project has a plane of its own, so this is a project's quota.

Pending writes count too, so that concurrent writers cannot exceed a limit together. Deleting is
always possible, since it frees space; a reserve is kept for the last updates of objects that are
being deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubekit.api.errors import Forbidden
from kubekit.api.status import StatusDetails
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.context import LARGEST
from kubekit.plane.registry.encoding import tail_of
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Draft

_GIB: Final = 1 << 30
_RESERVE: Final = 16  # this fraction of the limit, and one object at least, beyond the limit
_VERSION: Final = len('"resourceVersion":"') + 19 + len('",')  # what the store inserts


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The limits on all objects, on their bytes, and on the objects of single kinds.

    A kind is named as in ``kubectl get``: ``secrets``, or ``widgets.example.com``.
    """

    objects: int = 200_000
    size: int = _GIB
    of_kind: Mapping[str, int] = field(default_factory=dict)


class QuotaReservation(msgspec.Struct, frozen=True, gc=False):
    """The quota that a pending write uses."""

    key: tuple[str, str]
    objects: int
    size: int


class _Meta(msgspec.Struct, gc=False):
    deletionTimestamp: str = ""  # noqa: N815 - as metadata spells it


class _Deleting(msgspec.Struct, gc=False):
    metadata: _Meta


_NOTHING: Final = QuotaReservation(("", ""), 0, 0)
_deleting: Final = msgspec.json.Decoder(_Deleting).decode


class QuotaUsage:
    """The usage of one plane, and the checks against its quota. Create it on the plane's loop."""

    def __init__(self, registry: Registry, quota: Quota) -> None:
        self._registry = registry
        self._store = registry.store
        self._quota = quota
        self._kinds: Kinds | None = None
        self._sizes: dict[str, int] = {}
        self._reservations: dict[tuple[str, str], QuotaReservation] = {}
        self.objects = 0
        """Stored objects and pending ones."""
        self.size = 0
        """Bytes of these objects."""
        self._count_new_kinds()
        self._unsubscribe = self._store.listen(self._on_event)

    def admit(self, attempt: Attempt) -> None:
        """Refuse a change that would exceed the quota. It applies to dry runs too."""
        self._count_new_kinds()
        document = attempt.document
        if document is None:
            return
        storage, key = attempt.kind.storage, attempt.key
        if attempt.verb == "create":
            self._check_objects(storage, key)
        if self.size + LARGEST > self._quota.size:
            size = len(attempt.kind.head) + len(tail_of(document)) + _VERSION
            self._check_size(storage, key, size, is_ending=_is_deleting(document))

    def reserve(self, draft: Draft) -> QuotaReservation:
        """Reserve quota for a pending write, or raise `Forbidden`. The caller must `release` it."""
        change, storage, key = draft.change, draft.resource, draft.key
        if change is ChangeType.DELETED:
            return _NOTHING
        growth = size = len(draft.head) + len(draft.tail) + _VERSION
        is_new = change is ChangeType.ADDED
        if is_new:
            self._check_objects(storage, key)
        else:
            growth = max(self._growth(storage, key, size), 0)
        if self.size + growth > self._quota.size:
            is_ending = _is_marked(draft.head + draft.tail)
            if not is_ending or self._is_ending(storage, key):
                self._check_size(storage, key, size, is_ending=is_ending)
        return self._add_reservation(QuotaReservation((storage, key), int(is_new), growth))

    def release(self, reservation: QuotaReservation) -> None:
        """Release a reservation, once the write is done or has failed."""
        if self._reservations.get(reservation.key) is reservation:
            self._release(reservation)

    def close(self) -> None:
        self._unsubscribe()

    def _add_reservation(self, reservation: QuotaReservation) -> QuotaReservation:
        key = reservation.key
        if key in self._reservations:
            self._release(self._reservations[key])
        self._reservations[key] = reservation
        self.objects += reservation.objects
        self.size += reservation.size
        return reservation

    def _check_objects(self, storage: str, key: str) -> None:
        limit = self._quota.objects
        if self.objects < limit and not self._quota.of_kind:
            return
        if self.objects + 1 > limit:
            most = max(self._sizes, key=lambda name: len(self._store.collection(name)))
            many = len(self._store.collection(most))
            advice = f"delete what is not needed, such as some of the {many} {_label(most)}"
            raise _exceeded(storage, key, ("objects", 1, self.objects, limit), advice)
        label = _label(storage)
        of_kind = self._quota.of_kind.get(label)
        if of_kind is not None:
            pending = sum(
                reservation.objects
                for reservation in self._reservations.values()
                if reservation.key[0] == storage
            )
            used = len(self._store.collection(storage)) + pending
            if used + 1 > of_kind:
                advice = f"delete {label} that are not needed"
                raise _exceeded(storage, key, (label, 1, used, of_kind), advice)

    def _check_size(self, storage: str, key: str, size: int, *, is_ending: bool) -> None:
        growth, limit = self._growth(storage, key, size), self._quota.size
        if is_ending:
            limit += max(limit // _RESERVE, LARGEST)
        if growth > 0 and self.size + growth > limit:
            most = max(self._sizes, key=self._sizes.__getitem__)
            advice = f"delete what is not needed: {_label(most)} take {self._sizes[most]} bytes"
            raise _exceeded(storage, key, ("bytes", growth, self.size, limit), advice)

    def _growth(self, storage: str, key: str, size: int) -> int:
        present = self._store.find(storage, key)
        return size if present is None else size - len(present.data)

    def _is_ending(self, storage: str, key: str) -> bool:
        """Whether an object was being deleted before: setting deletionTimestamp needs the reserve too."""
        present = self._store.find(storage, key)
        return present is not None and _is_marked(present.data)

    def _count_new_kinds(self) -> None:
        """Count the objects of new kinds. All others are counted by watch events."""
        kinds = self._registry.kinds
        if kinds is self._kinds:
            return
        self._kinds = kinds
        for storage in kinds.stored():
            if storage not in self._sizes:
                self._count(storage)

    def _count(self, storage: str) -> None:
        records = self._store.collection(storage).range()
        self._sizes[storage] = size = sum(len(record.data) for record in records)
        self.objects += len(records)
        self.size += size

    def _on_event(self, storage: str, event: ChangeEvent) -> None:
        # The pending write is stored now: it must not count twice until its writer releases it.
        self._release(self._reservations.get((storage, event.record.key)))
        if storage not in self._sizes:
            self._count(storage)
            return
        before = 0 if event.previous is None else len(event.previous.data)
        gone = event.change is ChangeType.DELETED
        growth = (0 if gone else len(event.record.data)) - before
        self._sizes[storage] += growth
        self.size += growth
        self.objects += (not gone) - (event.previous is not None)

    def _release(self, reservation: QuotaReservation | None) -> None:
        if reservation is not None:
            del self._reservations[reservation.key]
            self.objects -= reservation.objects
            self.size -= reservation.size


def _label(storage: str) -> str:
    """The name of a kind, as in kubectl."""
    group, _, plural = storage.rpartition("/")
    return f"{plural}.{group}" if group else plural


def _exceeded(storage: str, key: str, account: tuple[str, int, int, int], advice: str) -> Forbidden:
    """The error, which names the request, the usage and the limit."""
    what, asked, used, limit = account
    group, _, plural = storage.rpartition("/")
    name = key.rpartition("/")[2]
    return Forbidden(
        f'{_label(storage)} "{name}" is forbidden: exceeded quota: requested: {what}={asked}, '
        f"used: {what}={used}, limited: {what}={limit}; {advice}",
        StatusDetails(name=name, group=group, kind=plural),
    )


def _is_deleting(document: Mapping[str, Mapping[str, object]]) -> bool:
    return "deletionTimestamp" in document["metadata"]


def _is_marked(data: bytes) -> bool:
    """Whether the object is being deleted."""
    return bool(_deleting(data).metadata.deletionTimestamp)
