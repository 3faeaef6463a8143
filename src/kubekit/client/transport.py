"""The protocol that every transport to a plane implements: documents in, documents out.

A transport does not know our classes, so it also works for kinds without a class. `client.Client`
puts types on top of any transport; errors are those of `api.errors` in both.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

import msgspec

from kubekit.api.resource import Resource
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions

Document = dict[str, Any]
Change = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


class ResourceLocation(msgspec.Struct, frozen=True):
    """The target of a request: a collection, or with a name one object of it.

    An empty namespace means a cluster-scoped kind, or all namespaces at once.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: Literal["", "status", "scale", "token", "finalize"] = ""


class WatchEvent(msgspec.Struct, frozen=True):
    """One change. For an ``ERROR`` event, the error that it contains is raised instead."""

    type: Change
    object: Document


class Transport(Protocol):
    """Sends requests to one plane."""

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document: ...

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document: ...

    def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """The events. The stream is open once the context is entered; leaving it closes it."""
        ...

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document: ...

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document: ...

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document: ...

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        """The object while finalizers hold it, a ``Status`` once it is deleted."""
        ...

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document: ...
