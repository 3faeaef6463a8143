"""The verbs of a transport as HTTP requests.

The methods at the end give bytes, for `HttpClient`, which makes its objects out of them.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, Self

from kubekit.api.errors import ApiError
from kubekit.client import writing
from kubekit.client.connection import Connection
from kubekit.client.http import bodies, failures, requests
from kubekit.client.http.calls import Caller
from kubekit.client.http.requests import JSON, Request
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.watch_streams import Events, Stream
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, Place, WatchEvent
from kubekit.environment import Environment

DEFAULT: Final = HttpSettings()
_NO_QUERY: Final[Mapping[str, str]] = {}


class HttpTransport:
    """A door to one API server. Made on a running loop; `close` it, or use it as a context."""

    def __init__(
        self, connection: Connection, environment: Environment, settings: HttpSettings = DEFAULT
    ) -> None:
        self._caller = Caller(connection, environment, settings)
        self._settings = settings
        self.server = self._caller.server

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
        """End all connections, also those in use."""
        await self._caller.close()

    async def get(self, place: Place, resource_version: str = "") -> Document:
        return self._document(*await self._read(place, resource_version))

    async def list(self, place: Place, options: ListOptions) -> Document:
        return self._document(*await self._listed(place, options))

    @asynccontextmanager
    async def watch(
        self, place: Place, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        async with self.lines(place, options) as stream:
            yield Events(stream)

    async def create(self, place: Place, document: Document, options: WriteOptions) -> Document:
        request = _writing("POST", place, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def update(self, place: Place, document: Document, options: WriteOptions) -> Document:
        request = _writing("PUT", place, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def patch(
        self, place: Place, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        request = _writing("PATCH", place, self.encoded(patch), options, kind.value)
        return self._document(request, await self._whole(request))

    async def delete(self, place: Place, options: DeleteOptions) -> Document:
        request = Request("DELETE", requests.path(place), place, requests.removal(options))
        return self._document(request, await self._whole(request))

    async def delete_collection(
        self, place: Place, which: ListOptions, options: DeleteOptions
    ) -> Document:
        target = requests.target(requests.path(place), requests.which(which))
        request = Request("DELETE", target, place, requests.removal(options))
        body = await self._caller.whole(request, self._settings.listing, self._settings.silence)
        return self._document(request, self._checked(request, body))

    async def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] = _NO_QUERY,
        body: bytes | None = None,
        media: str = JSON,
    ) -> bytes:
        """The answer to a request at any path, such as ``/version``."""
        request = requests.anywhere(method, path, query, body, media)
        return await self._caller.whole(request, self._settings.request)

    def encoded(self, value: object) -> bytes:
        """A document as it is sent."""
        return writing.encoded(value)

    def nonsense(self, place: Place, why: str) -> ApiError:
        """What is raised for an answer to a read that makes no sense."""
        request = Request("GET", requests.path(place), place)
        return failures.garbled(request, self.server, why)

    # For `HttpClient`

    async def get_encoded(self, place: Place) -> bytes:
        return (await self._read(place, ""))[1]

    async def list_encoded(self, place: Place, options: ListOptions) -> bytes:
        return (await self._listed(place, options))[1]

    async def create_encoded(self, place: Place, body: bytes, options: WriteOptions) -> bytes:
        return await self._whole(_writing("POST", place, body, options))

    async def patch_encoded(
        self, place: Place, kind: PatchType, body: bytes, options: WriteOptions
    ) -> bytes:
        return await self._whole(_writing("PATCH", place, body, options, kind.value))

    @asynccontextmanager
    async def lines(self, place: Place, options: WatchOptions) -> AsyncIterator[Stream]:
        """The lines of a watch, unread."""
        query = requests.watching(options)
        if place.name:
            query["fieldSelector"] = requests.named(place.name, options.field_selector)
            place = Place(place.resource, place.namespace)
        request = Request("GET", requests.target(requests.path(place), query), place)
        async with self._caller.stream(request) as answer:
            yield Stream(request, self.server, answer, self._settings.longest_line)

    async def _read(self, place: Place, resource_version: str) -> tuple[Request, bytes]:
        query = {"resourceVersion": resource_version} if resource_version else _NO_QUERY
        request = Request("GET", requests.target(requests.path(place), query), place)
        return request, await self._whole(request)

    async def _listed(self, place: Place, options: ListOptions) -> tuple[Request, bytes]:
        target = requests.target(requests.path(place), requests.which(options))
        request = Request("GET", target, place)
        body = await self._caller.whole(request, self._settings.listing, self._settings.silence)
        return request, self._checked(request, body)

    async def _whole(self, request: Request) -> bytes:
        return self._checked(request, await self._caller.whole(request, self._settings.request))

    def _checked(self, request: Request, body: bytes) -> bytes:
        if not bodies.is_object(body):
            raise failures.garbled(request, self.server, "its answer is no object in JSON")
        return body

    def _document(self, request: Request, body: bytes) -> Document:
        try:
            return bodies.document(body)
        except bodies.UNREADABLE as error:
            raise failures.garbled(request, self.server, "its answer is not JSON") from error


def _writing(
    method: str, place: Place, body: bytes, options: WriteOptions, media: str = JSON
) -> Request:
    target = requests.target(requests.path(place), requests.how(options))
    return Request(method, target, place, body, media)
