"""Garbage collection: what belonged to an object goes with it, in the way the deletion asked for.

The collector looks at one object at a time and decides by what is stored:

    deleted with "orphan"      its dependents forget it, then its finalizer is taken off
    deleted in the foreground  its dependents go first; the finalizer is taken off when none of
                               those that block it is left
    names owners               without any owner left it is deleted; otherwise it forgets those
                               that are gone or are waiting for it to go

An owner that nobody can look for, such as one of a kind that the plane does not serve, is taken to
be there: a wrong guess would delete what somebody needs. Every write names the uid and the version it was
decided on, so that a stale decision is refused instead of carried out.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from kubekit.api.errors import Conflict, NotFound
from kubekit.api.finalizers import FOREGROUND
from kubekit.client.options import DeleteOptions, PatchType, Propagation, WriteOptions
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.ownership import (
    LifecycleMetadata,
    ObjectLocation,
    Ownership,
    Reference,
    is_deleting,
    meta_of,
    owners,
    raw_owners,
)
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.rules.metadata_rules import ORPHAN
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.store import Store

_WRITE: Final = WriteOptions(field_manager="garbage-collector")


class _Owner(Enum):
    """What a dependent finds where it names an owner."""

    THERE = "there"
    WAITING = "waiting for its dependents to go"
    GONE = "gone"


class GarbageCollector:
    """Deletes what has lost its owners, and finishes deletions that wait for dependents."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._ownership = Ownership()
        self._learned: set[str] = set()  # what is stored and was looked through
        self._undecided: set[ObjectLocation] = (
            set()
        )  # whose owners are of a kind that nobody serves
        self._gone: set[str] = set()  # owners that went while others named them
        self.worker = KeyedWorker(self._look)

    def start(self) -> None:
        """Learn what is stored and follow what changes from here on."""
        self.worker.on_close(self._store.listen(self._heard))
        self.look_around()

    def look_around(self) -> None:
        """Other kinds are served than before: learn what is stored of them, and who waited."""
        for resource in self._registry.kinds.stored():
            if resource not in self._learned:
                self._learned.add(resource)
                for record in self._store.collection(resource).range():
                    self._learn(resource, record)
        for place in sorted(self._undecided):
            self.worker.add(place)
        self._undecided.clear()

    def _learn(self, resource: str, record: Record) -> None:
        references = owners(record)
        for reference in references:
            self._ownership.add(reference.uid, resource, record.key)
        if references or is_deleting(record):
            self.worker.add(ObjectLocation(resource, record.key))

    def _heard(self, resource: str, event: ChangeEvent) -> None:
        changed = self._ownership.note(resource, event)
        if changed and self._gone:
            self._forget(owners(event.previous))
        key = event.record.key
        if event.change is ChangeType.DELETED:
            self._undecided.discard(ObjectLocation(resource, key))
            gone = meta_of(event.record)
            for dependent in self._ownership.dependents(gone.uid):
                self._gone.add(gone.uid)
                self.worker.add(dependent)
            self._look_at_owners(gone.owner_references, key)
        elif changed or is_deleting(event.record):
            self.worker.add(ObjectLocation(resource, key))
            if changed and event.previous is not None:
                self._look_at_owners(owners(event.previous), key)

    def _forget(self, references: Iterable[Reference]) -> None:
        """Owners that went and that nobody names any more need not be remembered."""
        for reference in references:
            if not any(self._ownership.dependents(reference.uid)):
                self._gone.discard(reference.uid)

    def _look_at_owners(self, references: Iterable[Reference], dependent: str) -> None:
        """They may have waited for this dependent to go, to forget them, or to stop blocking."""
        for reference in references:
            owner = self._place_of(reference, dependent)
            if owner is not None:
                self.worker.add(owner)

    async def _look(self, place: ObjectLocation) -> None:
        record = self._store.find(*place)
        if record is None or place.resource not in self._registry.kinds.stored():
            return
        meta = meta_of(record)
        try:
            if meta.held_by(ORPHAN):
                await self._orphan(place, meta)
            elif meta.held_by(FOREGROUND):
                await self._finish_foreground(place, meta)
            elif meta.owner_references and not meta.deleting:
                await self._judge(place, record, meta)
        except (NotFound, Conflict):
            # A dependent moved on, or a webhook says no so: both are tried again, but not at once.
            if self._store.find(*place) is record:
                raise
            self.worker.add(place)  # it moved on while this was decided

    async def _orphan(self, place: ObjectLocation, meta: LifecycleMetadata) -> None:
        for dependent, record in self._present_dependents(meta):
            kept = [owner for owner in raw_owners(record) if owner["uid"] != meta.uid]
            await self._set_owners(dependent, record, kept)
        await self._release(place, meta, ORPHAN)

    async def _finish_foreground(self, place: ObjectLocation, meta: LifecycleMetadata) -> None:
        blocked = False
        for dependent, record in self._present_dependents(meta):
            found = meta_of(record)
            blocked = blocked or (found.blocks(meta.uid) and not self._waits_for(found, meta))
            if not found.deleting:
                self.worker.add(dependent)
        if not blocked:
            await self._release(place, meta, FOREGROUND)

    def _waits_for(self, dependent: LifecycleMetadata, owner: LifecycleMetadata) -> bool:
        """Whether a dependent, itself waiting in the foreground, waits for this owner to go.

        It may do so through others. Members of such a circle do not wait for each other.
        """
        todo, seen = [dependent], set[str]()
        while todo:
            one = todo.pop()
            if one.uid == owner.uid:
                return True
            if one.uid not in seen and one.held_by(FOREGROUND):
                seen.add(one.uid)
                found = (meta_of(record) for _, record in self._present_dependents(one))
                todo += [meta for meta in found if meta.blocks(one.uid)]
        return False

    async def _judge(self, place: ObjectLocation, record: Record, meta: LifecycleMetadata) -> None:
        """Keep it, let it forget some owners, or delete it."""
        if not all(map(self._is_known, meta.owner_references)):
            self._undecided.add(place)
        states = [(o.uid, self._state(o, place.key)) for o in meta.owner_references]
        there = {uid for uid, state in states if state is _Owner.THERE}
        lost = {uid for uid, _ in states} - there
        if not lost:
            return
        if there:
            kept = [owner for owner in raw_owners(record) if owner["uid"] not in lost]
            await self._set_owners(place, record, kept)
        elif _is_awaited(states) and self._present_dependents(meta):
            await self._delete(place, await self._unblocked(place, record, meta), "Foreground")
        else:
            await self._delete(place, meta, _as_its_finalizers_say(meta))

    async def _unblocked(
        self, place: ObjectLocation, record: Record, meta: LifecycleMetadata
    ) -> LifecycleMetadata:
        """The object, no longer blocking its owners if a dependent waits for its own dependents.

        Objects that own each other in a circle, all deleted in the foreground, would otherwise
        wait for each other for ever.
        """
        waiting = any(meta_of(r).held_by(FOREGROUND) for _, r in self._present_dependents(meta))
        blocking = any(owner.block_owner_deletion for owner in meta.owner_references)
        if not (waiting and blocking):
            return meta
        free = [{**owner, "blockOwnerDeletion": False} for owner in raw_owners(record)]
        return meta_of(await self._set_owners(place, record, free))

    def _state(self, reference: Reference, dependent: str) -> _Owner:
        if reference.uid in self._gone:
            return _Owner.GONE  # its kind may have gone with it, and then nobody could tell
        place = self._place_of(reference, dependent)
        if place is None:
            return _Owner.THERE
        record = self._store.find(*place)
        if record is None:
            return _Owner.GONE
        meta = meta_of(record)
        if meta.uid != reference.uid:
            return _Owner.GONE
        return _Owner.WAITING if meta.held_by(FOREGROUND) else _Owner.THERE

    def _is_known(self, owner: Reference) -> bool:
        return self._registry.kinds.by_kind(owner.api_version, owner.kind) is not None

    def _place_of(self, reference: Reference, dependent: str) -> ObjectLocation | None:
        """Where an owner must be: beside its dependent, or outside all namespaces.

        None where nobody can tell: for a kind that is not served, and for a namespaced owner of
        an object without namespace.
        """
        kind = self._registry.kinds.by_kind(reference.api_version, reference.kind)
        namespace, _, _ = dependent.rpartition("/")
        if kind is None or (kind.resource.namespaced and not namespace):
            return None
        return ObjectLocation(kind.storage, kind.key(namespace, reference.name))

    def _present_dependents(self, meta: LifecycleMetadata) -> list[tuple[ObjectLocation, Record]]:
        found = ((p, self._store.find(*p)) for p in self._ownership.dependents(meta.uid))
        return [(place, record) for place, record in found if record is not None]

    async def _release(
        self, place: ObjectLocation, meta: LifecycleMetadata, finalizer: str
    ) -> None:
        kept = [name for name in meta.finalizers if name != finalizer]
        await self._patch(place, meta, {"finalizers": kept})

    async def _set_owners(self, place: ObjectLocation, record: Record, kept: list[Any]) -> Record:
        return await self._patch(place, meta_of(record), {"ownerReferences": kept})

    async def _patch(
        self, place: ObjectLocation, meta: LifecycleMetadata, change: dict[str, Any]
    ) -> Record:
        kind, namespace, name = self._address(place)
        pinned = {"uid": meta.uid, "resourceVersion": meta.resource_version, **change}
        written = await self._registry.patch(
            kind, namespace, name, PatchType.MERGE, {"metadata": pinned}, _WRITE
        )
        return written.record

    async def _delete(
        self, place: ObjectLocation, meta: LifecycleMetadata, propagation: Propagation
    ) -> None:
        kind, namespace, name = self._address(place)
        options = DeleteOptions(
            uid=meta.uid, resource_version=meta.resource_version, propagation=propagation
        )
        await self._registry.delete(kind, namespace, name, options)

    def _address(self, place: ObjectLocation) -> tuple[Kind, str, str]:
        namespace, _, name = place.key.rpartition("/")
        return self._registry.kinds.stored()[place.resource], namespace, name


def _is_awaited(states: Iterable[tuple[str, _Owner]]) -> bool:
    return any(state is _Owner.WAITING for _, state in states)


def _as_its_finalizers_say(meta: LifecycleMetadata) -> Propagation:
    """How an object wants to go that nobody asked about: by the wish on it, if it carries one."""
    if ORPHAN in meta.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in meta.finalizers else "Background"
