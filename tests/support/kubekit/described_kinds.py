"""A few kinds that cover everything that discovery and OpenAPI describe."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from kubekit.api.resource import Resource, Scale
from kubekit.api.structural.nodes import Schema
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.registry.kinds import Kind, Kinds, head_of
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.store import Store
from tests.support.compute.builders import NOW

Result = TypeVar("Result")

WIDGETS = Resource(
    group="example.com",
    version="v1",
    kind="Widget",
    plural="widgets",
    short_names=("wd",),
    categories=("all",),
    status=True,
    scale=Scale(),
    selectable_fields=(".spec.colour",),
)
CONFIG_MAPS = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps")
NAMESPACES = Resource(
    group="", version="v1", kind="Namespace", plural="namespaces", namespaced=False, status=True
)
LEASES = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases")
WIDGET_SCHEMA = {
    "description": "Something to count.",
    "type": "object",
    "required": ["spec"],
    "properties": {
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "colour": {"description": "Its colour.", "type": "string", "default": "red"},
                "size": {"anyOf": [{"type": "integer"}, {"type": "string"}], "type": "string"},
                "tags": {"type": "array", "items": {"type": "string", "nullable": True}},
                "notes": {"type": "object", "additionalProperties": {"type": "string"}},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
    },
}


def kind_of(resource: Resource, schema: Schema, *, custom: bool = True) -> Kind:
    """A kind without conversion: it is stored in the version of the resource."""
    return Kind(
        resource=resource,
        schema=schema,
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=custom,
    )


def widgets(version: str = "v1") -> Kind:
    resource = Resource(group="example.com", version=version, kind="Widget", plural="widgets")
    return kind_of(resource, {"type": "object"})


WIDGET = kind_of(WIDGETS, WIDGET_SCHEMA)
CONFIG_MAP = kind_of(CONFIG_MAPS, {"type": "object"}, custom=False)
NAMESPACE = kind_of(NAMESPACES, {"type": "object"}, custom=False)
LEASE = kind_of(LEASES, {"type": "object"}, custom=False)
KINDS = Kinds((NAMESPACE, CONFIG_MAP, WIDGET, LEASE))


@dataclass
class Described:
    """The part of a plane that discovery and OpenAPI pages read."""

    registry: Registry
    kinds: Kinds = KINDS

    @property
    def access(self) -> Authorizer:
        """It is never called."""
        return Authorizer(self.registry.store)


def asking(path: str, query: str = "", method: str = "GET", **headers: str) -> ServerRequest:
    """A request. Headers are given with underscores."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return ServerRequest(method, path, query, names)


def with_plane(directory: Path, scenario: Callable[[Described], Awaitable[Result]]) -> Result:
    """The result of a scenario on a new plane. The store is closed after it."""

    async def run() -> Result:
        environment = ExecutionEnvironment(lambda: NOW, Random(1))
        store = await Store.open(directory / "plane.db", environment, threaded=False)
        try:
            return await scenario(Described(Registry(store, KINDS, environment)))
        finally:
            await store.close()

    return asyncio.run(run())
