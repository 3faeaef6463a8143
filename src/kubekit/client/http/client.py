"""The typed client over HTTP. Frequent requests are decoded from bytes without a dict in between.

An object that its class cannot read takes the slower path of `client.reading`, which names it.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import Any, Final

import msgspec

from kubekit.api import scheme
from kubekit.api.meta import ListMeta
from kubekit.client.client import Client
from kubekit.client.connection import Connection
from kubekit.client.http.bodies import UNREADABLE
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.transport import DEFAULT, HttpTransport
from kubekit.client.http.watch_streams import WatchLines, split
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_WATCH,
    PLAIN_WRITE,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.reading import K, Listing, TypedEvent, read_event, read_listing
from kubekit.client.transport import Document, ResourceLocation
from kubekit.environment import ExecutionEnvironment

_OBJECTS: Final = ("ADDED", "MODIFIED", "DELETED")


class HttpClient(Client):
    """A typed client of an API server. Create it on a running loop; `close` it, or use it as a context."""

    def __init__(
        self,
        connection: Connection,
        environment: ExecutionEnvironment,
        settings: HttpSettings = DEFAULT,
    ) -> None:
        self._transport = HttpTransport(connection, environment, settings)
        super().__init__(self._transport)

    async def close(self) -> None:
        """Close all connections, also those in use."""
        await self._transport.close()

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        body = await self._transport.get_encoded(ResourceLocation(kind.RESOURCE, namespace, name))
        return scheme.decode_as(kind, body)

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        location = ResourceLocation(kind.RESOURCE, namespace)
        body = await self._transport.list_encoded(location, options)
        try:
            return _page(kind, body)
        except UNREADABLE as error:
            raise self._transport.malformed(location, "its answer is no list") from error

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        location = ResourceLocation(kind.RESOURCE, namespace)
        async with (
            self._transport.lines(location, options) as stream,
            aclosing(_changes(kind, stream)) as changes,
        ):
            yield changes

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        location = ResourceLocation(obj.RESOURCE, obj.metadata.namespace)
        body = await self._transport.create_encoded(location, scheme.encode(obj), options)
        return scheme.decode_as(type(obj), body)

    async def merge(
        self, kind: type[K], location: ResourceLocation, patch: Document, options: WriteOptions
    ) -> K:
        body = self._transport.encoded(patch)
        written = await self._transport.patch_encoded(location, PatchType.MERGE, body, options)
        return scheme.decode_as(kind, written)


class _RawPage(msgspec.Struct, frozen=True):
    metadata: ListMeta
    items: tuple[msgspec.Raw, ...] | None = None


_RAW_PAGES: Final = msgspec.json.Decoder(_RawPage)


@cache
def _pages(kind: type[K]) -> "msgspec.json.Decoder[Any]":
    """The decoder of a whole page of a kind."""
    items: Any = tuple[kind, ...] | None  # type: ignore[valid-type]  # made at run time
    page = msgspec.defstruct("Page", (("metadata", ListMeta), ("items", items)), frozen=True)
    return msgspec.json.Decoder(page)


@cache
def _events(kind: type[K]) -> "msgspec.json.Decoder[Any]":
    """The decoder of a whole event of a kind."""
    fields = [("type", str), ("object", kind)]
    return msgspec.json.Decoder(msgspec.defstruct("Event", fields, frozen=True))


def _page(kind: type[K], body: bytes) -> Listing[K]:
    try:
        page = _pages(kind).decode(body)
    except UNREADABLE:
        raw = _RAW_PAGES.decode(body)
        documents = (bytes(item) for item in raw.items or ())
        meta = raw.metadata
        return read_listing(kind, documents, meta.resource_version, meta.continue_)
    return Listing(page.items or (), page.metadata.resource_version, page.metadata.continue_)


async def _changes(kind: type[K], stream: WatchLines) -> AsyncGenerator[TypedEvent[K], None]:
    decode = _events(kind).decode
    async for line in stream:
        try:
            event = decode(line)
        except UNREADABLE:
            yield _read_separately(kind, line, stream)
            continue
        own = event.object.metadata
        if event.type in _OBJECTS:
            yield TypedEvent(
                event.type, event.object, own.resource_version, own.namespace, own.name
            )
        else:
            yield _read_separately(kind, line, stream)


def _read_separately(kind: type[K], line: memoryview, stream: WatchLines) -> TypedEvent[K]:
    """A bookmark, or an object that its class cannot read as it stands."""
    change = split(line, stream)
    return read_event(kind, change.type, bytes(change.object))
