"""A project, two cells, and the network service between them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.instance_spec import LocationRef, NetworkRef
from compute.api.karmada import ClusterSpec, MemberCluster
from compute.api.networking import (
    Network,
    NetworkBinding,
    NetworkBindingSpec,
    NetworkContext,
    NetworkIPAM,
    NetworkSpec,
    Subnet,
    SubnetClaim,
    SubnetClaimSpec,
)
from compute.decide.conditions import find
from compute.services.network import controllers
from compute.services.planes import ServicePlanes
from kubekit.api.errors import Unavailable
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import LocalRef, Object, ObjectMeta
from kubekit.api.resource import Resource
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.local import LocalTransport, RecordClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent
from kubekit.plane.store.records import Record
from kubekit.runtime.requests import cluster_name
from tests.support.kubekit.stage import Stage

PLANES = (
    ("core", "core"),
    ("hub", "hub"),
    ("projects", "shop"),
    ("cells", "dfw"),
    ("cells", "lhr"),
)
NS = "ns-1"


def network(name: str = "default", range_: str | None = None, **spec: Any) -> Network:
    return Network(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto", ipv4_range=range_), **spec),
    )


def home(name: str = NS, project: str = "shop", namespace: str = "default") -> Namespace:
    upstream = {
        labels.UPSTREAM_CLUSTER: names.encode_cluster(names.cluster(project)),
        labels.UPSTREAM_NAMESPACE: namespace,
    }
    return Namespace(metadata=ObjectMeta(name=name, labels=upstream))


def binding(
    location: str, of: str = "default", name: str = "web-net-0", namespace: str = ""
) -> NetworkBinding:
    return NetworkBinding(
        metadata=ObjectMeta(name=name, namespace=NS),
        spec=NetworkBindingSpec(
            location=LocationRef(name=location), network=NetworkRef(name=of, namespace=namespace)
        ),
    )


def claim(context: NetworkContext, **spec: Any) -> SubnetClaim:
    """The claim that a cell creates for a context."""
    meta = context.metadata
    asked: dict[str, Any] = {
        "ip_family": "IPv4",
        "subnet_class": "private",
        "location": context.spec.location,
    }
    return SubnetClaim(
        metadata=ObjectMeta(
            name=spec.pop("name", names.subnet_claim(meta.name)),
            namespace=meta.namespace,
            owner_references=(context.reference(),),
        ),
        spec=SubnetClaimSpec(network_context=LocalRef(name=meta.name), **(asked | spec)),
    )


def planes(stage: Stage) -> ServicePlanes:
    return ServicePlanes(
        core=stage.role("core"),
        hub=stage.role("hub"),
        projects=stage.role("projects"),
        cells=stage.role("cells"),
    )


def member(cell: str) -> MemberCluster:
    """A cell, as the hub knows it."""
    return MemberCluster(metadata=ObjectMeta(name=cell), spec=ClusterSpec(sync_mode="Push"))


async def world(stage: Stage, *networks: Network, copies: int = 1) -> None:
    """A project with these networks, two cells with its namespace, and the service."""
    for each in networks:
        await stage.client("shop").create(each)
    for cell in ("dfw", "lhr"):
        await stage.client("hub").create(member(cell))
        await stage.client(cell).create(home())
    for _ in range(copies):
        stage.start(*controllers(planes(stage), stage.factory))


async def bound(stage: Stage, cell: str, of: str = "default") -> NetworkContext:
    """Create a binding; returns the context of the network in the cell."""
    await stage.client(cell).create(binding(cell, of, name=f"{of}-net-0"))
    name = names.network_context(of, cell)
    return await stage.named(cell, NetworkContext, name, NS, lambda c: says(c, "Ready") == "True")


async def subnet(stage: Stage, cell: str, of: str = "default", **spec: Any) -> str:
    """The Subnet of a network in a cell, once it is ready."""
    made = claim(await bound(stage, cell, of), **spec)
    await stage.client(cell).create(made)
    done = await stage.seen(cell, made, lambda c: says(c, "Ready") == "True")
    assert done.status.subnet_ref is not None
    found = await stage.named(cell, Subnet, done.status.subnet_ref.name, NS)
    assert says(found, "Ready") == "True"
    return f"{done.status.start_address}/{done.status.prefix_length}"


def says(obj: Any, kind: str) -> str:
    """The status of a condition."""
    condition = find(obj.status.conditions, kind)
    return "" if condition is None else condition.status


def because(obj: Any, kind: str = "Ready") -> str:
    """The reason of a condition."""
    condition = find(obj.status.conditions, kind)
    return "" if condition is None else condition.reason


async def written(stage: Stage, plane: str, obj: Any, **changes: Any) -> Any:
    """The object, with these fields changed by a user."""
    meta = obj.metadata
    live = await stage.client(plane).get(type(obj), meta.name, meta.namespace)
    return await stage.client(plane).patch(live, msgspec.structs.replace(live, **changes))


async def settings(stage: Stage, cell: str, name: str, **data: str) -> ConfigMap:
    """A ConfigMap of the cell's operators, made or changed."""
    client = stage.client(cell)
    if await client.find(Namespace, "compute-system") is None:
        await client.create(Namespace(metadata=ObjectMeta(name="compute-system")))
    there = await client.find(ConfigMap, name, "compute-system")
    if there is None:
        meta = ObjectMeta(name=name, namespace="compute-system")
        return await client.create(ConfigMap(metadata=meta, data=data))
    return await client.patch(there, msgspec.structs.replace(there, data=data))


class Link(LocalTransport):
    """A transport to a plane, which can be cut: requests fail then, and watches deliver nothing.

    While it lags, only the watches deliver nothing, or only those of one kind.
    """

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane)
        self._flows = asyncio.Event()
        self._flows.set()
        self._is_cut = False
        self._lags: Resource | None = None

    def cut(self) -> None:
        self._is_cut = True
        self.lag()

    def lag(self, kind: type[Object] | None = None) -> None:
        self._lags = kind.RESOURCE if kind else None
        self._flows.clear()

    def heal(self) -> None:
        self._is_cut = False
        self._flows.set()

    def record(self, place: ResourceLocation, resource_version: str = "") -> Record:
        self._check()
        return super().record(place, resource_version)

    async def page(self, place: ResourceLocation, options: ListOptions) -> Page:
        self._check()
        return await super().page(place, options)

    async def create_encoded(
        self, place: ResourceLocation, body: bytes, options: WriteOptions
    ) -> Record:
        self._check()
        return await super().create_encoded(place, body, options)

    async def patched(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Record:
        self._check()
        return await super().patched(place, kind, patch, options)

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        self._check()
        return await super().delete(place, options)

    @asynccontextmanager
    async def encoded_events(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[EncodedWatchEvent]]:
        self._check()
        async with (
            super().encoded_events(place, options) as events,
            aclosing(self._late(place.resource, events)) as late,
        ):
            yield late

    async def _late(
        self, resource: Resource, events: AsyncIterator[EncodedWatchEvent]
    ) -> AsyncGenerator[EncodedWatchEvent, None]:
        async for event in events:
            if self._lags is None or self._lags == resource:
                await self._flows.wait()
            yield event

    def _check(self) -> None:
        if self._is_cut:
            raise Unavailable("the link is cut")


async def linked(stage: Stage, role: str, name: str) -> Link:
    """The link through which a plane is engaged in a role."""
    link = Link(await stage.plane(name))
    await stage.role(role).engage(cluster_name(name), RecordClient(link))
    return link
