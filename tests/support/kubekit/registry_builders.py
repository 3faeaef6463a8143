"""A registry on a real store and a virtual clock, with short helpers for requests."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.api.errors import ApiError
from kubekit.api.status import StatusDetails
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_DELETE,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions import served_kinds
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.verbs.results import DeleteResult, Page, WriteResult
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent, Watch
from kubekit.plane.store.records import Record
from kubekit.plane.store.store import Store, StoreSettings
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import environment

Document = dict[str, Any]
SPACE = "room"
WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "selectableFields": [
                    {"jsonPath": ".spec.color"},
                    {"jsonPath": ".spec.size"},
                    {"jsonPath": ".spec.loud"},
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "color": {"type": "string"},
                                    "loud": {"type": "boolean"},
                                    "replicas": {"type": "integer"},
                                    "size": {"type": "integer", "default": 3, "maximum": 10},
                                    "any": {"x-kubernetes-preserve-unknown-fields": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "phase": {"type": "string"},
                                    "replicas": {"type": "integer"},
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}


@dataclass(frozen=True)
class Collection:
    """One kind in one namespace of a registry. Requests and results are plain documents."""

    registry: Registry
    kind: Kind
    namespace: str = SPACE

    def document(self, name: str, metadata: Document | None = None, **parts: object) -> Document:
        resource = self.kind.resource
        said = {"name": name, **(metadata or {})}
        return {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": said,
            **parts,
        }

    async def make(self, name: str, metadata: Document | None = None, **parts: object) -> Document:
        return document_of(await self.create(self.document(name, metadata, **parts)))

    async def create(self, document: Any, options: WriteOptions = PLAIN_WRITE) -> WriteResult:
        return await self.registry.create(self.kind, self.namespace, document, options)

    async def update(
        self, document: Document, part: str = "", options: WriteOptions = PLAIN_WRITE
    ) -> WriteResult:
        name = document["metadata"]["name"]
        return await self.put(name, document, part, options)

    async def put(
        self, name: str, document: Any, part: str = "", options: WriteOptions = PLAIN_WRITE
    ) -> WriteResult:
        return await self.registry.update(self.kind, self.namespace, name, document, options, part)

    async def merge(
        self, name: str, patch: object, part: str = "", options: WriteOptions = PLAIN_WRITE
    ) -> WriteResult:
        return await self.patch(name, patch, PatchType.MERGE, part, options)

    async def patch(
        self,
        name: str,
        patch: object,
        how: PatchType,
        part: str = "",
        options: WriteOptions = PLAIN_WRITE,
    ) -> WriteResult:
        return await self.registry.patch(self.kind, self.namespace, name, how, patch, options, part)

    async def delete(self, name: str, options: DeleteOptions = PLAIN_DELETE) -> DeleteResult:
        return await self.registry.delete(self.kind, self.namespace, name, options)

    async def clear(
        self, which: ListOptions = EVERYTHING, options: DeleteOptions = PLAIN_DELETE
    ) -> Page:
        return await self.registry.delete_collection(self.kind, self.namespace, which, options)

    def get(self, name: str, version: str = "") -> Document:
        return decoded(self.registry.get(self.kind, self.namespace, name, version))

    def scale(self, name: str) -> Document:
        return decoded(self.registry.get_scale(self.kind, self.namespace, name))

    async def list(self, options: ListOptions = EVERYTHING) -> Page:
        return await self.registry.list(self.kind, self.namespace, options)

    async def watch(self, name: str = "", **options: Any) -> Watch:
        asked = WatchOptions(**options)
        return await self.registry.watch(self.kind, self.namespace, asked, name)


@dataclass(frozen=True)
class World:
    """A registry with a namespace, and the collections that most tests use."""

    store: Store
    registry: Registry
    surroundings: ExecutionEnvironment

    def collection(self, api_version: str, kind: str, namespace: str = SPACE) -> Collection:
        return Collection(self.registry, self.registry.kinds.require(api_version, kind), namespace)

    @property
    def widgets(self) -> Collection:
        return self.collection("example.com/v1", "Widget")

    @property
    def config_maps(self) -> Collection:
        return self.collection("v1", "ConfigMap")

    @property
    def namespaces(self) -> Collection:
        return self.collection("v1", "Namespace", "")


def scenario(
    test: Callable[..., Awaitable[None]] | None = None, *, settings: StoreSettings | None = None
) -> Callable[..., Any]:
    """A coroutine function that receives a `World`, as a test; further arguments are parameters."""
    if test is None:
        return functools.partial(scenario, settings=settings)

    @functools.wraps(test)
    def run(tmp_path: Path, **parameters: object) -> None:
        virtual_time.run(_within(tmp_path, settings or StoreSettings(), test, parameters))

    asked = [p for name, p in inspect.signature(test).parameters.items() if name != "world"]
    place = inspect.Parameter("tmp_path", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(run)["__signature__"] = inspect.Signature([place, *asked])  # what pytest looks at
    return run


async def _within(
    directory: Path,
    settings: StoreSettings,
    test: Callable[..., Awaitable[None]],
    parameters: Document,
) -> None:
    surroundings = environment()
    store = await Store.open(directory / "store.db", surroundings, settings, threaded=False)
    kinds = Kinds((*builtins.core(), *served_kinds.kinds_of(WIDGETS)))
    world = World(store, Registry(store, kinds, surroundings), surroundings)
    try:
        await world.namespaces.make(SPACE)
        await test(world, **parameters)
    finally:
        world.registry.close()
        await store.close()


def decoded(record: Record) -> Document:
    document: Document = msgspec.json.decode(record.data)
    return document


def document_of(outcome: WriteResult | DeleteResult) -> Document:
    return decoded(outcome.record)


def details_of(refusal: pytest.ExceptionInfo[ApiError]) -> StatusDetails:
    """The details of an error Status."""
    assert refusal.value.details is not None
    return refusal.value.details


def names(page: Page) -> list[str]:
    return [record.key.rpartition("/")[2] for record in page.records]


def summaries(notices: list[EncodedWatchEvent]) -> list[tuple[str, str]]:
    """The events of a watcher: the kind of change and the object's name."""
    documents = [(notice.type, msgspec.json.decode(notice.data)) for notice in notices]
    return [(kind, document["metadata"].get("name", "")) for kind, document in documents]


def version(document: Document) -> str:
    text: str = document["metadata"]["resourceVersion"]
    return text
