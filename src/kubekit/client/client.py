"""The typed client: our classes over any transport.

An object that was read is a view: it lacks the fields that only a newer server knows. So a write never
sends a whole object back. `patch` and `patch_status` send the difference between two views
(`differences`), bound to the version that was read, and send nothing when nothing differs.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import chain
from types import TracebackType
from typing import Self, overload

import msgspec
from msgspec.structs import replace

from kubekit.api import scheme
from kubekit.api.errors import Expired, NotFound
from kubekit.api.meta import ListMeta, Object
from kubekit.client.differences import Part, difference
from kubekit.client.options import (
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
from kubekit.client.reading import (
    K,
    Listing,
    TypedEvent,
    UnreadableObject,
    read_event,
    read_listing,
)
from kubekit.client.transport import Document, ResourceLocation, Transport

__all__ = [
    "Client",
    "K",
    "Listing",
    "Part",
    "TypedEvent",
    "UnreadableObject",
    "difference",
    "next_page",
]


class Client:
    """A client of one API server. ``raw`` is its transport, for kinds that have no class."""

    def __init__(self, raw: Transport) -> None:
        self.raw = raw

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections of the transport, if it has any."""

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        return _read(kind, await self.raw.get(ResourceLocation(kind.RESOURCE, namespace, name)))

    async def find(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """The object, or None when nothing has that name."""
        try:
            return await self.get(kind, name, namespace)
        except NotFound:
            return None

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        """One page. Objects that the class cannot read are in its ``unreadable``; they raise no error."""
        document = await self.raw.list(ResourceLocation(kind.RESOURCE, namespace), options)
        meta = msgspec.convert(document["metadata"], ListMeta)
        items = document["items"] or ()
        return read_listing(kind, items, meta.resource_version, meta.continue_)

    async def every(
        self,
        kind: type[K],
        namespace: str = "",
        options: ListOptions = EVERYTHING,
        page: int = 500,
    ) -> Listing[K]:
        """The whole collection at one version, listed in pages; other tasks run between them.

        If the version expires on the way, the list starts again, once, with a newer one.
        """
        options = replace(options, limit=page)
        pages: list[Listing[K]] = []
        restarts = 0
        next_options = options
        while not pages or pages[-1].continue_:
            try:
                pages.append(await self.list(kind, namespace, next_options))
            except Expired:
                if not pages or restarts:
                    raise
                next_options, pages, restarts = options, [], restarts + 1
            else:
                next_options = next_page(options, pages[-1].continue_)
            await asyncio.sleep(0)
        items = tuple(chain.from_iterable(listing.items for listing in pages))
        unreadable = tuple(chain.from_iterable(listing.unreadable for listing in pages))
        return Listing(items, pages[-1].resource_version, unreadable=unreadable)

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        """The events. The stream is open once the context is entered; leaving it closes it."""
        async with self.raw.watch(ResourceLocation(kind.RESOURCE, namespace), options) as events:
            typed_events = (read_event(kind, event.type, event.object) async for event in events)
            async with aclosing(typed_events):
                yield typed_events

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        document = _document(obj)
        return _read(type(obj), await self.raw.create(_collection_of(obj), document, options))

    async def patch(self, existing: K, desired: K, options: WriteOptions = PLAIN_WRITE) -> K:
        """The object once everything but its status is as desired.

        A `Conflict` means that the object was written since ``existing`` was read.
        """
        return await self._write(existing, difference(existing, desired), "", options)

    async def patch_status(self, existing: K, desired: K, options: WriteOptions = PLAIN_WRITE) -> K:
        """The object once its status is as desired; `patch` writes the rest."""
        patch = difference(existing, desired, part="status")
        return await self._write(existing, patch, "status", options)

    @overload
    async def apply(self, obj: K, manager: str, *, force: bool = False) -> K: ...

    @overload
    async def apply(self, obj: Document, manager: str, *, force: bool = False) -> Document: ...

    async def apply(self, obj: K | Document, manager: str, *, force: bool = False) -> K | Document:
        """The object after a server-side apply of these fields, which ``manager`` owns from now on.

        Fields that the manager applied before and leaves out now are removed. A `Conflict` names the
        other owners of a field; ``force`` takes the field from them. Default values of a typed object
        are not applied, nor is its status. A document must be of a kind that has a class; ``raw``
        takes the others.
        """
        options = WriteOptions(field_manager=manager, force=force)
        if isinstance(obj, Object):
            location, document = _location_of(obj), _apply_document(obj)
            written = await self.raw.patch(location, PatchType.APPLY, document, options)
            return _read(type(obj), written)
        return await self.raw.patch(_location_in(obj), PatchType.APPLY, obj, options)

    async def delete(self, obj: K, options: DeleteOptions = PLAIN_DELETE) -> None:
        """Delete the object with this uid, never a later object of the same name.

        The uid is a precondition of every request, whatever the options are.
        """
        await self.raw.delete(_location_of(obj), replace(options, uid=obj.metadata.uid))

    async def _write(self, existing: K, patch: Document, part: Part, options: WriteOptions) -> K:
        if not patch:
            return existing
        meta = existing.metadata
        patch.setdefault("metadata", {})["resourceVersion"] = meta.resource_version
        location = ResourceLocation(existing.RESOURCE, meta.namespace, meta.name, part)
        return await self.merge(type(existing), location, patch, options)

    async def merge(
        self, kind: type[K], location: ResourceLocation, patch: Document, options: WriteOptions
    ) -> K:
        """The object after a merge patch. `patch` and `patch_status` compute the patch."""
        return _read(kind, await self.raw.patch(location, PatchType.MERGE, patch, options))


def next_page(options: ListOptions, continue_: str) -> ListOptions:
    """The options for the next page. The continue token contains the version."""
    return replace(options, continue_=continue_, resource_version="", resource_version_match="")


def _document(obj: Object) -> Document:
    """The object as plain JSON values, which the transport may keep and change."""
    document: Document = msgspec.to_builtins(obj, str_keys=True)
    return document


def _read(kind: type[K], document: Document) -> K:
    return scheme.decode_as(kind, document)


def _apply_document(obj: Object) -> Document:
    document = _document(obj)
    # The server tracks the owners of fields, and a status subresource is written by its own path.
    document["metadata"].pop("managedFields", None)
    if obj.RESOURCE.status:
        document.pop("status", None)
    return document


def _collection_of(obj: Object) -> ResourceLocation:
    return ResourceLocation(obj.RESOURCE, obj.metadata.namespace)


def _location_of(obj: Object) -> ResourceLocation:
    return ResourceLocation(obj.RESOURCE, obj.metadata.namespace, obj.metadata.name)


def _location_in(document: Document) -> ResourceLocation:
    # Not as its class, because an applied document may be partial.
    head = msgspec.convert(document, Object)
    kind = scheme.lookup(head.api_version, head.kind)
    if kind is None:
        raise scheme.UnknownKind(head.api_version, head.kind)
    return ResourceLocation(kind.RESOURCE, head.metadata.namespace, head.metadata.name)
