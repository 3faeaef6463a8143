"""A plane on a virtual clock, and a few helpers to write ConfigMaps."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from kubekit.client.options import EVERYTHING, PLAIN_WRITE, DeleteOptions, PatchType, Propagation
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.store.records import Record
from kubekit.plane.store.settings import StoreSettings

Document = dict[str, Any]
START = datetime(2026, 1, 1, tzinfo=UTC)


def environment(seed: int = 1) -> ExecutionEnvironment:
    """Time from the running loop, chance from a seed."""
    return ExecutionEnvironment(
        now=lambda: START + timedelta(seconds=asyncio.get_running_loop().time()),
        chance=Random(seed),
    )


@asynccontextmanager
async def opened(
    directory: str | Path,
    seed: int = 1,
    settings: StoreSettings | None = None,
    **more: Any,
) -> AsyncIterator["PlaneWorld"]:
    """A plane with Kubernetes' own kinds, unless others are named, closed at the end."""
    kinds = more.pop("kinds", None) or Kinds(builtins.core())
    plane = await Plane.open(
        Path(directory),
        kinds,
        environment(seed),
        settings,
        threaded=False,
        **more,
    )
    try:
        yield PlaneWorld(plane)
    finally:
        await plane.close()


@dataclass(frozen=True)
class PlaneWorld:
    """ConfigMaps that own each other, in the namespace ``default``."""

    plane: Plane
    namespace: str = "default"

    @property
    def kind(self) -> Kind:
        return self.plane.kinds.require("v1", "ConfigMap")

    async def create(
        self,
        name: str,
        owners: Sequence[Document] = (),
        *,
        blocking: bool = False,
        finalizers: Sequence[str] = (),
        data: Document | None = None,
    ) -> Document:
        metadata: Document = {"name": name, "finalizers": list(finalizers)}
        metadata["ownerReferences"] = [_reference(owner, blocking=blocking) for owner in owners]
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        document |= {"data": data or {}}
        written = await self.plane.registry.create(self.kind, self.namespace, document, PLAIN_WRITE)
        return _decoded(written.record)

    async def own(self, name: str, owners: Sequence[Document], *, blocking: bool = False) -> None:
        """Set the owners of an object."""
        await self._patch(
            name, {"ownerReferences": [_reference(o, blocking=blocking) for o in owners]}
        )

    async def release(self, name: str) -> None:
        """Remove every finalizer, and wait for the effects."""
        await self._patch(name, {"finalizers": None})
        await self.plane.rest()

    async def delete(self, name: str, propagation: Propagation) -> None:
        """Delete an object, and wait for the effects."""
        await self.ask_to_delete(name, propagation)
        await self.plane.rest()

    async def ask_to_delete(self, name: str, propagation: Propagation) -> None:
        options = DeleteOptions(propagation=propagation)
        await self.plane.registry.delete(self.kind, self.namespace, name, options)

    async def get(self, name: str) -> Document:
        return _decoded(self.plane.registry.get(self.kind, self.namespace, name))

    async def names(self) -> list[str]:
        page = await self.plane.registry.list(self.kind, self.namespace, EVERYTHING)
        return [_decoded(record)["metadata"]["name"] for record in page.records]

    async def _patch(self, name: str, metadata: Document) -> None:
        await self.plane.registry.patch(
            self.kind, self.namespace, name, PatchType.MERGE, {"metadata": metadata}, PLAIN_WRITE
        )


def _reference(owner: Document, *, blocking: bool) -> Document:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": blocking,
    }


def _decoded(record: Record) -> Document:
    document: Document = msgspec.json.decode(record.data)
    return document
