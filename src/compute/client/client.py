"""The typed client: our classes over any door to a plane.

What is read is a view: fields that a newer server knows are not in it. So a write never sends a
whole object back; `patch` and `patch_status` send what differs between two views, bound to the
version that was read, and send nothing when nothing differs. A list in a document is one value to
a merge patch, so a list that differs is sent whole.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, TypeVar

import msgspec

from compute.api import scheme
from compute.api.errors import NotFound
from compute.api.meta import ListMeta, Object
from compute.client.options import (
    EVERYTHING,
    PLAIN_DELETE,
    PLAIN_WATCH,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from compute.client.transport import Change, Document, Place, Transport, WatchEvent

K = TypeVar("K", bound=Object)
Part = Literal["", "status"]

_STATUS: Final = frozenset({"status"})


@dataclass(frozen=True, slots=True)
class Listing(Generic[K]):
    """One page of a collection. An empty ``continue_`` means that nothing is left."""

    items: tuple[K, ...]
    resource_version: str
    continue_: str = ""


@dataclass(frozen=True, slots=True)
class Seen(Generic[K]):
    """One change of a watch. A bookmark has no object, only how far the watch has come."""

    type: Change
    object: K | None
    resource_version: str


class Client:
    """A plane, in our classes. ``raw`` is the door below, for kinds that have no class."""

    def __init__(self, raw: Transport) -> None:
        self.raw = raw

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        return _read(kind, await self.raw.get(Place(kind.RESOURCE, namespace, name)))

    async def find(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """The object, or None when nothing has that name."""
        try:
            return await self.get(kind, name, namespace)
        except NotFound:
            return None

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        document = await self.raw.list(Place(kind.RESOURCE, namespace), options)
        meta = msgspec.convert(document["metadata"], ListMeta)
        items = tuple(_read(kind, item) for item in document["items"] or ())
        return Listing(items, meta.resource_version, meta.continue_)

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[Seen[K]]]:
        """The changes. The stream is open once the context is entered; leaving it closes it."""
        async with self.raw.watch(Place(kind.RESOURCE, namespace), options) as events:
            yield (_seen(kind, event) async for event in events)

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        document = _document(obj)
        return _read(type(obj), await self.raw.create(_collection_of(obj), document, options))

    async def patch(self, existing: K, desired: K, options: WriteOptions = PLAIN_WRITE) -> K:
        """The object once everything but its status is as desired.

        A `Conflict` says that somebody wrote it since ``existing`` was read.
        """
        return await self._write(existing, difference(existing, desired), "", options)

    async def patch_status(self, existing: K, desired: K, options: WriteOptions = PLAIN_WRITE) -> K:
        """The object once its status is as desired; `patch` writes the rest."""
        patch = difference(existing, desired, part="status")
        return await self._write(existing, patch, "status", options)

    async def delete(self, obj: K, options: DeleteOptions = PLAIN_DELETE) -> None:
        """Remove this very object, and no later one of its name.

        The uid goes along with every request, whatever the options say.
        """
        await self.raw.delete(_place_of(obj), replace(options, uid=obj.metadata.uid))

    async def _write(self, existing: K, patch: Document, part: Part, options: WriteOptions) -> K:
        if not patch:
            return existing
        place = replace(_place_of(existing), subresource=part)
        bound = {"resourceVersion": existing.metadata.resource_version}
        patch = patch | {"metadata": patch.get("metadata", {}) | bound}
        written = await self.raw.patch(place, PatchType.MERGE, patch, options)
        return _read(type(existing), written)


def difference(existing: K, desired: K, *, part: Part = "") -> Document:
    """The merge patch that makes one the other, in one part; empty when they do not differ there.

    With ``part="status"`` the status alone, else everything but the status: a server takes them
    by different paths.
    """
    before, after = _document(existing), _document(desired)
    if before.get("status") != after.get("status") and _says_nothing(existing):
        # The view shows counters at zero where the server may have no status at all; what is equal
        # must be sent too then, for the schema requires it.
        before.pop("status", None)
    patch = _merge(before, after)
    wanted = patch.keys() & _STATUS if part else patch.keys() - _STATUS
    return {name: value for name, value in patch.items() if name in wanted}


def _says_nothing(obj: Object) -> bool:
    """Whether the status is what a class makes of an absent one."""
    status = getattr(obj, "status", None)
    return status is not None and status == type(status)()


def _merge(existing: Document, desired: Document) -> Document:
    removed: Document = {name: None for name in existing if name not in desired}
    changed = {
        name: _merged(existing.get(name), value)
        for name, value in desired.items()
        if name not in existing or existing[name] != value
    }
    return removed | changed


def _merged(existing: object, desired: object) -> object:
    if isinstance(existing, dict) and isinstance(desired, dict):
        return _merge(existing, desired)
    return desired


def _document(obj: Object) -> Document:
    """The object as plain JSON values; a document that its receiver may keep and change."""
    document: Document = msgspec.to_builtins(obj, str_keys=True)
    return document


def _read(kind: type[K], document: Document) -> K:
    return scheme.decode_as(kind, document)


def _seen(kind: type[K], event: WatchEvent) -> Seen[K]:
    version = event.object["metadata"]["resourceVersion"]
    # A bookmark's object has no spec, which a class may require.
    obj = None if event.type == "BOOKMARK" else _read(kind, event.object)
    return Seen(event.type, obj, version)


def _collection_of(obj: Object) -> Place:
    return Place(obj.RESOURCE, obj.metadata.namespace)


def _place_of(obj: Object) -> Place:
    return Place(obj.RESOURCE, obj.metadata.namespace, obj.metadata.name)
