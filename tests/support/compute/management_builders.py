"""A project, a hub and core with the management controllers; tests act as the neighbours."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from compute.api import finalizers, karmada, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import (
    ResourceBinding,
    ResourceBindingSpec,
    TargetCluster,
    TemplateRef,
)
from compute.app.links import Link, linked_client
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import copies as hub_copies
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.projector import controller as projector
from compute.decide.federation import hub_instance
from kubekit.api import times
from kubekit.api.errors import NotFound
from kubekit.api.kinds.coordination import Lease, LeaseSpec
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Condition, ConditionStatus, Object, ObjectMeta
from kubekit.client.client import Client, Listing, TypedEvent
from kubekit.client.options import EVERYTHING, PLAIN_WATCH, ListOptions, WatchOptions
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import condition
from tests.support.compute.federation_builders import (
    IDENTITY,
    PROJECT,
    cell_instance,
    original,
    with_meta,
)
from tests.support.kubekit.stage import Stage, staged

Make = Callable[[ManagementPlanes, ControllerFactory], list[Controller]]
K = TypeVar("K", bound=Object)
WEB = "web-home-dfw"
CELL = "cell-dfw"


@dataclass
class ManagementWorld:
    """The stage, with a project ``shop``, the hub and core; and the hub namespace of ``default``."""

    stage: Stage
    planes: ManagementPlanes
    hub_namespace: str
    hub: Link  # between the controllers and the hub

    def start(self, *makes: Make, copies: int = 1) -> None:
        """Start one or more copies of each controller."""
        factories = [self.stage.factory]
        factories += [
            ControllerFactory(self.stage.environment, Metrics(), f"copy-{n}")
            for n in range(1, copies)
        ]
        self.stage.start(
            *(one for factory in factories for make in makes for one in make(self.planes, factory))
        )
        for task in (task for factory in factories[1:] for task in factory.background_tasks()):
            self.stage.scope.spawn(task.run(), task.name)

    async def deploy(self, name: str = WEB, city: str = "DFW", **meta: Any) -> WorkloadDeployment:
        """A deployment, as the workload controller makes it in the project."""
        made = with_meta(original(name, city), uid="", generation=0, **meta)
        return await self.stage.client("shop").create(made)

    async def copy(
        self, true: Callable[[WorkloadDeployment], object] = lambda _: True, name: str = WEB
    ) -> WorkloadDeployment:
        """The hub's deployment, once it exists and the predicate is true."""
        return await self.stage.named("hub", WorkloadDeployment, name, self.hub_namespace, true)

    async def project(
        self, true: Callable[[WorkloadDeployment], object] = lambda _: True, name: str = WEB
    ) -> WorkloadDeployment:
        """The project's deployment, once the predicate is true."""
        return await self.stage.named("shop", WorkloadDeployment, name, "default", true)

    async def report(self, *conditions: Condition, name: str = WEB, **counts: int) -> None:
        """Write a cell's status to the hub, as the engine does."""
        client = self.stage.client("hub", "karmada")
        found = await self.copy(name=name)
        status = msgspec.structs.replace(found.status, conditions=conditions, **counts)
        await client.patch_status(found, msgspec.structs.replace(found, status=status))

    async def write_back(self, ordinal: int = 0, *conditions: Condition) -> Instance:
        """Create or update the hub's copy of an Instance, as its cell does."""
        client = self.stage.client("hub", "cell")
        await self.copy()  # a copy is created only beside its deployment
        made = cell_instance(ordinal, namespace=self.hub_namespace, uid="", generation=0)
        status = msgspec.structs.replace(made.status, conditions=conditions)
        made = msgspec.structs.replace(made, status=status)
        wanted = hub_instance(made, IDENTITY, CELL)
        assert isinstance(wanted, Instance)
        found = await client.find(Instance, wanted.metadata.name, self.hub_namespace)
        if found is None:
            found = await client.create(wanted)
        return await client.patch_status(
            found, msgspec.structs.replace(found, status=wanted.status)
        )

    async def shown(self, *conditions: Condition, name: str = f"{WEB}-0") -> Instance:
        """The projection of an Instance, once it has these conditions."""
        return await self.stage.named(
            "shop", Instance, name, "default", lambda i: i.status.conditions == conditions
        )

    async def show_one(self, *conditions: Condition) -> Instance:
        """The first projection of a deployment, created by the controllers."""
        self.start(federator.controllers, projector.controllers, hub_copies.controllers)
        await self.deploy()
        await self.project(held)
        await self.write_back(0, *conditions)
        return await self.shown(*conditions)

    async def engage(self, role: str, client: Client) -> None:
        """Engage the plane of a role through another client."""
        clusters, name = getattr(self.planes, role), "hub" if role == "hub" else PROJECT
        await clusters.engage(cluster_name(name), client)

    async def leave(self, *roles: str) -> None:
        """Disengage the planes of these roles."""
        for clusters in (getattr(self.planes, role) for role in roles):
            await clusters.close()

    async def change(self, plane: str, obj: K, **meta: Any) -> K:
        """Change the metadata of an object, read live."""
        client = self.stage.client(plane)
        kept = obj.metadata
        found = await client.get(type(obj), kept.name, kept.namespace)
        return await client.patch(found, with_meta(found, **meta))

    async def bind(self, *cells: str, refused: str = "", name: str = WEB) -> None:
        """Bind a deployment to cells, as the engine's scheduler does."""
        client = self.stage.client("hub", "karmada")
        copy = await self.copy(name=name)
        bound = names.resource_binding(name, "WorkloadDeployment")
        found = await client.find(ResourceBinding, bound, self.hub_namespace)
        resource = TemplateRef(
            api_version=copy.api_version,
            kind=copy.kind,
            namespace=self.hub_namespace,
            name=name,
            uid=copy.metadata.uid,
        )
        chosen = tuple(TargetCluster(name=cell) for cell in cells)
        spec = ResourceBindingSpec(resource=resource, clusters=chosen)
        if found is None:
            meta = ObjectMeta(name=bound, namespace=self.hub_namespace)
            found = await client.create(ResourceBinding(metadata=meta, spec=spec))
        found = await client.patch(found, msgspec.structs.replace(found, spec=spec))
        scheduled = (
            condition("Scheduled", "False", "NoClusterFit", refused)
            if refused
            else condition("Scheduled", "True", "Success")
        )
        status = msgspec.structs.replace(found.status, conditions=(scheduled,))
        await client.patch_status(found, msgspec.structs.replace(found, status=status))

    async def cell(self, ready: ConditionStatus, since: datetime, name: str = CELL) -> None:
        """Write the Ready condition of a cell, as the engine does."""
        client = self.stage.client("hub", "karmada")
        found = await client.find(karmada.MemberCluster, name)
        if found is None:
            spec = karmada.ClusterSpec(sync_mode="Push")
            meta = ObjectMeta(name=name, labels={labels.TOPOLOGY_CITY_CODE: "DFW"})
            found = await client.create(karmada.MemberCluster(metadata=meta, spec=spec))
        condition_ready = condition("Ready", ready, "ClusterReady", since=since)
        status = msgspec.structs.replace(found.status, conditions=(condition_ready,))
        await client.patch_status(found, msgspec.structs.replace(found, status=status))

    async def lease(self, renewed: datetime | None, name: str = CELL) -> None:
        """Write the Lease of a cell with this renew time."""
        client = self.stage.client("hub", "karmada")
        if await client.find(Namespace, "karmada-cluster") is None:
            await client.create(Namespace(metadata=ObjectMeta(name="karmada-cluster")))
        when = times.format_micro(renewed) if renewed else None
        spec = LeaseSpec(holder_identity=name, renew_time=when)
        await client.create(
            Lease(metadata=ObjectMeta(name=name, namespace="karmada-cluster"), spec=spec)
        )

    def passes(self, controller: str) -> int:
        """The number of reconcile passes of a controller."""
        return sum(self.stage.factory.metrics.controller(controller).results.values())

    async def events(self, plane: str = "shop") -> list[tuple[str, str, str]]:
        """The events, sorted: object, type and reason."""
        found = (await self.stage.client(plane).every(Event)).items
        return sorted((e.regarding.name, e.type, e.reason) for e in found if e.regarding)

    async def reported(self, *expected: tuple[str, str, str]) -> None:
        """Wait until exactly these events are written."""

        async def are_written() -> bool:
            return await self.events() == sorted(expected)

        try:
            await self.stage.until(are_written, what=f"events {expected}")
        except AssertionError as failure:
            failure.add_note(f"written: {await self.events()}")
            raise


def set_up(
    directory: Path, story: Callable[[ManagementWorld], Awaitable[None]], *, core: bool = True
) -> None:
    """Run a story with a project, the hub and core."""

    async def tell(stage: Stage) -> None:
        hub = Link("hub")
        client = linked_client(await stage.plane("hub"), "compute", hub)
        await stage.role("hub").engage(cluster_name("hub"), client)
        hub_namespace = await hub_namespace_of(stage, PROJECT)
        planes = ManagementPlanes(
            stage.role("projects"), stage.role("hub"), stage.role("core") if core else None
        )
        await story(ManagementWorld(stage, planes, hub_namespace, hub))

    staged(directory, tell, ("core", "core"), ("projects", PROJECT))


class ClientWithoutEvents(Client):
    """A client without watch events after the first list: caches fall behind.

    If kinds are given, only their watches are silent.
    """

    def __init__(self, plane: Plane, *kinds: type[Object]) -> None:
        super().__init__(LocalTransport(plane))
        self._kinds = kinds

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        async def nothing() -> AsyncIterator[TypedEvent[K]]:
            await asyncio.Event().wait()
            for seen in list[TypedEvent[K]]():
                yield seen

        if self._kinds and kind not in self._kinds:
            async with super().watch(kind, namespace, options) as changes:
                yield changes
        else:
            yield nothing()


class ClientWithoutDeployments(Client):
    """A client of a plane that does not serve deployments yet."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(LocalTransport(plane))

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        if kind is WorkloadDeployment:
            raise NotFound("the server could not find the requested resource")
        return await super().get(kind, name, namespace)

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        if kind is WorkloadDeployment:
            raise NotFound("the server could not find the requested resource")
        return await super().list(kind, namespace, options)


async def hub_namespace_of(stage: Stage, project: str, namespace: str = "default") -> str:
    """The hub namespace of a project's namespace. It is created if it does not exist."""
    client = stage.client(project)
    found = await client.find(Namespace, namespace)
    found = found or await client.create(Namespace(metadata=ObjectMeta(name=namespace)))
    return names.hub_namespace(found.metadata.uid)


def upstream(namespace: str = "default") -> dict[str, str]:
    """The labels that locate the original."""
    return {
        labels.UPSTREAM_CLUSTER: names.encode_cluster(PROJECT),
        labels.UPSTREAM_NAMESPACE: namespace,
    }


def held(deployment: WorkloadDeployment) -> bool:
    """Whether the federator holds a deployment."""
    return finalizers.FEDERATOR in deployment.metadata.finalizers
