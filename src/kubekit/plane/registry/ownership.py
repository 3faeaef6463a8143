"""Owner references: an index of dependents by owner, updated by every change.

An owner is identified by its uid, since its name may have belonged to another object before. The
index has dependents only; the store has the owners. The keys are the strings of the store, so that a
dependent costs one entry of a set.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from kubekit.plane.store.records import ChangeEvent, Record

_OWNED: Final = b'"ownerReferences":['
_DELETING: Final = b'"deletionTimestamp":'


class Reference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One owner reference of a dependent."""

    api_version: str
    kind: str
    name: str
    uid: str
    block_owner_deletion: bool | None = None


class LifecycleMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of an object that garbage collection depends on."""

    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str = ""
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[Reference, ...] = ()

    @property
    def deleting(self) -> bool:
        return bool(self.deletion_timestamp)

    def blocks(self, owner: str) -> bool:
        """Whether the deletion of this owner has to wait for this object."""
        return any(o.uid == owner and o.block_owner_deletion for o in self.owner_references)

    def held_by(self, finalizer: str) -> bool:
        """Whether it is being deleted and this finalizer still holds it."""
        return self.deleting and finalizer in self.finalizers


class _Document(msgspec.Struct, frozen=True, gc=False):
    metadata: LifecycleMetadata


class ObjectLocation(NamedTuple):
    """The resource and the key of a stored object."""

    resource: str
    key: str


_decoder: Final = msgspec.json.Decoder(_Document)


def meta_of(record: Record) -> LifecycleMetadata:
    """The metadata of a stored object."""
    return _decoder.decode(record.data).metadata


def is_deleting(record: Record) -> bool:
    """Whether the object is being deleted. Most records need no decoding to decide it."""
    return _DELETING in record.data and meta_of(record).deleting


class Ownership:
    """The dependents of each owner."""

    def __init__(self) -> None:
        self._dependents: dict[str, dict[str, set[str]]] = {}

    def note(self, resource: str, event: ChangeEvent) -> bool:
        """Apply one change. Returns whether it changed the owners; most changes do not."""
        if event.keeps_links:
            return False
        before = owners(event.previous)
        after = () if event.change == "DELETED" else owners(event.record)
        if before == after:
            return False
        for reference in before:
            self._forget(reference.uid, resource, event.record.key)
        for reference in after:
            self.add(reference.uid, resource, event.record.key)
        return True

    def add(self, owner: str, resource: str, key: str) -> None:
        self._dependents.setdefault(owner, {}).setdefault(resource, set()).add(key)

    def dependents(self, owner: str) -> Iterator[ObjectLocation]:
        """All objects that reference this owner, in a deterministic order."""
        for resource, keys in self._dependents.get(owner, {}).items():
            for key in sorted(keys):
                yield ObjectLocation(resource, key)

    def _forget(self, owner: str, resource: str, key: str) -> None:
        by_resource = self._dependents.get(owner, {})
        keys = by_resource.get(resource, set())
        keys.discard(key)
        if not keys:
            by_resource.pop(resource, None)
        if not by_resource:
            self._dependents.pop(owner, None)


def owners(record: Record | None) -> tuple[Reference, ...]:
    """The owner references of an object; none for a missing object."""
    if record is None or _OWNED not in record.data:
        return ()
    return meta_of(record).owner_references


def raw_owners(record: Record) -> list[Any]:
    """The owner references as stored, to be written back."""
    metadata = msgspec.json.decode(record.data)["metadata"]
    references: list[Any] = metadata.get("ownerReferences", [])
    return references
