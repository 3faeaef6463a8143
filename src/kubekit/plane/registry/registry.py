"""The registry of one plane: every verb of the API, without HTTP.

    get, list, watch           read the in-memory state: list_handler, watch_handler, selection
    create, update, patch      metadata, schema, admission, then one draft: create_handler,
                               update_handler, apply_handler
    delete, delete_collection  preconditions, finalizers, propagation: delete_handler

Documents are plain dicts, which the registry may modify. Results are records, whose bytes are shared
and immutable.
"""

from kubekit.api import errors
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.registry.admission import AdmissionChain
from kubekit.plane.registry.context import QuotaGuard, RegistryContext
from kubekit.plane.registry.encoding import view_of
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.verbs import resource_versions
from kubekit.plane.registry.verbs.apply_handler import ApplyHandler, MayCreate, creation_allowed
from kubekit.plane.registry.verbs.create_handler import CreateHandler
from kubekit.plane.registry.verbs.delete_handler import DeleteHandler, DeleteTarget
from kubekit.plane.registry.verbs.list_handler import ListHandler
from kubekit.plane.registry.verbs.namespace_lifecycle import NamespaceLifecycle
from kubekit.plane.registry.verbs.preparation import Preparation
from kubekit.plane.registry.verbs.results import DeleteResult, Page, WriteResult
from kubekit.plane.registry.verbs.subresources import check_subresource
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.update_handler import UpdateHandler, readable_scale
from kubekit.plane.registry.verbs.update_loop import UpdateLoop
from kubekit.plane.registry.verbs.watch_handler import WatchHandler
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent, Watch
from kubekit.plane.registry.virtual_kinds import VirtualHandler, VirtualHandlers, VirtualRequest
from kubekit.plane.store.records import Record
from kubekit.plane.store.store import Store
from kubekit.plane.users import PLANE_USER, User

__all__ = ["DeleteResult", "EncodedWatchEvent", "Page", "Registry", "Watch", "WriteResult"]


class Registry:
    """Every verb on every kind of one plane. Refusals are `api.errors`."""

    def __init__(self, store: Store, kinds: Kinds, environment: ExecutionEnvironment) -> None:
        self._context = RegistryContext(store, kinds, environment)
        lifecycle = NamespaceLifecycle(self._context)
        preparation = Preparation(self._context)
        self._lists = ListHandler(self._context)
        self._watches = WatchHandler(self._context)
        self._creates = CreateHandler(self._context, lifecycle, preparation)
        updates = UpdateLoop(self._context, preparation)
        self._writes = UpdateHandler(self._context, updates, self._creates)
        self._applies = ApplyHandler(self._context, self._creates, updates)
        self._deletes = DeleteHandler(self._context, lifecycle)
        self._virtual = VirtualHandlers()

    @property
    def store(self) -> Store:
        return self._context.store

    @property
    def kinds(self) -> Kinds:
        return self._context.kinds

    @kinds.setter
    def kinds(self, kinds: Kinds) -> None:
        self._context.kinds = kinds
        self._watches.follow(kinds)

    @property
    def admission(self) -> AdmissionChain:
        """The admission plugins of every write."""
        return self._context.admission

    @property
    def quota_guard(self) -> QuotaGuard | None:
        """The quota check of every write."""
        return self._context.quota_guard

    @quota_guard.setter
    def quota_guard(self, guard: QuotaGuard) -> None:
        self._context.quota_guard = guard

    @property
    def virtual_handlers(self) -> dict[tuple[str, str], VirtualHandler]:
        """The handlers of virtual kinds, whose objects are never stored."""
        return self._virtual.handlers

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    def bookmark(self) -> None:
        """Send a bookmark now to every watch that asked for bookmarks."""
        self._watches.bookmark()

    def close(self) -> None:
        """End every watch. The store stays open: its owner closes it."""
        self._watches.end()

    def get(self, kind: Kind, namespace: str, name: str, resource_version: str = "") -> Record:
        """The object, from memory. With a version, it must not be older than that."""
        store = self._context.store
        if resource_version:
            requested = resource_versions.parse(resource_version)
            if requested > store.revision:
                raise resource_versions.too_large(requested, store.revision)
        record = store.find(kind.storage, kind.key(namespace, name))
        if record is None:
            raise errors.not_found(kind.resource, name)
        return record if kind.conversion is None else view_of(kind, record)

    async def list(self, kind: Kind, namespace: str, options: ListOptions) -> Page:
        """A page of a collection. An empty namespace means all namespaces."""
        return await self._lists.page(kind, namespace, options)

    async def watch(
        self, kind: Kind, namespace: str, options: WatchOptions, name: str = ""
    ) -> Watch:
        """The changes of a collection, or with a name of one object."""
        return await self._watches.watch(kind, namespace, options, name)

    async def create(
        self,
        kind: Kind,
        namespace: str,
        document: Document,
        options: WriteOptions,
        user: User = PLANE_USER,
    ) -> WriteResult:
        return await self._creates.create(WriteTarget(kind, namespace, "", options, user), document)

    async def update(  # noqa: PLR0913, PLR0917 -- the parts of a request
        self,
        kind: Kind,
        namespace: str,
        name: str,
        document: Document,
        options: WriteOptions,
        subresource: str = "",
        user: User = PLANE_USER,
        may_create: MayCreate = creation_allowed,
    ) -> WriteResult:
        """The object, replaced. A missing object of a few kinds is created, unless ``may_create`` raises."""
        target = WriteTarget(kind, namespace, name, options, user)
        return await self._writes.update(target, document, subresource, may_create)

    async def patch(  # noqa: PLR0913, PLR0917 -- the parts of a request
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch_type: PatchType,
        patch: object,
        options: WriteOptions,
        subresource: str = "",
        user: User = PLANE_USER,
        may_create: MayCreate = creation_allowed,
    ) -> WriteResult:
        """The object, patched. After a write conflict the patch is retried.

        An apply creates a missing object, unless ``may_create`` raises.
        """
        target = WriteTarget(kind, namespace, name, options, user)
        if patch_type is PatchType.APPLY:
            return await self._applies.apply(target, patch, subresource, may_create)
        return await self._writes.patch(target, patch_type, patch, subresource)

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        options: DeleteOptions,
        user: User = PLANE_USER,
    ) -> DeleteResult:
        return await self._deletes.delete(DeleteTarget(kind, namespace, name, options, user))

    async def delete_collection(
        self,
        kind: Kind,
        namespace: str,
        which: ListOptions,
        options: DeleteOptions,
        user: User = PLANE_USER,
    ) -> Page:
        """The deleted objects, as they were before."""
        self._deletes.check_collection(kind)
        page = await self._lists.page(kind, namespace, which)
        return await self._deletes.delete_all(
            page, DeleteTarget(kind, namespace, "", options, user)
        )

    async def handle_virtual(self, request: VirtualRequest) -> Document:
        """The document of a virtual kind, completed by its handler."""
        return await self._virtual.handle(request)

    def get_scale(self, kind: Kind, namespace: str, name: str) -> Record:
        """The object's Scale, at the object's revision."""
        check_subresource(kind, "scale")
        return readable_scale(kind, self.get(kind, namespace, name))
