"""How much one plane may hold. A project has a plane of its own, so this is a project's quota.

What is there is counted along with the changes that are on their way to the disk, so that no crowd
of writers gets past a limit together. Deleting is always possible, since it is how room is made;
for what objects still have to say before their end there is some room in reserve.
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
_RESERVE: Final = 16  # one part in so many, beyond the limit, and one object at least
_VERSION: Final = len('"resourceVersion":"') + 19 + len('",')  # what the store writes in between


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The most objects, their most bytes, and the most objects of single kinds.

    A kind is named as in ``kubectl get``: ``secrets``, or ``widgets.example.com``.
    """

    objects: int = 200_000
    size: int = _GIB
    of_kind: Mapping[str, int] = field(default_factory=dict)


class QuotaReservation(msgspec.Struct, frozen=True, gc=False):
    """Room that a change on its way to the disk will take."""

    place: tuple[str, str]
    objects: int
    size: int


class _Meta(msgspec.Struct, gc=False):
    deletionTimestamp: str = ""  # noqa: N815 - as metadata spells it


class _Deleting(msgspec.Struct, gc=False):
    metadata: _Meta


_NOTHING: Final = QuotaReservation(("", ""), 0, 0)
_deleting: Final = msgspec.json.Decoder(_Deleting).decode


class Usage:
    """What one plane holds, and whether there is room for more. Made on the plane's loop."""

    def __init__(self, registry: Registry, quota: Quota) -> None:
        self._registry = registry
        self._store = registry.store
        self._quota = quota
        self._kinds: Kinds | None = None
        self._sizes: dict[str, int] = {}
        self._held: dict[tuple[str, str], QuotaReservation] = {}
        self.objects = 0
        """Objects that are there, or on their way."""
        self.size = 0
        """Bytes of these objects."""
        self._look_around()
        self._leave = self._store.listen(self._heard)

    def admit(self, attempt: Attempt) -> None:
        """Refuse a change that there is no room for, one that is only tried as well."""
        self._look_around()
        document = attempt.document
        if document is None:
            return
        storage, key = attempt.kind.storage, attempt.key
        if attempt.verb == "create":
            self._check_objects(storage, key)
        if self.size + LARGEST > self._quota.size:
            size = len(attempt.kind.head) + len(tail_of(document)) + _VERSION
            self._check_size(storage, key, size, is_ending=_is_deleting(document))

    def take(self, draft: Draft) -> QuotaReservation:
        """Room for a change until it is stored; `Forbidden` if there is none. To be given back."""
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
        return self._hold(QuotaReservation((storage, key), int(is_new), growth))

    def give_back(self, held: QuotaReservation) -> None:
        """Tell that a change is stored, or will never be."""
        if self._held.get(held.place) is held:
            self._release(held)

    def close(self) -> None:
        self._leave()

    def _hold(self, held: QuotaReservation) -> QuotaReservation:
        place = held.place
        if place in self._held:
            self._release(self._held[place])
        self._held[place] = held
        self.objects += held.objects
        self.size += held.size
        return held

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
            coming = sum(held.objects for held in self._held.values() if held.place[0] == storage)
            used = len(self._store.collection(storage)) + coming
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
        """Whether an object was on its way out already: to be marked so needs room as well."""
        present = self._store.find(storage, key)
        return present is not None and _is_marked(present.data)

    def _look_around(self) -> None:
        """Count what became known with new kinds. Everything else is heard of."""
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

    def _heard(self, storage: str, event: ChangeEvent) -> None:
        # What was on its way is there now: it must not count twice until its writer has heard.
        self._release(self._held.get((storage, event.record.key)))
        if storage not in self._sizes:
            self._count(storage)
            return
        before = 0 if event.previous is None else len(event.previous.data)
        gone = event.change is ChangeType.DELETED
        growth = (0 if gone else len(event.record.data)) - before
        self._sizes[storage] += growth
        self.size += growth
        self.objects += (not gone) - (event.previous is not None)

    def _release(self, held: QuotaReservation | None) -> None:
        if held is not None:
            del self._held[held.place]
            self.objects -= held.objects
            self.size -= held.size


def _label(storage: str) -> str:
    """A kind as people name it."""
    group, _, plural = storage.rpartition("/")
    return f"{plural}.{group}" if group else plural


def _exceeded(storage: str, key: str, account: tuple[str, int, int, int], advice: str) -> Forbidden:
    """The refusal, which names what was asked for, what is used and what is allowed."""
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
    """Whether the object is on its way out."""
    return bool(_deleting(data).metadata.deletionTimestamp)
