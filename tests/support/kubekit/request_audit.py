"""A transport that records which verbs it sends on which resources."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

from kubekit.client.options import (
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.transport import Document, ResourceLocation, Transport, WatchEvent


class SentRequest(NamedTuple):
    """What an authorizer sees of a request. An empty namespace: all of them, or none."""

    verb: str
    group: str
    resource: str
    namespace: str
    name: str


class AuditedTransport:
    """Passes requests on, and records each of them first."""

    def __init__(self, transport: Transport, record: Callable[[SentRequest], None]) -> None:
        self._transport = transport
        self._record = record

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document:
        self._sent("get", location)
        return await self._transport.get(location, resource_version)

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document:
        self._sent("list", location, _name_in(options.field_selector))
        return await self._transport.list(location, options)

    def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        self._sent("watch", location, _name_in(options.field_selector))
        return self._transport.watch(location, options)

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self._sent("create", location)
        return await self._transport.create(location, document, options)

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self._sent("update", location)
        return await self._transport.update(location, document, options)

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        self._sent("patch", location)
        return await self._transport.patch(location, kind, patch, options)

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        self._sent("delete", location)
        return await self._transport.delete(location, options)

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        self._sent("deletecollection", location, _name_in(which.field_selector))
        return await self._transport.delete_collection(location, which, options)

    def _sent(self, verb: str, location: ResourceLocation, name: str = "") -> None:
        resource, subresource = location.resource, location.subresource
        plural = f"{resource.plural}/{subresource}" if subresource else resource.plural
        name = name or ("" if verb == "create" else location.name)
        self._record(SentRequest(verb, resource.group, plural, location.namespace, name))


def _name_in(field_selector: str) -> str:
    """The name that a list is restricted to; an authorizer checks it as that of the object."""
    prefix = "metadata.name="
    alone = field_selector.startswith(prefix) and "," not in field_selector
    return field_selector.removeprefix(prefix) if alone else ""
