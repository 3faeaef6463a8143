"""One plane: a store, the registry above it, and the work a plane does by itself."""

import logging
from pathlib import Path
from typing import Final

from compute.api.errors import Unavailable
from compute.client.options import PLAIN_WRITE
from compute.plane.environment import Environment
from compute.plane.registry.collector import Collector
from compute.plane.registry.kinds import Kinds
from compute.plane.registry.namespaces import NamespaceEnder
from compute.plane.registry.registry import Registry
from compute.plane.store.store import Settings, Store

DATABASE: Final = "plane.db"
_FIRST_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_log: Final = logging.getLogger(__name__)


class Plane:
    """An API for one machine. `open` it, and `close` it when done."""

    def __init__(self, store: Store, kinds: Kinds, environment: Environment) -> None:
        self.store = store
        self.registry = Registry(store, kinds, environment)
        self._collector = Collector(store, self.registry)
        self._namespaces = NamespaceEnder(store, self.registry, environment)
        self._chores = (self._collector.chores, self._namespaces.chores)

    @classmethod
    async def open(
        cls,
        directory: Path,
        kinds: Kinds,
        environment: Environment,
        settings: Settings | None = None,
        *,
        threaded: bool = True,
    ) -> "Plane":
        """The plane whose data is in this directory, made there if there is none yet."""
        store = await Store.open(
            directory / DATABASE, environment, settings or Settings(), threaded=threaded
        )
        return await cls.on(store, kinds, environment)

    @classmethod
    async def on(cls, store: Store, kinds: Kinds, environment: Environment) -> "Plane":
        """The plane on this store, which is the plane's to close from here on."""
        plane = cls(store, kinds, environment)
        try:
            await plane._begin()
        except BaseException:
            await plane.close()
            raise
        return plane

    @property
    def kinds(self) -> Kinds:
        """The kinds that are served now."""
        return self.registry.kinds

    async def close(self) -> None:
        """Stop the plane's own work, end every watch, and let the file go."""
        for chores in self._chores:
            await chores.close()
        self.registry.close()
        await self.store.close()

    async def rest(self) -> None:
        """Wait until the plane has nothing to do by itself."""
        while not all(chores.idle for chores in self._chores):
            for chores in self._chores:
                await chores.rest()

    async def _begin(self) -> None:
        self._collector.start()
        self._namespaces.start()
        namespaces = self.kinds.require("v1", "Namespace")
        for name in _FIRST_NAMESPACES:
            if self.store.find(namespaces.storage, name) is None:
                document = {"metadata": {"name": name}}
                try:
                    await self.registry.create(namespaces, "", document, PLAIN_WRITE)
                except Unavailable as refusal:
                    # A full disk is no reason to keep people from reading what they have.
                    _log.warning(
                        "namespace not made", extra={"namespace": name, "why": str(refusal)}
                    )
