"""One collection as a test sees it: verbs with keywords, one transport below.

Also the small words that tests of changes need: `take`, `upto`, `names`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal

from kubekit.api.resource import Resource
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation, Transport, WatchEvent

Stream = AsyncIterator[WatchEvent]
Part = Literal["", "status", "scale", "finalize"]
PATIENCE = 20.0  # seconds that a test waits for an event before it fails


@dataclass(frozen=True, slots=True)
class Collection:
    """The objects of one kind in one namespace, or of all namespaces."""

    transport: Transport
    resource: Resource
    namespace: str = ""

    @property
    def everywhere(self) -> "Collection":
        return replace(self, namespace="")

    def document(self, name: str = "", **fields: Any) -> Document:
        """A document of this kind; ``metadata`` among the fields is added to the name."""
        metadata = ({"name": name} if name else {}) | fields.pop("metadata", {})
        head = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
        return {**head, "metadata": metadata, **fields}

    async def make(self, name: str = "", **fields: Any) -> Document:
        """A new object of this kind."""
        return await self.create(self.document(name, **fields))

    async def create(self, document: Document, **options: Any) -> Document:
        return await self.transport.create(self._at(""), document, WriteOptions(**options))

    async def get(self, name: str, resource_version: str = "", part: Part = "") -> Document:
        return await self.transport.get(self._at(name, part), resource_version)

    async def list(self, **options: Any) -> Document:
        return await self.transport.list(self._at(""), ListOptions(**options))

    def watch(self, **options: Any) -> AbstractAsyncContextManager[Stream]:
        return self.transport.watch(self._at(""), WatchOptions(**options))

    async def update(self, document: Document, part: Part = "", **options: Any) -> Document:
        place = self._at(document["metadata"]["name"], part)
        return await self.transport.update(place, document, WriteOptions(**options))

    async def put(self, name: str, document: Document) -> Document:
        """An update at another name than the document's own."""
        return await self.transport.update(self._at(name), document, WriteOptions())

    async def merge(self, name: str, patch: object, part: Part = "", **options: Any) -> Document:
        return await self.patch(name, PatchType.MERGE, patch, part, **options)

    async def patch(
        self, name: str, kind: PatchType, patch: object, part: Part = "", **options: Any
    ) -> Document:
        return await self.transport.patch(
            self._at(name, part), kind, patch, WriteOptions(**options)
        )

    async def delete(self, name: str, **options: Any) -> Document:
        return await self.transport.delete(self._at(name), DeleteOptions(**options))

    async def clear(self, which: ListOptions | None = None, **options: Any) -> Document:
        """Delete all that are meant."""
        return await self.transport.delete_collection(
            self._at(""), which or ListOptions(), DeleteOptions(**options)
        )

    def _at(self, name: str, part: Part = "") -> ResourceLocation:
        return ResourceLocation(self.resource, self.namespace, name, part)


def version(document: Document) -> str:
    found: str = document["metadata"]["resourceVersion"]
    return found


def names(listing: Document) -> list[str]:
    return [item["metadata"]["name"] for item in listing["items"] or []]


def summary(event: WatchEvent) -> tuple[str, str]:
    """The type of an event and the name of its object."""
    return event.type, event.object["metadata"].get("name", "")


async def take(stream: Stream, count: int) -> list[WatchEvent]:
    """The next changes, whatever they are."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(stream) for _ in range(count)]


async def upto(stream: Stream, kind: str, name: str = "") -> list[WatchEvent]:
    """The changes up to and including one. Reading on to a change that a test makes itself is how
    it sees, without waiting, that nothing else came before.
    """
    seen: list[WatchEvent] = []
    async with asyncio.timeout(PATIENCE):
        async for event in stream:
            seen.append(event)
            if summary(event) == (kind, name) or (kind == event.type == "BOOKMARK"):
                return seen
    raise AssertionError(f"the stream ended before {kind} {name}: {[summary(e) for e in seen]}")


async def rest(stream: Stream) -> list[WatchEvent]:
    """All changes until the server ends the stream."""
    async with asyncio.timeout(PATIENCE):
        return [event async for event in stream]
