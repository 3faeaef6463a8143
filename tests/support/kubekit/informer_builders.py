"""An informer on a plane in virtual time, and a handler that records its calls."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.changes import CacheChange
from kubekit.runtime.watching.informer import Informer
from kubekit.runtime.watching.informers import ALL_OBJECTS, Informers, KindSelectors
from tests.support.compute import served_kinds
from tests.support.kubekit import virtual_time
from tests.support.kubekit.following_builders import FaultyTransport, faulty
from tests.support.kubekit.plane_worlds import environment

HERE = cluster_name("here")


@dataclass
class InformerWorld:
    """A plane, a transport that fails on demand, and a client beside it that writes."""

    plane: Plane
    client: Client
    transport: FaultyTransport
    writer: LocalClient

    @asynccontextmanager
    async def informer(self, kind: type[Object] = ConfigMap) -> AsyncIterator[Informer[Any]]:
        """A running informer that has listed."""
        async with self.informers() as informers:
            informer = informers.of(kind)
            await asyncio.sleep(0.1)
            yield informer

    @asynccontextmanager
    async def informers(self, parts: KindSelectors = ALL_OBJECTS) -> AsyncIterator[Informers]:
        scope = Scope("here")
        try:
            yield Informers(HERE, self.client, environment(), scope, parts)
        finally:
            await scope.close()

    async def change(self, obj: ConfigMap, **data: str) -> ConfigMap:
        return await self.writer.patch(obj, msgspec.structs.replace(obj, data=data))

    async def forget(self) -> None:
        await self.plane.store.compact(self.plane.store.revision)


Story = Callable[[InformerWorld], Awaitable[None]]


def run_in_world(directory: Path, story: Story, kinds: Kinds | None = None) -> None:
    """Run a story on a fresh plane, in virtual time."""

    async def run() -> None:
        kept = kinds or served_kinds.everything()
        plane = await Plane.open(directory, kept, environment(), threaded=False)
        try:
            await story(InformerWorld(plane, *faulty(plane), LocalClient(plane)))
        finally:
            await plane.close()

    virtual_time.run(run())


class RecordingHandler:
    """A handler. It records ``+name``, ``~name`` and ``-name``."""

    def __init__(self) -> None:
        self.signs: list[str] = []
        self.changes: list[CacheChange[Any]] = []

    def __call__(self, change: CacheChange[Any]) -> None:
        sign = "+" if change.added else "-" if change.removed else "~"
        self.signs.append(sign + change.name)
        self.changes.append(change)
