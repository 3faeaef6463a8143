"""One plane: a store, the registry above it, and its background controllers."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubekit.api.errors import ApiError
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding
from kubekit.api.structural.nodes import Document
from kubekit.client.options import PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.access.rbac_controller import RbacController
from kubekit.plane.admission.quota import Quota, QuotaUsage
from kubekit.plane.admission.webhooks import Webhooks
from kubekit.plane.identity.default_accounts import DefaultAccounts
from kubekit.plane.identity.virtual_handlers import register_standalone
from kubekit.plane.registry.background.garbage_collector import GarbageCollector
from kubekit.plane.registry.background.namespace_deletion import NamespaceDeleter
from kubekit.plane.registry.definitions import startup
from kubekit.plane.registry.definitions.controller import MOST_DEFINITIONS, DefinitionController
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.store import Store, StoreSettings

DATABASE: Final = "plane.db"
_FIRST_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_DEFAULT_QUOTA: Final = Quota()
_log: Final = logging.getLogger(__name__)


class Plane:
    """A Kubernetes API in one directory. Create it with `open`, and `close` it when done."""

    def __init__(
        self,
        store: Store,
        kinds: Kinds,
        environment: ExecutionEnvironment,
        quota: Quota = _DEFAULT_QUOTA,
    ) -> None:
        self.store = store
        self.registry = Registry(store, kinds, environment)
        self._definitions = DefinitionController(self.registry, environment, MOST_DEFINITIONS)
        self._collector = GarbageCollector(store, self.registry)
        self._namespaces = NamespaceDeleter(store, self.registry, environment)
        self._accounts = DefaultAccounts(store, self.registry)
        self._access = RbacController(self.registry)
        register_standalone(self.registry, environment)
        self._usage = QuotaUsage(self.registry, quota)
        self._webhooks = Webhooks(self.registry, environment)
        self._webhooks.register(self.registry.admission)
        self.registry.admission.validating.append(self._usage.admit)
        self.registry.quota_guard = self._usage
        self._workers = (
            self._definitions.worker,
            self._collector.worker,
            self._namespaces.worker,
            self._accounts.worker,
            self._access.worker,
        )

    @classmethod
    async def open(  # noqa: PLR0913 -- most have defaults
        cls,
        directory: Path,
        kinds: Kinds,
        environment: ExecutionEnvironment,
        settings: StoreSettings | None = None,
        *,
        threaded: bool = True,
        definitions: Sequence[Document] = (),
        quota: Quota = _DEFAULT_QUOTA,
        access: Sequence[ClusterRole | ClusterRoleBinding] = (),
    ) -> "Plane":
        """The plane in this directory, which is created if it does not exist.

        ``kinds`` are built in permanently. ``definitions`` and the roles and bindings in ``access`` are
        created if they are missing, beside Kubernetes' own, and may change from then on.
        """
        store = await Store.open(
            directory / DATABASE, environment, settings or StoreSettings(), threaded=threaded
        )
        return await cls.on(store, kinds, environment, definitions, quota, access=access)

    @classmethod
    async def on(  # noqa: PLR0913 -- most have defaults
        cls,
        store: Store,
        kinds: Kinds,
        environment: ExecutionEnvironment,
        definitions: Sequence[Document] = (),
        quota: Quota = _DEFAULT_QUOTA,
        *,
        access: Sequence[ClusterRole | ClusterRoleBinding] = (),
    ) -> "Plane":
        """The plane on this store. The plane closes the store."""
        plane = cls(store, kinds, environment, quota)
        try:
            await plane._start(definitions, access)
        except BaseException:
            await plane.close()
            raise
        return plane

    @property
    def kinds(self) -> Kinds:
        """The kinds that are served now."""
        return self.registry.kinds

    @property
    def access(self) -> Authorizer:
        """Authorizes the users of this plane."""
        return self._access.authorizer

    @property
    def usage(self) -> QuotaUsage:
        """How much of the quota is used."""
        return self._usage

    async def close(self) -> None:
        """Stop the controllers, end every watch, and close the store."""
        for worker in self._workers:
            await worker.close()
        self._access.close()
        self._usage.close()
        await self._webhooks.close()
        self.registry.close()
        await self.store.close()

    async def reseal(self) -> None:
        """Encrypt every secret with the key that is now the first one."""
        await self.store.reseal()

    async def rest(self) -> None:
        """Wait until all controllers are idle."""
        while not all(worker.idle for worker in self._workers):
            for worker in self._workers:
                await worker.rest()

    async def _start(
        self,
        definitions: Sequence[Document],
        access: Sequence[ClusterRole | ClusterRoleBinding],
    ) -> None:
        # First, because the other controllers depend on the served kinds and follow their changes.
        self._definitions.start()
        self._definitions.changed = self._collector.resync
        self._collector.start()
        self._namespaces.start()
        self._accounts.start()
        await startup.ensure_definitions(self.registry, definitions)
        await self._access.start(access)
        namespaces = self.kinds.require("v1", "Namespace")
        for name in _FIRST_NAMESPACES:
            if self.store.find(namespaces.storage, name) is None:
                document = {"metadata": {"name": name}}
                try:
                    await self.registry.create(namespaces, "", document, PLAIN_WRITE)
                except ApiError as refusal:
                    # A full disk or a full plane must not prevent the start: operators need access.
                    _log.warning(
                        "namespace not created", extra={"namespace": name, "why": str(refusal)}
                    )
        await self._accounts.worker.settle()
        self._webhooks.start()
