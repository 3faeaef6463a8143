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
from kubekit.client.http.calls import RequestSender
from kubekit.client.http.requests import JSON, HttpRequest
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.watch_streams import DocumentEvents, WatchLines
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation, WatchEvent
from kubekit.environment import ExecutionEnvironment

DEFAULT: Final = HttpSettings()
_NO_QUERY: Final[Mapping[str, str]] = {}


class HttpTransport:
    """A door to one API server. Made on a running loop; `close` it, or use it as a context."""

    def __init__(
        self,
        connection: Connection,
        environment: ExecutionEnvironment,
        settings: HttpSettings = DEFAULT,
    ) -> None:
        self._caller = RequestSender(connection, environment, settings)
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

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document:
        return self._document(*await self._read(place, resource_version))

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document:
        return self._document(*await self._listed(place, options))

    @asynccontextmanager
    async def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        async with self.lines(place, options) as stream:
            yield DocumentEvents(stream)

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        request = _writing("POST", place, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def update(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        request = _writing("PUT", place, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def patch(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        request = _writing("PATCH", place, self.encoded(patch), options, kind.value)
        return self._document(request, await self._whole(request))

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        request = HttpRequest("DELETE", requests.path(place), place, requests.removal(options))
        return self._document(request, await self._whole(request))

    async def delete_collection(
        self, place: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        target = requests.target(requests.path(place), requests.which(which))
        request = HttpRequest("DELETE", target, place, requests.removal(options))
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

    def nonsense(self, place: ResourceLocation, why: str) -> ApiError:
        """What is raised for an answer to a read that makes no sense."""
        request = HttpRequest("GET", requests.path(place), place)
        return failures.garbled(request, self.server, why)

    # For `HttpClient`

    async def get_encoded(self, place: ResourceLocation) -> bytes:
        return (await self._read(place, ""))[1]

    async def list_encoded(self, place: ResourceLocation, options: ListOptions) -> bytes:
        return (await self._listed(place, options))[1]

    async def create_encoded(
        self, place: ResourceLocation, body: bytes, options: WriteOptions
    ) -> bytes:
        return await self._whole(_writing("POST", place, body, options))

    async def patch_encoded(
        self, place: ResourceLocation, kind: PatchType, body: bytes, options: WriteOptions
    ) -> bytes:
        return await self._whole(_writing("PATCH", place, body, options, kind.value))

    @asynccontextmanager
    async def lines(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[WatchLines]:
        """The lines of a watch, unread."""
        query = requests.watching(options)
        if place.name:
            query["fieldSelector"] = requests.named(place.name, options.field_selector)
            place = ResourceLocation(place.resource, place.namespace)
        request = HttpRequest("GET", requests.target(requests.path(place), query), place)
        async with self._caller.stream(request) as answer:
            yield WatchLines(request, self.server, answer, self._settings.longest_line)

    async def _read(
        self, place: ResourceLocation, resource_version: str
    ) -> tuple[HttpRequest, bytes]:
        query = {"resourceVersion": resource_version} if resource_version else _NO_QUERY
        request = HttpRequest("GET", requests.target(requests.path(place), query), place)
        return request, await self._whole(request)

    async def _listed(
        self, place: ResourceLocation, options: ListOptions
    ) -> tuple[HttpRequest, bytes]:
        target = requests.target(requests.path(place), requests.which(options))
        request = HttpRequest("GET", target, place)
        body = await self._caller.whole(request, self._settings.listing, self._settings.silence)
        return request, self._checked(request, body)

    async def _whole(self, request: HttpRequest) -> bytes:
        return self._checked(request, await self._caller.whole(request, self._settings.request))

    def _checked(self, request: HttpRequest, body: bytes) -> bytes:
        if not bodies.is_object(body):
            raise failures.garbled(request, self.server, "its answer is no object in JSON")
        return body

    def _document(self, request: HttpRequest, body: bytes) -> Document:
        try:
            return bodies.document(body)
        except bodies.UNREADABLE as error:
            raise failures.garbled(request, self.server, "its answer is not JSON") from error


def _writing(
    method: str, place: ResourceLocation, body: bytes, options: WriteOptions, media: str = JSON
) -> HttpRequest:
    target = requests.target(requests.path(place), requests.how(options))
    return HttpRequest(method, target, place, body, media)
