"""Garbage collection: deletes or orphans the dependents of deleted objects.

A reconcile pass is about one object and decides by the stored state:

    deleted with "orphan"      the reference is removed from its dependents, then its finalizer
    deleted in the foreground  its dependents are deleted first; its finalizer is removed once no
                               blocking dependent is left
    has owner references       without any existing owner it is deleted; otherwise the references
                               to owners that are gone or wait for it are removed

An owner that cannot be looked up, such as one of a kind that the plane does not serve, counts as
existing: a wrong guess would delete an object in use. The preconditions of every write are the uid
and the resourceVersion that the decision is based on, so that a stale decision is refused.
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
    """The state of an owner that a dependent references."""

    PRESENT = "present"
    WAITING = "waiting for its dependents to be deleted"
    GONE = "gone"


class GarbageCollector:
    """Deletes objects without owners, and finishes deletions that wait for dependents."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._ownership = Ownership()
        self._indexed: set[str] = set()  # resources whose objects are in the index
        # Objects with an owner of a kind that is not served.
        self._undecided: set[ObjectLocation] = set()
        self._gone: set[str] = set()  # uids of deleted owners that are still referenced
        self.worker = KeyedWorker(self._reconcile)

    def start(self) -> None:
        """Index the stored objects and follow all later changes."""
        self.worker.on_close(self._store.listen(self._on_change))
        self.resync()

    def resync(self) -> None:
        """After the served kinds changed: index their objects, and requeue undecided objects."""
        for resource in self._registry.kinds.stored():
            if resource not in self._indexed:
                self._indexed.add(resource)
                for record in self._store.collection(resource).range():
                    self._index(resource, record)
        for location in sorted(self._undecided):
            self.worker.add(location)
        self._undecided.clear()

    def _index(self, resource: str, record: Record) -> None:
        references = owners(record)
        for reference in references:
            self._ownership.add(reference.uid, resource, record.key)
        if references or is_deleting(record):
            self.worker.add(ObjectLocation(resource, record.key))

    def _on_change(self, resource: str, event: ChangeEvent) -> None:
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
            self._requeue_owners(gone.owner_references, key)
        elif changed or is_deleting(event.record):
            self.worker.add(ObjectLocation(resource, key))
            if changed and event.previous is not None:
                self._requeue_owners(owners(event.previous), key)

    def _forget(self, references: Iterable[Reference]) -> None:
        """Forget deleted owners that are no longer referenced."""
        for reference in references:
            if not any(self._ownership.dependents(reference.uid)):
                self._gone.discard(reference.uid)

    def _requeue_owners(self, references: Iterable[Reference], dependent: str) -> None:
        """Requeue owners that may wait for the deletion or the change of this dependent."""
        for reference in references:
            owner = self._location_of(reference, dependent)
            if owner is not None:
                self.worker.add(owner)

    async def _reconcile(self, location: ObjectLocation) -> None:
        record = self._store.find(*location)
        if record is None or location.resource not in self._registry.kinds.stored():
            return
        meta = meta_of(record)
        try:
            if meta.held_by(ORPHAN):
                await self._orphan(location, meta)
            elif meta.held_by(FOREGROUND):
                await self._finish_foreground(location, meta)
            elif meta.owner_references and not meta.deleting:
                await self._resolve_owners(location, record, meta)
        except (NotFound, Conflict):
            # A dependent has changed, or a webhook refused: retry with a delay.
            if self._store.find(*location) is record:
                raise
            self.worker.add(location)  # the object itself has changed: decide again at once

    async def _orphan(self, location: ObjectLocation, meta: LifecycleMetadata) -> None:
        for dependent, record in self._present_dependents(meta):
            kept = [owner for owner in raw_owners(record) if owner["uid"] != meta.uid]
            await self._set_owners(dependent, record, kept)
        await self._release(location, meta, ORPHAN)

    async def _finish_foreground(self, location: ObjectLocation, meta: LifecycleMetadata) -> None:
        blocked = False
        for dependent, record in self._present_dependents(meta):
            other = meta_of(record)
            blocked = blocked or (other.blocks(meta.uid) and not self._waits_for(other, meta))
            if not other.deleting:
                self.worker.add(dependent)
        if not blocked:
            await self._release(location, meta, FOREGROUND)

    def _waits_for(self, dependent: LifecycleMetadata, owner: LifecycleMetadata) -> bool:
        """Whether a dependent that is deleted in the foreground waits for this owner.

        It may wait through other objects. Members of such a cycle do not wait for each other.
        """
        todo, seen = [dependent], set[str]()
        while todo:
            current = todo.pop()
            if current.uid == owner.uid:
                return True
            if current.uid not in seen and current.held_by(FOREGROUND):
                seen.add(current.uid)
                dependents = (meta_of(record) for _, record in self._present_dependents(current))
                todo += [meta for meta in dependents if meta.blocks(current.uid)]
        return False

    async def _resolve_owners(
        self, location: ObjectLocation, record: Record, meta: LifecycleMetadata
    ) -> None:
        """Keep the object, remove some of its owner references, or delete it."""
        if not all(map(self._is_known, meta.owner_references)):
            self._undecided.add(location)
        states = [(o.uid, self._state(o, location.key)) for o in meta.owner_references]
        present = {uid for uid, state in states if state is _Owner.PRESENT}
        lost = {uid for uid, _ in states} - present
        if not lost:
            return
        if present:
            kept = [owner for owner in raw_owners(record) if owner["uid"] not in lost]
            await self._set_owners(location, record, kept)
        elif _is_awaited(states) and self._present_dependents(meta):
            await self._delete(
                location, await self._unblocked(location, record, meta), "Foreground"
            )
        else:
            await self._delete(location, meta, _propagation_of(meta))

    async def _unblocked(
        self, location: ObjectLocation, record: Record, meta: LifecycleMetadata
    ) -> LifecycleMetadata:
        """The object, which no longer blocks its owners if one of its dependents waits too.

        Otherwise objects that own each other in a cycle, all deleted in the foreground, would wait
        for each other indefinitely.
        """
        waiting = any(meta_of(r).held_by(FOREGROUND) for _, r in self._present_dependents(meta))
        blocking = any(owner.block_owner_deletion for owner in meta.owner_references)
        if not (waiting and blocking):
            return meta
        free = [{**owner, "blockOwnerDeletion": False} for owner in raw_owners(record)]
        return meta_of(await self._set_owners(location, record, free))

    def _state(self, reference: Reference, dependent: str) -> _Owner:
        if reference.uid in self._gone:
            return _Owner.GONE  # its kind may be gone too, and then it cannot be looked up
        location = self._location_of(reference, dependent)
        if location is None:
            return _Owner.PRESENT
        record = self._store.find(*location)
        if record is None:
            return _Owner.GONE
        meta = meta_of(record)
        if meta.uid != reference.uid:
            return _Owner.GONE
        return _Owner.WAITING if meta.held_by(FOREGROUND) else _Owner.PRESENT

    def _is_known(self, owner: Reference) -> bool:
        return self._registry.kinds.by_kind(owner.api_version, owner.kind) is not None

    def _location_of(self, reference: Reference, dependent: str) -> ObjectLocation | None:
        """The location of an owner: in the namespace of its dependent, or cluster-scoped.

        None if it is unknown: for a kind that is not served, and for a namespaced owner of an
        object without namespace.
        """
        kind = self._registry.kinds.by_kind(reference.api_version, reference.kind)
        namespace, _, _ = dependent.rpartition("/")
        if kind is None or (kind.resource.namespaced and not namespace):
            return None
        return ObjectLocation(kind.storage, kind.key(namespace, reference.name))

    def _present_dependents(self, meta: LifecycleMetadata) -> list[tuple[ObjectLocation, Record]]:
        dependents = ((p, self._store.find(*p)) for p in self._ownership.dependents(meta.uid))
        return [(location, record) for location, record in dependents if record is not None]

    async def _release(
        self, location: ObjectLocation, meta: LifecycleMetadata, finalizer: str
    ) -> None:
        kept = [name for name in meta.finalizers if name != finalizer]
        await self._patch(location, meta, {"finalizers": kept})

    async def _set_owners(
        self, location: ObjectLocation, record: Record, kept: list[Any]
    ) -> Record:
        return await self._patch(location, meta_of(record), {"ownerReferences": kept})

    async def _patch(
        self, location: ObjectLocation, meta: LifecycleMetadata, change: dict[str, Any]
    ) -> Record:
        kind, namespace, name = self._address(location)
        pinned = {"uid": meta.uid, "resourceVersion": meta.resource_version, **change}
        result = await self._registry.patch(
            kind, namespace, name, PatchType.MERGE, {"metadata": pinned}, _WRITE
        )
        return result.record

    async def _delete(
        self, location: ObjectLocation, meta: LifecycleMetadata, propagation: Propagation
    ) -> None:
        kind, namespace, name = self._address(location)
        options = DeleteOptions(
            uid=meta.uid, resource_version=meta.resource_version, propagation=propagation
        )
        await self._registry.delete(kind, namespace, name, options)

    def _address(self, location: ObjectLocation) -> tuple[Kind, str, str]:
        namespace, _, name = location.key.rpartition("/")
        return self._registry.kinds.stored()[location.resource], namespace, name


def _is_awaited(states: Iterable[tuple[str, _Owner]]) -> bool:
    return any(state is _Owner.WAITING for _, state in states)


def _propagation_of(meta: LifecycleMetadata) -> Propagation:
    """The propagation of a deletion by the collector: that of the object's finalizers, if any."""
    if ORPHAN in meta.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in meta.finalizers else "Background"
