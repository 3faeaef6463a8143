"""The wire as a transport: one HTTP request for each call, any server.

JSON is written with the standard library, which also writes what JSON does not have (NaN, lone
surrogates): a test can send such a document and see what the server says.
"""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import aiohttp
import msgspec

from compute.api import errors
from compute.api.status import Status
from compute.client.options import (
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from compute.client.transport import Document, Place, WatchEvent

_LINE = 64 * 1024 * 1024  # bytes; a watch writes a whole object on one line


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and what to show it. ``tls`` may hold a client certificate."""

    url: str
    tls: ssl.SSLContext | None = None
    token: str = ""


class HttpTransport:
    """A door through a socket."""

    def __init__(self, session: aiohttp.ClientSession, address: Address) -> None:
        self._session = session
        self._address = address

    async def get(self, place: Place, resource_version: str = "") -> Document:
        return await self._call("GET", place, _query(resourceVersion=resource_version))

    async def list(self, place: Place, options: ListOptions) -> Document:
        return await self._call("GET", place, _which(options))

    @asynccontextmanager
    async def watch(
        self, place: Place, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        query = _query(
            watch="true",
            labelSelector=options.label_selector,
            fieldSelector=options.field_selector,
            resourceVersion=options.resource_version,
            resourceVersionMatch=options.resource_version_match,
            allowWatchBookmarks="true" if options.allow_bookmarks else "",
            sendInitialEvents=_flag(options.send_initial_events),
            timeoutSeconds=_number(options.timeout_seconds),
        )
        async with self._request("GET", place, query) as response:
            await _refuse(response)
            yield _events(response)

    async def create(self, place: Place, document: Document, options: WriteOptions) -> Document:
        return await self._call("POST", place, _how(options), document)

    async def update(self, place: Place, document: Document, options: WriteOptions) -> Document:
        return await self._call("PUT", place, _how(options), document)

    async def patch(
        self, place: Place, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        return await self._call("PATCH", place, _how(options), patch, kind.value)

    async def delete(self, place: Place, options: DeleteOptions) -> Document:
        return await self._call("DELETE", place, {}, _removal(options))

    async def delete_collection(
        self, place: Place, which: ListOptions, options: DeleteOptions
    ) -> Document:
        return await self._call("DELETE", place, _which(which), _removal(options))

    async def _call(
        self,
        method: str,
        place: Place,
        query: dict[str, str],
        body: object = None,
        media: str = "application/json",
    ) -> Document:
        async with self._request(method, place, query, body, media) as response:
            await _refuse(response)
            document: Document = json.loads(await response.read())
            return document

    def _request(
        self,
        method: str,
        place: Place,
        query: dict[str, str],
        body: object = None,
        media: str = "application/json",
    ) -> Any:  # aiohttp's own context manager, which it has no public name for
        headers = {"Accept": "application/json", "Content-Type": media}
        if self._address.token:
            headers["Authorization"] = f"Bearer {self._address.token}"
        return self._session.request(
            method,
            self._address.url + path(place),
            params=query,
            headers=headers,
            data=None if body is None else BytesIO(json.dumps(body).encode()),
            ssl=self._address.tls or True,
        )


def session() -> aiohttp.ClientSession:
    """Connections to be shared by a whole run. Long lists and watches set no limit of time."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None), read_bufsize=_LINE, auto_decompress=True
    )


def path(place: Place) -> str:
    """The path of a collection or an object below the server's address."""
    resource = place.resource
    root = f"/apis/{resource.group}" if resource.group else "/api"
    inside = f"/namespaces/{place.namespace}" if place.namespace else ""
    parts = [f"{root}/{resource.version}{inside}/{resource.plural}", place.name, place.subresource]
    return "/".join(filter(None, parts))


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[WatchEvent]:
    async for line in response.content:
        event = json.loads(line)
        if event["type"] == "ERROR":
            raise errors.from_status(msgspec.convert(event["object"], Status))
        yield WatchEvent(event["type"], event["object"])


async def _refuse(response: aiohttp.ClientResponse) -> None:
    """Raise what the server refused with. A refusal in JSON must be a whole Status."""
    if response.status < 400:
        return
    body = await response.read()
    if response.content_type != "application/json":
        # Some servers answer a path that leads nowhere with a line of text.
        raise errors.from_status(Status(code=response.status, message=body.decode()))
    status = msgspec.json.decode(body, type=Status)
    assert status.status == "Failure"
    assert status.code == response.status
    assert status.message
    raise errors.from_status(status)


def _which(options: ListOptions) -> dict[str, str]:
    return _query(
        labelSelector=options.label_selector,
        fieldSelector=options.field_selector,
        limit=str(options.limit) if options.limit else "",
        resourceVersion=options.resource_version,
        resourceVersionMatch=options.resource_version_match,
        **{"continue": options.continue_},
    )


def _how(options: WriteOptions) -> dict[str, str]:
    return _query(
        dryRun="All" if options.dry_run else "",
        fieldManager=options.field_manager,
        force="true" if options.force else "",
        fieldValidation=options.field_validation,
    )


def _removal(options: DeleteOptions) -> Document:
    preconditions = _query(uid=options.uid, resourceVersion=options.resource_version)
    body: Document = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if preconditions:
        body["preconditions"] = preconditions
    if options.propagation:
        body["propagationPolicy"] = options.propagation
    if options.grace_period_seconds is not None:
        body["gracePeriodSeconds"] = options.grace_period_seconds
    if options.dry_run:
        body["dryRun"] = ["All"]
    return body


def _query(**parameters: str) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if value}


def _flag(value: object) -> str:
    return "" if value is None else str(value).lower()


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
