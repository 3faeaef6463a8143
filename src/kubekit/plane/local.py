"""The in-process transport: requests go straight to a plane's registry, without a socket.

Documents are passed by value, as over a network. A caller's document is encoded as JSON and decoded
by the decoder that reads HTTP requests. So the plane refuses the same documents as over HTTP, and
the caller and the plane never share a dict.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from kubekit.api import errors, scheme
from kubekit.api.errors import BadRequest, MethodNotAllowed, NotFound, TooLarge
from kubekit.api.status import Status, StatusDetails
from kubekit.client import writing
from kubekit.client.client import Client
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_WATCH,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.reading import K, Listing, TypedEvent, read_notice, read_records, read_shared
from kubekit.client.transport import Change, Document, ResourceLocation, WatchEvent
from kubekit.plane.plane import Plane
from kubekit.plane.registry import body_decoder
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.subresources import check_subresource
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent, Watch
from kubekit.plane.registry.virtual_kinds import VirtualRequest
from kubekit.plane.store.records import Record
from kubekit.plane.users import PLANE_USER, User

_NOT_FOUND: Final = "the server could not find the requested resource"
_LONGEST: Final = 3 * 1024 * 1024  # bytes of a document, as in a request's body


class RequestGate(Protocol):
    """A check before each request, for tests and simulations of a network that can fail."""

    def check(self) -> None:
        """Raise an error to refuse the request."""
        ...

    def track(self, watch: Watch) -> None:
        """Called with each opened watch, so that the gate can end it later."""
        ...


class LocalTransport:
    """All verbs on one plane, in its own process and on its own loop.

    ``user`` is passed to admission plugins; requests are not authorized. ``manager`` is the field
    manager of writes without one.
    """

    def __init__(
        self,
        plane: Plane,
        user: User = PLANE_USER,
        manager: str = "compute",
        gates: Sequence[RequestGate] = (),
    ) -> None:
        self._plane = plane
        self._registry = plane.registry
        self._user = user
        self._manager = manager
        self._gates = gates
        self._plain = replace(PLAIN_WRITE, field_manager=manager)

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document:
        return _document(self.record(location, resource_version))

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document:
        return _listing(self._kind(location), await self.page(location, options))

    @asynccontextmanager
    async def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        async with self.encoded_events(location, options) as encoded:
            events = (_event(each) async for each in encoded)
            async with aclosing(events):
                yield events

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self._check()
        if location.subresource or self.is_virtual(location):
            return await self._create_virtual(location, document, options)
        return _document(await self.create_encoded(location, _encoded(document), options))

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self._check()
        kind = self._object_kind(location)
        written = await self._registry.update(
            kind,
            location.namespace,
            location.name,
            _copy_of_object(document),
            self._with_manager(options),
            location.subresource,
            self._user,
        )
        return _document(written.record)

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        return _document(await self.patched(location, kind, patch, options))

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        self._check()
        kind = self._object_kind(location)
        deleted = await self._registry.delete(
            kind, location.namespace, location.name, options, self._user
        )
        document = _document(deleted.record)
        return _deletion_status(kind, document) if deleted.gone else document

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        self._check()
        kind = self._collection_kind(location)
        page = await self._registry.delete_collection(
            kind, location.namespace, which, options, self._user
        )
        return _listing(kind, page)

    async def _create_virtual(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        request = VirtualRequest(
            kind=self._served_kind(location),
            namespace=location.namespace,
            name=location.name,
            subresource=location.subresource,
            document=_copy_of_object(document),
            user=self._user,
            dry_run=options.dry_run,
            field_validation=options.field_validation,
        )
        if location.subresource and location.subresource not in request.kind.virtual_subresources:
            raise NotFound(_NOT_FOUND)
        return await self._registry.handle_virtual(request)

    # The methods below serve `RecordClient`, which decodes its objects from the stored bytes.

    def record(self, location: ResourceLocation, resource_version: str = "") -> Record:
        self._check()
        kind = self._object_kind(location)
        if location.subresource == "scale":
            return self._registry.get_scale(kind, location.namespace, location.name)
        return self._registry.get(kind, location.namespace, location.name, resource_version)

    async def page(self, location: ResourceLocation, options: ListOptions) -> Page:
        self._check()
        return await self._registry.list(self._kind(location), location.namespace, options)

    @asynccontextmanager
    async def encoded_events(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[EncodedWatchEvent]]:
        watch = await self.open_watch(location, options)
        try:
            async with aclosing(_encoded_events(watch)) as encoded:
                yield encoded
        finally:
            watch.close()

    async def open_watch(self, location: ResourceLocation, options: WatchOptions) -> Watch:
        self._check()
        kind = self._kind(location)
        watch = await self._registry.watch(kind, location.namespace, options, location.name)
        for gate in self._gates:
            gate.track(watch)
        return watch

    def is_virtual(self, location: ResourceLocation) -> bool:
        """Whether the kind is virtual: creating an object returns a result, and stores nothing."""
        return self._served_kind(location).virtual

    async def create_encoded(
        self, location: ResourceLocation, body: bytes, options: WriteOptions
    ) -> Record:
        self._check()
        kind = self._collection_kind(location)
        document = _decoded_object(body)
        written = await self._registry.create(
            kind, location.namespace, document, self._with_manager(options), self._user
        )
        return written.record

    async def patched(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Record:
        self._check()
        written = await self._registry.patch(
            self._object_kind(location),
            location.namespace,
            location.name,
            kind,
            _copy(patch),
            options if kind is PatchType.APPLY else self._with_manager(options),
            location.subresource,
            self._user,
        )
        return written.record

    def _check(self) -> None:
        for gate in self._gates:
            gate.check()

    def _with_manager(self, options: WriteOptions) -> WriteOptions:
        """The options with a field manager."""
        if options is PLAIN_WRITE:
            return self._plain
        return options if options.field_manager else replace(options, field_manager=self._manager)

    def _kind(self, location: ResourceLocation) -> Kind:
        """The kind of stored objects at a location."""
        kind = self._served_kind(location)
        if kind.virtual:
            raise NotFound(_NOT_FOUND) if location.name else _not_allowed()
        return kind

    def _served_kind(self, location: ResourceLocation) -> Kind:
        resource = location.resource
        kind = self._plane.kinds.find(resource.group, resource.version, resource.plural)
        if kind is None or (location.namespace and not kind.resource.namespaced):
            raise NotFound(_NOT_FOUND)
        return kind

    def _object_kind(self, location: ResourceLocation) -> Kind:
        """The kind at a location, which must be of one object or of one of its subresources."""
        kind = self._kind(location)
        if not location.name or (kind.resource.namespaced and not location.namespace):
            raise NotFound(_NOT_FOUND)
        check_subresource(kind, location.subresource)
        return kind

    def _collection_kind(self, location: ResourceLocation) -> Kind:
        """The kind at a location, which must be a single collection."""
        kind = self._kind(location)
        if kind.resource.namespaced and not location.namespace:
            raise _not_allowed()
        return kind


class RecordClient(Client):
    """A typed client without a socket. Its most frequent calls decode stored bytes, not dicts."""

    def __init__(self, transport: LocalTransport) -> None:
        self._transport = transport
        super().__init__(transport)

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        record = self._transport.record(ResourceLocation(kind.RESOURCE, namespace, name))
        return read_shared(kind, record.data)

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        page = await self._transport.page(ResourceLocation(kind.RESOURCE, namespace), options)
        documents = [record.data for record in page.records]
        return read_records(kind, documents, str(page.revision), page.continue_)

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        async with self._transport.encoded_events(
            ResourceLocation(kind.RESOURCE, namespace), options
        ) as encoded:
            events = (read_notice(kind, _change(each), each.data) async for each in encoded)
            async with aclosing(events):
                yield events

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        location = ResourceLocation(obj.RESOURCE, obj.metadata.namespace)
        if self._transport.is_virtual(location):
            return await super().create(obj, options)
        record = await self._transport.create_encoded(location, scheme.encode(obj), options)
        return read_shared(type(obj), record.data)

    async def merge(
        self, kind: type[K], location: ResourceLocation, patch: Document, options: WriteOptions
    ) -> K:
        record = await self._transport.patched(location, PatchType.MERGE, patch, options)
        return read_shared(kind, record.data)


class LocalClient(RecordClient):
    """The client of a plane in the same process."""

    def __init__(
        self,
        plane: Plane,
        user: User = PLANE_USER,
        manager: str = "compute",
        gates: Sequence[RequestGate] = (),
    ) -> None:
        super().__init__(LocalTransport(plane, user, manager, gates))


def _not_allowed() -> MethodNotAllowed:
    return MethodNotAllowed("the server does not allow this method on the requested resource")


async def _encoded_events(watch: Watch) -> AsyncGenerator[EncodedWatchEvent, None]:
    """The events of a watch. They are taken from it only when the caller asks for the next one."""
    wake = asyncio.Event()
    watch.ready = wake.set
    while True:
        wake.clear()
        for event in (taken := watch.take()):
            yield event
        if taken:
            continue
        if watch.ended:
            return
        await wake.wait()


def _event(event: EncodedWatchEvent) -> WatchEvent:
    return WatchEvent(_change(event), msgspec.json.decode(event.data))


def _change(event: EncodedWatchEvent) -> Change:
    """The type of the change. The error that ends a stream is raised."""
    if event.type == "ERROR":
        raise errors.from_status(scheme.decode_as(Status, event.data))
    return event.type


def _document(record: Record) -> Document:
    document: Document = msgspec.json.decode(record.data)
    return document


def _listing(kind: Kind, page: Page) -> Document:
    metadata: Document = {"resourceVersion": str(page.revision)}
    if page.continue_:
        metadata["continue"] = page.continue_
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    return {
        "apiVersion": kind.resource.api_version,
        "kind": kind.list_kind,
        "metadata": metadata,
        "items": [_document(record) for record in page.records],
    }


def _deletion_status(kind: Kind, document: Document) -> Document:
    """The response to a delete that removed the object."""
    metadata = document["metadata"]
    subject = StatusDetails(
        name=metadata["name"],
        group=kind.resource.group,
        kind=kind.resource.plural,
        uid=metadata["uid"],
    )
    status: Document = msgspec.to_builtins(Status(status="Success", details=subject))
    return status


def _copy_of_object(document: object) -> Document:
    return _decoded_object(_encoded(document))


def _copy(value: object) -> object:  # as HTTP would have transferred it
    return body_decoder.read_own(_encoded(value))


def _decoded_object(body: bytes) -> Document:
    document = body_decoder.read_own(body)
    if not isinstance(document, dict):
        raise BadRequest("the document is not an object")
    return document


def _encoded(value: object) -> bytes:
    body = writing.encoded(value)
    if len(body) > _LONGEST:
        raise TooLarge(f"the document has {len(body)} bytes, at most {_LONGEST} are accepted")
    return body
