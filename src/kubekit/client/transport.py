"""The small protocol that each door to a plane speaks: documents in, documents out.

A transport knows nothing of our classes, so it also carries kinds that nobody here has a class
for. `client.Client` puts types on top of any transport; refusals are `api.errors` in both.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from kubekit.api.resource import Resource
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions

Document = dict[str, Any]
Change = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True)
class ResourceLocation:
    """Where a request goes: a collection, or with a name one object of it.

    An empty namespace means a kind without namespaces, or all namespaces at once.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: Literal["", "status", "scale", "token", "finalize"] = ""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change. An ``ERROR`` on the wire is raised instead, as the refusal it stands for."""

    type: Change
    object: Document


class Transport(Protocol):
    """A door to one plane."""

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document: ...

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document: ...

    def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        """The changes. The stream is open once the context is entered; leaving it closes it."""
        ...

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document: ...

    async def update(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document: ...

    async def patch(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document: ...

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        """The object while something still holds it, a ``Status`` once it is gone."""
        ...

    async def delete_collection(
        self, place: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document: ...
