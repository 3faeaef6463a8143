"""The verbs of a transport as HTTP requests.

The methods at the end return bytes, which `HttpClient` decodes as its classes.
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
    """The transport to one API server. Create it on a running loop; `close` it, or use it as a context."""

    def __init__(
        self,
        connection: Connection,
        environment: ExecutionEnvironment,
        settings: HttpSettings = DEFAULT,
    ) -> None:
        self._sender = RequestSender(connection, environment, settings)
        self._settings = settings
        self.server = self._sender.server

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
        """Close all connections, also those in use."""
        await self._sender.close()

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document:
        return self._document(*await self._read(location, resource_version))

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document:
        return self._document(*await self._list(location, options))

    @asynccontextmanager
    async def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        async with self.lines(location, options) as stream:
            yield DocumentEvents(stream)

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        request = _write_request("POST", location, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        request = _write_request("PUT", location, self.encoded(document), options)
        return self._document(request, await self._whole(request))

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        request = _write_request("PATCH", location, self.encoded(patch), options, kind.value)
        return self._document(request, await self._whole(request))

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        request = HttpRequest(
            "DELETE", requests.path(location), location, requests.delete_body(options)
        )
        return self._document(request, await self._whole(request))

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        target = requests.target(requests.path(location), requests.list_query(which))
        request = HttpRequest("DELETE", target, location, requests.delete_body(options))
        body = await self._sender.whole(
            request, self._settings.list_timeout, self._settings.read_timeout
        )
        return self._document(request, self._checked(request, body))

    async def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] = _NO_QUERY,
        body: bytes | None = None,
        media: str = JSON,
    ) -> bytes:
        """The response to a request at any path, such as ``/version``."""
        request = requests.raw_request(method, path, query, body, media)
        return await self._sender.whole(request, self._settings.request_timeout)

    def encoded(self, value: object) -> bytes:
        """The document as JSON."""
        return writing.encoded(value)

    def malformed(self, location: ResourceLocation, why: str) -> ApiError:
        """The error for a malformed response to a read."""
        request = HttpRequest("GET", requests.path(location), location)
        return failures.malformed_response(request, self.server, why)

    # For `HttpClient`

    async def get_encoded(self, location: ResourceLocation) -> bytes:
        return (await self._read(location, ""))[1]

    async def list_encoded(self, location: ResourceLocation, options: ListOptions) -> bytes:
        return (await self._list(location, options))[1]

    async def create_encoded(
        self, location: ResourceLocation, body: bytes, options: WriteOptions
    ) -> bytes:
        return await self._whole(_write_request("POST", location, body, options))

    async def patch_encoded(
        self, location: ResourceLocation, kind: PatchType, body: bytes, options: WriteOptions
    ) -> bytes:
        return await self._whole(_write_request("PATCH", location, body, options, kind.value))

    @asynccontextmanager
    async def lines(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[WatchLines]:
        """The lines of a watch, not decoded."""
        query = requests.watch_query(options)
        if location.name:
            query["fieldSelector"] = requests.name_selector(location.name, options.field_selector)
            location = ResourceLocation(location.resource, location.namespace)
        request = HttpRequest("GET", requests.target(requests.path(location), query), location)
        async with self._sender.stream(request) as response:
            yield WatchLines(request, self.server, response, self._settings.longest_line)

    async def _read(
        self, location: ResourceLocation, resource_version: str
    ) -> tuple[HttpRequest, bytes]:
        query = {"resourceVersion": resource_version} if resource_version else _NO_QUERY
        request = HttpRequest("GET", requests.target(requests.path(location), query), location)
        return request, await self._whole(request)

    async def _list(
        self, location: ResourceLocation, options: ListOptions
    ) -> tuple[HttpRequest, bytes]:
        target = requests.target(requests.path(location), requests.list_query(options))
        request = HttpRequest("GET", target, location)
        body = await self._sender.whole(
            request, self._settings.list_timeout, self._settings.read_timeout
        )
        return request, self._checked(request, body)

    async def _whole(self, request: HttpRequest) -> bytes:
        return self._checked(
            request, await self._sender.whole(request, self._settings.request_timeout)
        )

    def _checked(self, request: HttpRequest, body: bytes) -> bytes:
        if not bodies.is_object(body):
            raise failures.malformed_response(
                request, self.server, "its answer is no object in JSON"
            )
        return body

    def _document(self, request: HttpRequest, body: bytes) -> Document:
        try:
            return bodies.document(body)
        except bodies.UNREADABLE as error:
            raise failures.malformed_response(
                request, self.server, "its answer is not JSON"
            ) from error


def _write_request(
    method: str, location: ResourceLocation, body: bytes, options: WriteOptions, media: str = JSON
) -> HttpRequest:
    target = requests.target(requests.path(location), requests.write_query(options))
    return HttpRequest(method, target, location, body, media)
