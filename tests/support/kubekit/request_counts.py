"""The requests that a client sends, counted as the audit log of an API server counts them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from kubekit.api.errors import ApiError
from kubekit.client.options import (
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.transport import Document, ResourceLocation, Transport, WatchEvent
from kubekit.runtime.reconciling.passes import current


class Sent(NamedTuple):
    """A request: by which controller, to which plane, and with which answer."""

    sender: str
    plane: str
    verb: str
    kind: str
    code: int


@dataclass
class RequestCounts:
    """The requests of all counted clients."""

    sent: list[Sent] = field(default_factory=list)

    def since(self, mark: int) -> "Counter[Sent]":
        """How often each request was sent after the first ``mark``, without watches and leases."""
        return Counter(
            each for each in self.sent[mark:] if each.verb != "watch" and each.kind != "leases"
        )


class CountingTransport:
    """A transport that counts its requests. Each takes ``seconds``, as over a network."""

    def __init__(self, inner: Transport, counts: RequestCounts, plane: str, seconds: float) -> None:
        self._inner = inner
        self._counts = counts
        self._plane = plane
        self._seconds = seconds

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document:
        async with self._counted("get", location):
            return await self._inner.get(location, resource_version)

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document:
        async with self._counted("list", location):
            return await self._inner.list(location, options)

    def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        return self._inner.watch(location, options)

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        async with self._counted("create", location):
            return await self._inner.create(location, document, options)

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        async with self._counted("update", location):
            return await self._inner.update(location, document, options)

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        async with self._counted("patch", location):
            return await self._inner.patch(location, kind, patch, options)

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        async with self._counted("delete", location):
            return await self._inner.delete(location, options)

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        async with self._counted("deletecollection", location):
            return await self._inner.delete_collection(location, which, options)

    @asynccontextmanager
    async def _counted(self, verb: str, location: ResourceLocation) -> AsyncIterator[None]:
        pass_ = current.get()
        sender = pass_.context.writer if pass_ is not None else ""
        plural = "/".join(filter(None, (location.resource.plural, location.subresource)))
        await asyncio.sleep(self._seconds)
        code = 200
        try:
            yield
        except ApiError as error:
            code = error.code
            raise
        finally:
            self._counts.sent.append(Sent(sender, self._plane, verb, plural, code))
