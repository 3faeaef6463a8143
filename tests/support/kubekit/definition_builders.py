"""Definitions of kinds, and a plane on a virtual clock whose kinds come and go with them."""

import copy
import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE, PatchType, WatchOptions, WriteOptions
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.verbs.watches import Watch
from kubekit.plane.store.records import Record
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import environment

Document = dict[str, Any]
GROUP = "example.com"
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
HELD = {"finalizers": ["example.com/hold"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "colour": {"type": "string"},
            },
        }
    },
}


def version(name: str = "v1", *, stored: bool = True, **parts: Any) -> Document:
    """One version of a definition, served by default."""
    schema = {"openAPIV3Schema": copy.deepcopy(SCHEMA)}
    return {"name": name, "served": True, "storage": stored, "schema": schema} | parts


def definition(
    plural: str = "widgets", *versions: Document, names: Document | None = None, **spec: Any
) -> Document:
    """The definition of a kind; its other names are derived from the plural."""
    kind = plural.removesuffix("s").capitalize()
    group = spec.get("group", GROUP)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind} | (names or {}),
            "versions": list(versions or (version(),)),
        }
        | spec,
    }


@dataclass(frozen=True)
class DefinitionWorld:
    """A plane with Kubernetes' own kinds, and short verbs on definitions and their objects."""

    plane: Plane

    @property
    def kind(self) -> Kind:
        return self.plane.kinds.require("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    def served(self, plural: str = "widgets", version: str = "v1") -> Kind | None:
        return self.plane.kinds.find(GROUP, version, plural)

    def need(self, plural: str = "widgets", version: str = "v1") -> Kind:
        found = self.served(plural, version)
        assert found is not None
        return found

    async def define(self, document: Document, options: WriteOptions = PLAIN_WRITE) -> Document:
        given = copy.deepcopy(document)
        return decoded((await self.plane.registry.create(self.kind, "", given, options)).record)

    def definition(self, plural: str = "widgets") -> Document:
        return decoded(self.plane.registry.get(self.kind, "", f"{plural}.{GROUP}"))

    async def change(self, plural: str = "widgets", **spec: Any) -> Document:
        """The definition with other values in its spec."""
        present = self.definition(plural)
        return await self.replace(present | {"spec": present["spec"] | copy.deepcopy(spec)})

    async def replace(self, document: Document, part: str = "") -> Document:
        name = document["metadata"]["name"]
        written = await self.plane.registry.update(self.kind, "", name, document, PLAIN_WRITE, part)
        return decoded(written.record)

    async def drop(self, plural: str = "widgets") -> None:
        await self.plane.registry.delete(self.kind, "", f"{plural}.{GROUP}", PLAIN_DELETE)

    async def make(
        self, name: str, kind: Kind | None = None, metadata: Document | None = None, **spec: Any
    ) -> Document:
        """Create an object of a served kind; without a kind, a widget."""
        kind = kind or self.need()
        document = {
            "apiVersion": kind.resource.api_version,
            "kind": kind.resource.kind,
            "metadata": {"name": name} | (metadata or {}),
            "spec": spec,
        }
        written = await self.plane.registry.create(kind, "default", document, PLAIN_WRITE)
        return decoded(written.record)

    def get(self, name: str, kind: Kind | None = None) -> Document:
        return decoded(self.plane.registry.get(kind or self.need(), "default", name))

    async def merge(self, name: str, patch: Document, kind: Kind | None = None) -> Document:
        registry, kind = self.plane.registry, kind or self.need()
        written = await registry.patch(kind, "default", name, PatchType.MERGE, patch, PLAIN_WRITE)
        return decoded(written.record)

    async def watch(self, kind: Kind | None = None) -> Watch:
        options = WatchOptions(resource_version=str(self.plane.store.revision))
        return await self.plane.registry.watch(kind or self.need(), "", options)

    def conditions(self, plural: str = "widgets") -> dict[str, tuple[str, str, str]]:
        """Status, reason and message of each condition."""
        return {
            one["type"]: (one["status"], one["reason"], one["message"])
            for one in self.definition(plural)["status"]["conditions"]
        }


async def opened(
    directory: Path, definitions: Sequence[Document] = (), kinds: Kinds | None = None
) -> DefinitionWorld:
    kinds = kinds or Kinds(builtins.core())
    plane = await Plane.open(
        directory, kinds, environment(), threaded=False, definitions=definitions
    )
    return DefinitionWorld(plane)


def scenario(test: Callable[[DefinitionWorld], Awaitable[None]]) -> Callable[[Path], None]:
    """A coroutine function that receives a `DefinitionWorld`, as a test."""

    @functools.wraps(test)
    def run(tmp_path: Path) -> None:
        async def within() -> None:
            world = await opened(tmp_path)
            try:
                await test(world)
            finally:
                await world.plane.close()

        virtual_time.run(within())

    del run.__dict__["__wrapped__"]  # or pytest would ask for a world
    return run


def decoded(record: Record) -> Document:
    document: Document = msgspec.json.decode(record.data)
    return document
