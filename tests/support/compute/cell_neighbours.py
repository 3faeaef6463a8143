"""A cell for stories about deployments: the controller under test, and neighbours that a test controls.

The neighbours are simple on purpose: they report Ready or a failure, as the test decides.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatch
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, InstanceControllerStatus, WorkloadDeployment
from compute.api.gates import NETWORK
from compute.api.networking import (
    Location,
    LocationProvider,
    LocationSpec,
    NetworkBinding,
    NetworkContext,
    NetworkContextRef,
    NetworkContextSpec,
    Subnet,
    SubnetClaim,
    SubnetSpec,
)
from compute.controllers.cell.deployment import controller
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide.conditions import find, put
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, ConditionStatus, LocalRef, ObjectMeta, with_spec
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation, WatchEvent
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.reconciling.commit import create_or_patch
from kubekit.runtime.requests import DONE, ClusterName, NotEngaged, Request, Result, cluster_name
from kubekit.runtime.sources import own
from tests.support.compute.builders import NOW, condition, deployment
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

PLANE = "dfw"
NAMESPACE = "ns-1"
Refuses = Callable[[str, ResourceLocation], Exception | None]


class ControllableTransport(LocalTransport):
    """The controller's transport to the cell. It can refuse requests, and its watches can lag.

    ``refuses`` gets the verb and location of each request, and returns the error to raise, or None.
    """

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane, manager="cell")
        self.refuses: Refuses = lambda _verb, _place: None
        self._late: tuple[str, ...] = ()
        self._flows = asyncio.Event()

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document:
        self._ask("get", place)
        return await super().get(place, resource_version)

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document:
        self._ask("list", place)
        return await super().list(place, options)

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self._ask("create", place)
        return await super().create(place, document, options)

    async def patch(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        self._ask("patch", place)
        return await super().patch(place, kind, patch, options)

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        self._ask("delete", place)
        return await super().delete(place, options)

    @asynccontextmanager
    async def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        async with super().watch(place, options) as events:
            yield self._held(place.resource.kind, events)

    def hold(self, *kinds: str) -> None:
        """Hold back the watch events of these kinds from now on."""
        self._late = kinds
        self._flows.set()
        self._flows = asyncio.Event()

    async def _held(
        self, kind: str, events: AsyncIterator[WatchEvent]
    ) -> AsyncIterator[WatchEvent]:
        async for event in events:
            while kind in self._late:
                await self._flows.wait()
            yield event

    def _ask(self, verb: str, place: ResourceLocation) -> None:
        refusal = self.refuses(verb, place)
        if refusal is not None:
            raise refusal


@dataclass
class Machines:
    """Plays all other writers of Instances: quota is granted, machines start and stop.

    ``bad`` are patterns of images that never come up.
    """

    clusters: Clusters
    seconds: float = 1.0
    bad: tuple[str, ...] = ()
    stopping: float = 0.5
    _since: dict[tuple[str, bool], float] = field(default_factory=dict)

    async def reconcile(self, request: Request) -> Result:
        cluster = self.clusters.get(request.cluster)
        instance = await cluster.client.find(Instance, request.name, request.namespace)
        if instance is None or not _may_start(instance):
            return DONE
        left = self._left(instance)
        if left > 0:
            return Result(requeue_after=timedelta(seconds=left))
        if instance.deleting:
            await cluster.client.patch(instance, with_meta(instance, finalizers=()))
        else:
            await self._start(cluster, instance)
        return DONE

    def _left(self, instance: Instance) -> float:
        now = asyncio.get_running_loop().time()
        began = self._since.setdefault((instance.metadata.uid, instance.deleting), now)
        return began + (self.stopping if instance.deleting else self.seconds) - now

    async def _start(self, cluster: Cluster, instance: Instance) -> None:
        assert instance.spec.controller is not None
        opened = msgspec.structs.replace(instance.spec.controller, scheduling_gates=())
        spec = msgspec.structs.replace(instance.spec, controller=opened)
        instance = await cluster.client.patch(
            instance, msgspec.structs.replace(instance, spec=spec)
        )
        image = instance_image(instance)
        status = (
            failing(instance)
            if any(fnmatch(image, pattern) for pattern in self.bad)
            else serving(instance)
        )
        await cluster.client.patch_status(instance, status)


@dataclass
class Networks:
    """Plays the network service. ``failing`` names networks that cannot be set up."""

    clusters: Clusters
    failing: dict[str, str] = field(default_factory=dict)  # the reason, by network
    silent: bool = False

    async def reconcile(self, request: Request) -> Result:
        if self.silent:
            return DONE
        client = self.clusters.get(request.cluster).client
        binding = await client.find(NetworkBinding, request.name, request.namespace)
        if binding is not None and not binding.deleting:
            await self._bind(client, binding)
        claim = await client.find(SubnetClaim, request.name, request.namespace)
        if claim is not None and not claim.deleting:
            await self._give(client, claim)
        return DONE

    async def _bind(self, client: Any, binding: NetworkBinding) -> None:
        network, location = binding.spec.network.name, binding.spec.location
        if reason := self.failing.get(network):
            await write_condition(client, binding, "False", reason, f"{network} cannot be had")
            return
        name = names.network_context(network, location.name)
        spec = NetworkContextSpec(location=location, network=LocalRef(name=network))
        meta = ObjectMeta(name=name, namespace=binding.metadata.namespace)
        context = await create_or_patch(
            client, NetworkContext(metadata=meta, spec=spec), lambda c: c
        )
        await write_condition(client, context, "True", "Ready")
        ref = NetworkContextRef(name=name, namespace=meta.namespace)
        await write_condition(
            client, binding, "True", "NetworkContextReady", network_context_ref=ref
        )

    async def _give(self, client: Any, claim: SubnetClaim) -> None:
        meta = ObjectMeta(name=claim.metadata.name, namespace=claim.metadata.namespace)
        spec = SubnetSpec(
            ip_family=claim.spec.ip_family,
            location=claim.spec.location,
            network_context=claim.spec.network_context,
            subnet_class=claim.spec.subnet_class,
            prefix_length=20,
            start_address="10.128.0.0",
        )
        subnet = await create_or_patch(client, Subnet(metadata=meta, spec=spec), lambda s: s)
        await write_condition(client, subnet, "True", "Ready")
        await write_condition(
            client, claim, "True", "SubnetReady", subnet_ref=LocalRef(name=meta.name)
        )


@dataclass
class Cell:
    """A stage with one cell, with helpers for what users and neighbours do there."""

    stage: Stage
    transport: ControllableTransport
    machines: Machines
    networks: Networks

    @property
    def client(self) -> Client:
        return self.stage.client(PLANE)

    async def deploy(self, wanted: WorkloadDeployment | None = None) -> WorkloadDeployment:
        """Play the engine: bring a deployment into the cell."""
        wanted = wanted or deployment()
        return await self.client.create(with_meta(wanted, uid="", generation=0))

    async def change(
        self, alter: Callable[[WorkloadDeployment], WorkloadDeployment]
    ) -> WorkloadDeployment:
        """Play the engine: bring a change of the deployment into the cell."""
        present = await self.client.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        return await self.client.patch(present, alter(present))

    async def reported(
        self, true: Callable[[WorkloadDeployment], object], seconds: float = 60.0
    ) -> WorkloadDeployment:
        """The deployment once its status is as wanted."""
        return await self.stage.named(
            PLANE, WorkloadDeployment, "web-home-dfw", NAMESPACE, true, seconds
        )

    async def ready(self, count: int, seconds: float = 600.0) -> WorkloadDeployment:
        """The deployment once so many Instances of its newest template serve."""

        def is_so(one: WorkloadDeployment) -> bool:
            status = one.status
            counted = (status.ready_replicas, status.current_replicas, status.replicas)
            return counted == (count,) * 3 and status.observed_generation == one.metadata.generation

        return await self.reported(is_so, seconds)

    async def instances(self) -> list[Instance]:
        """The Instances by ordinal."""
        found = (await self.client.list(Instance, NAMESPACE)).items
        return sorted(found, key=lambda one: names.instance_parts(one.metadata.name) or ("", 0))

    async def names(self) -> list[str]:
        return [one.metadata.name for one in await self.instances()]


async def cell(
    stage: Stage,
    *,
    networking: bool = True,
    quota: bool = True,
    locations: Iterable[str] = ("lab-dfw-1",),
    copies: int = 1,
) -> Cell:
    """A cell with one or more copies of its controller, and working neighbours."""
    for role in ("machines", "networks"):
        await stage.engage(role, PLANE, manager=role)
    transport = ControllableTransport(stage.planes[PLANE])
    await stage.role("cell").engage(cluster_name(PLANE), Client(transport))
    made = Cell(
        stage, transport, Machines(stage.role("machines")), Networks(stage.role("networks"))
    )
    await made.client.create(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    for name in locations:
        await made.client.create(location(name))
    settings = CellSettings(name=PLANE, networking=networking, quota=quota)
    for number in range(copies):
        clusters = stage.role("cell" if number == 0 else f"cell-{number}")
        if number:
            await stage.engage(clusters.role, PLANE, manager=clusters.role)
        planes = CellPlanes(clusters, stage.role("hub"), stage.role("projects"), _unreachable)
        stage.start(*controller.controllers(planes, settings, stage.factory))
    machines = [own(Instance, stage.role("machines"))]
    stage.start(stage.factory.controller("machines", made.machines, machines[0].clusters, machines))
    networks = [own(kind, stage.role("networks")) for kind in (NetworkBinding, SubnetClaim)]
    stage.start(stage.factory.controller("networks", made.networks, networks[0].clusters, networks))
    return made


def location(name: str = "lab-dfw-1", city: str = "DFW") -> Location:
    return Location(
        metadata=ObjectMeta(name=name),
        spec=LocationSpec(
            location_class_name="datum-managed",
            provider=LocationProvider(),
            topology={labels.TOPOLOGY_CITY_CODE: city},
        ),
    )


def serving(instance: Instance) -> Instance:
    """The Instance as its provider and its controller report it once it serves."""
    news = [condition(kind, since=NOW) for kind in ("Programmed", "Available", "Ready")]
    return _reporting(instance, [*news, condition("QuotaGranted", "True", "QuotaAvailable")])


def failing(instance: Instance, reason: str = "ImageUnavailable") -> Instance:
    """The Instance as it is reported when it does not come up."""
    news = [condition("Ready", "False", reason, "no such image")]
    return _reporting(instance, [*news, condition("QuotaGranted", "True", "QuotaAvailable")])


async def write_condition(
    client: Any,
    obj: Any,
    status: ConditionStatus,
    reason: str,
    message: str = "",
    **more: Any,
) -> None:
    """Write the condition Ready of an object."""
    ready = condition("Ready", status, reason, message, since=NOW)
    before = find(obj.status.conditions, "Ready")
    if before and (before.status, before.reason) == (status, reason):
        return
    news = put(obj.status.conditions, [ready], NOW)
    wanted = msgspec.structs.replace(obj.status, conditions=news, **more)
    await client.patch_status(obj, msgspec.structs.replace(obj, status=wanted))


def instance_image(instance: Instance) -> str:
    assert instance.spec.runtime.sandbox is not None
    return instance.spec.runtime.sandbox.containers[0].image


def image(of: WorkloadDeployment, name: str) -> WorkloadDeployment:
    """The deployment with another image."""
    fresh = deployment(image=name).spec.template
    return with_spec(of, template=fresh)


def scaled(of: WorkloadDeployment, replicas: int) -> WorkloadDeployment:
    """The deployment with another number of Instances."""
    settings = msgspec.structs.replace(of.spec.scale_settings, min_replicas=replicas)
    return with_spec(of, scale_settings=settings)


def _reporting(instance: Instance, news: list[Condition]) -> Instance:
    assert instance.spec.controller is not None
    status = msgspec.structs.replace(
        instance.status,
        conditions=put(instance.status.conditions, news, NOW),
        controller=InstanceControllerStatus(
            observed_template_hash=instance.spec.controller.template_hash
        ),
    )
    return msgspec.structs.replace(instance, status=status)


def _may_start(instance: Instance) -> bool:
    controller_ = instance.spec.controller
    gates = controller_.scheduling_gates if controller_ else ()
    return instance.deleting or all(gate.name != NETWORK for gate in gates)


async def _unreachable(name: ClusterName) -> Cluster:
    raise NotEngaged(name)
