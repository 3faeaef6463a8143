"""The door to one plane's objects: every verb of the API, without HTTP.

    get, list, watch           read the store's memory: lists, beginnings, watches, selection
    create, update, patch      metadata rules and the schema, then one draft: creates, updates
    delete, delete_collection  preconditions, finalizers, propagation: deletes

Documents come in as plain dicts, which belong to the registry from then on; what goes out are
records, whose bytes are shared by everybody and changed by nobody.
"""

from compute.api import errors
from compute.client.options import (
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from compute.client.transport import Document
from compute.plane.environment import Environment
from compute.plane.registry import versions
from compute.plane.registry.beginnings import Watches
from compute.plane.registry.context import Admit, Context
from compute.plane.registry.creates import Creates
from compute.plane.registry.deletes import Deletes
from compute.plane.registry.encoding import view_of
from compute.plane.registry.kinds import Kind, Kinds
from compute.plane.registry.lists import Lists
from compute.plane.registry.namespacegate import NamespaceGate
from compute.plane.registry.outcomes import Deleted, Page, Written
from compute.plane.registry.subresources import check_subresource
from compute.plane.registry.updates import Target
from compute.plane.registry.watches import Notice, Watch
from compute.plane.registry.writes import Writes, shown_scale
from compute.plane.store.records import Record
from compute.plane.store.store import Store

__all__ = ["Deleted", "Notice", "Page", "Registry", "Watch", "Written"]


class Registry:
    """Every verb on every kind of one plane. Refusals are `api.errors`."""

    def __init__(self, store: Store, kinds: Kinds, environment: Environment) -> None:
        self._context = Context(store, kinds, environment)
        gate = NamespaceGate(self._context)
        self._lists = Lists(self._context)
        self._watches = Watches(self._context)
        self._creates = Creates(self._context, gate)
        self._writes = Writes(self._context)
        self._deletes = Deletes(self._context, gate)

    @property
    def store(self) -> Store:
        return self._context.store

    @property
    def kinds(self) -> Kinds:
        return self._context.kinds

    @kinds.setter
    def kinds(self, kinds: Kinds) -> None:
        self._context.kinds = kinds

    @property
    def admission(self) -> list[Admit]:
        """Whoever has a say in every change, in order. Add to it or take from it."""
        return self._context.admission

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    def bookmark(self) -> None:
        """Let every watcher that asked for bookmarks have one now, and not only once a minute."""
        self._watches.bookmark()

    def close(self) -> None:
        """End every watch. The store is its opener's to close."""
        self._watches.end()

    def get(self, kind: Kind, namespace: str, name: str, resource_version: str = "") -> Record:
        """The object, from memory. A version means: not older than that."""
        store = self._context.store
        if resource_version:
            asked = versions.parse(resource_version)
            if asked > store.revision:
                raise versions.too_large(asked, store.revision)
        record = store.find(kind.storage, kind.key(namespace, name))
        if record is None:
            raise errors.not_found(kind.resource, name)
        return record if kind.conversion is None else view_of(kind, record)

    async def list(self, kind: Kind, namespace: str, options: ListOptions) -> Page:
        """A page of a collection; an empty namespace means all of them."""
        return await self._lists.page(kind, namespace, options)

    async def watch(
        self, kind: Kind, namespace: str, options: WatchOptions, name: str = ""
    ) -> Watch:
        """The changes of a collection, or with a name of one object."""
        return await self._watches.watch(kind, namespace, options, name)

    async def create(
        self, kind: Kind, namespace: str, document: Document, options: WriteOptions
    ) -> Written:
        return await self._creates.create(kind, namespace, document, options)

    async def update(  # noqa: PLR0913, PLR0917 -- the parts of a request
        self,
        kind: Kind,
        namespace: str,
        name: str,
        document: Document,
        options: WriteOptions,
        subresource: str = "",
    ) -> Written:
        """The object, replaced. It creates nothing."""
        target = Target(kind, namespace, name, options)
        return await self._writes.update(target, document, subresource)

    async def patch(  # noqa: PLR0913, PLR0917 -- the parts of a request
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch_type: PatchType,
        patch: object,
        options: WriteOptions,
        subresource: str = "",
    ) -> Written:
        """The object, patched: again and again, until no other change comes in between."""
        target = Target(kind, namespace, name, options)
        return await self._writes.patch(target, patch_type, patch, subresource)

    async def delete(
        self, kind: Kind, namespace: str, name: str, options: DeleteOptions
    ) -> Deleted:
        return await self._deletes.delete(kind, namespace, name, options)

    async def delete_collection(
        self, kind: Kind, namespace: str, which: ListOptions, options: DeleteOptions
    ) -> Page:
        """The objects that were asked to go, as they were before."""
        self._deletes.check_collection(kind)
        page = await self._lists.page(kind, namespace, which)
        return await self._deletes.delete_all(kind, page, options)

    def get_scale(self, kind: Kind, namespace: str, name: str) -> Record:
        """The object's Scale, at the object's revision."""
        check_subresource(kind, "scale")
        return shown_scale(kind, self.get(kind, namespace, name))
