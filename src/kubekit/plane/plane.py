"""One plane: a store, the registry above it, and the work a plane does by itself."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubekit.api.errors import ApiError
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding
from kubekit.api.structural.nodes import Document
from kubekit.client.options import PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.access.access_control import RbacController
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.admission.quota import Quota, Usage
from kubekit.plane.admission.webhooks import Webhooks
from kubekit.plane.identity.answers import answer_alone
from kubekit.plane.identity.default_accounts import DefaultAccounts
from kubekit.plane.registry.background.garbage_collector import GarbageCollector
from kubekit.plane.registry.background.namespace_deletion import NamespaceDeleter
from kubekit.plane.registry.definitions import startup
from kubekit.plane.registry.definitions.controller import MOST_DEFINITIONS, DefinitionController
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.store import Store, StoreSettings

DATABASE: Final = "plane.db"
_FIRST_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_PLENTY: Final = Quota()
_log: Final = logging.getLogger(__name__)


class Plane:
    """An API for one machine. `open` it, and `close` it when done."""

    def __init__(
        self, store: Store, kinds: Kinds, environment: ExecutionEnvironment, quota: Quota = _PLENTY
    ) -> None:
        self.store = store
        self.registry = Registry(store, kinds, environment)
        self._definitions = DefinitionController(self.registry, environment, MOST_DEFINITIONS)
        self._collector = GarbageCollector(store, self.registry)
        self._namespaces = NamespaceDeleter(store, self.registry, environment)
        self._accounts = DefaultAccounts(store, self.registry)
        self._access = RbacController(self.registry)
        answer_alone(self.registry, environment)
        self._usage = Usage(self.registry, quota)
        self._webhooks = Webhooks(self.registry, environment)
        self._webhooks.join(self.registry.admission)
        self.registry.admission.validating.append(self._usage.admit)
        self.registry.room = self._usage
        self._chores = (
            self._definitions.worker,
            self._collector.worker,
            self._namespaces.worker,
            self._accounts.worker,
            self._access.worker,
        )

    @classmethod
    async def open(  # noqa: PLR0913 -- the last ones are seldom given
        cls,
        directory: Path,
        kinds: Kinds,
        environment: ExecutionEnvironment,
        settings: StoreSettings | None = None,
        *,
        threaded: bool = True,
        definitions: Sequence[Document] = (),
        quota: Quota = _PLENTY,
        access: Sequence[ClusterRole | ClusterRoleBinding] = (),
    ) -> "Plane":
        """The plane whose data is in this directory, made there if there is none yet.

        ``kinds`` are there for good; ``definitions`` are made sure of, and may change from then on.
        So are the roles and bindings in ``access``, beside Kubernetes' own.
        """
        store = await Store.open(
            directory / DATABASE, environment, settings or StoreSettings(), threaded=threaded
        )
        return await cls.on(store, kinds, environment, definitions, quota, access=access)

    @classmethod
    async def on(  # noqa: PLR0913 -- the last ones are seldom given
        cls,
        store: Store,
        kinds: Kinds,
        environment: ExecutionEnvironment,
        definitions: Sequence[Document] = (),
        quota: Quota = _PLENTY,
        *,
        access: Sequence[ClusterRole | ClusterRoleBinding] = (),
    ) -> "Plane":
        """The plane on this store, which is the plane's to close from here on."""
        plane = cls(store, kinds, environment, quota)
        try:
            await plane._begin(definitions, access)
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
        """Who may do what."""
        return self._access.authorizer

    @property
    def usage(self) -> Usage:
        """How much there is of what the quota counts."""
        return self._usage

    async def close(self) -> None:
        """Stop the plane's own work, end every watch, and let the file go."""
        for chores in self._chores:
            await chores.close()
        self._access.close()
        self._usage.close()
        await self._webhooks.close()
        self.registry.close()
        await self.store.close()

    async def reseal(self) -> None:
        """Encrypt every secret with the key that is now the first one."""
        await self.store.reseal()

    async def rest(self) -> None:
        """Wait until the plane has nothing to do by itself."""
        while not all(chores.idle for chores in self._chores):
            for chores in self._chores:
                await chores.rest()

    async def _begin(
        self,
        definitions: Sequence[Document],
        access: Sequence[ClusterRole | ClusterRoleBinding],
    ) -> None:
        # Before all others: they look at what is served, and must find what a change has brought.
        self._definitions.start()
        self._definitions.changed = self._collector.look_around
        self._collector.start()
        self._namespaces.start()
        self._accounts.start()
        await startup.ensure_definitions(self.registry, definitions)
        await self._access.begin(access)
        namespaces = self.kinds.require("v1", "Namespace")
        for name in _FIRST_NAMESPACES:
            if self.store.find(namespaces.storage, name) is None:
                document = {"metadata": {"name": name}}
                try:
                    await self.registry.create(namespaces, "", document, PLAIN_WRITE)
                except ApiError as refusal:
                    # A full disk, or a full plane, must not keep out whoever is to make room.
                    _log.warning(
                        "namespace not made", extra={"namespace": name, "why": str(refusal)}
                    )
        await self._accounts.worker.settle()
        self._webhooks.begin()
