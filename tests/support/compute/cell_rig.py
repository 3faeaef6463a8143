"""One cell between a hub and a project, with links that can be cut, and simulated neighbours."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from compute.api import finalizers, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.controllers.cell.instance import controller as instances
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.cell.write_back import controller as write_back
from compute.decide.conditions import find, put
from compute.decide.deployment.template import build_instance
from kubekit.api.errors import ApiError, Conflict, NotFound, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Condition, ConditionStatus, ObjectMeta, with_metadata, with_status
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions, WatchOptions
from kubekit.client.transport import ResourceLocation, Transport, WatchEvent
from kubekit.plane.local import LocalTransport
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.providers.on_demand import OnDemandClusters
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informers import KindSelectors
from kubekit.runtime.watching.watched_part import labelled
from tests.support.compute.builders import condition, deployment
from tests.support.kubekit.stage import Stage, staged

CELL = "cell-dfw"
NAMESPACE = "ns-1"
NAME = "web-home-dfw-0"
CLAIM = names.claim(NAME)
MACHINE = finalizers.UNIKRAFT
PLAIN = CellSettings(name=CELL)


class Link:
    """A connection to a plane.

    While it is cut, every call fails. While ``mute``, no response arrives; while ``deaf``, no watch
    event arrives.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.mute = False
        self.deaf = False
        self.refuse_creates: ApiError | None = None
        self.conflicts = 0  # how many of the next patches are a Conflict
        self.missing = False
        # Awaited before each call, with its verb and location.
        self.crossing: Callable[[str, ResourceLocation], Awaitable[None]] | None = None
        self._cut = asyncio.Event()

    @property
    def is_cut(self) -> bool:
        return self._cut.is_set()

    def cut(self) -> None:
        self._cut.set()

    def heal(self) -> None:
        self._cut.clear()

    async def cross(self) -> None:
        self.calls += 1
        if self.mute:
            await asyncio.sleep(3600)
        if self.is_cut:
            raise Unavailable("the link is cut")

    async def wait_cut(self) -> None:
        await self._cut.wait()


class LinkedTransport:
    """A plane's transport behind a link."""

    def __init__(self, door: LocalTransport, link: Link) -> None:
        self._door = door
        self._link = link

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            await self._link.cross()
            if self._link.crossing is not None:
                await self._link.crossing(verb, args[0])
            if verb == "create" and self._link.refuse_creates is not None:
                raise self._link.refuse_creates
            if verb == "patch" and self._link.conflicts:
                self._link.conflicts -= 1
                raise Conflict("another writer was faster")
            return await getattr(self._door, verb)(*args)

        return call

    @asynccontextmanager
    async def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        if self._link.is_cut:
            raise Unavailable("the link is cut")
        async with self._door.watch(place, options) as events:
            yield self._received(events)

    async def _received(self, events: AsyncIterator[WatchEvent]) -> AsyncIterator[WatchEvent]:
        cut = asyncio.ensure_future(self._link.wait_cut())
        coming: asyncio.Future[WatchEvent] | None = None
        try:
            while True:
                coming = asyncio.ensure_future(anext(events))
                await asyncio.wait({cut, coming}, return_when=asyncio.FIRST_COMPLETED)
                if self._link.is_cut:
                    raise Unavailable("the link is cut")
                if coming.exception() is not None:
                    return
                if not self._link.deaf:
                    yield coming.result()
        finally:
            cut.cancel()
            if coming is not None:
                coming.cancel()
                await asyncio.wait({coming})


@dataclass
class Rig:
    """The stage of one cell."""

    stage: Stage
    settings: CellSettings
    planes: CellPlanes
    hub: Link = field(default_factory=Link)
    shop: Link = field(default_factory=Link)
    home: Link = field(default_factory=Link)

    def start(self, *, twice: bool = False) -> None:
        for _ in range(1 + twice):
            self.stage.start(*instances.controllers(self.planes, self.settings, self.stage.factory))
            self.stage.start(
                *write_back.controllers(self.planes, self.settings, self.stage.factory)
            )

    def start_process(self) -> Scope:
        """Start the Instance controllers in a simulated process of their own."""
        scope = Scope("one life")
        for one in instances.controllers(self.planes, self.settings, self.stage.factory):
            one.join()
            scope.spawn(one.run(None), one.name)
        return scope

    async def restart(self) -> None:
        """Start them again in a new process, without any memory of the previous one."""
        cells, projects = self.stage.role("cell again"), self.stage.role("projects again")
        await cells.engage(cluster_name(CELL), self._way(CELL, self.home))
        reached = OnDemandClusters(projects, lambda name: self._way(name, self.shop))
        planes = CellPlanes(cells, self.planes.hub, projects, reached.reach)
        factory = ControllerFactory(self.stage.environment, Metrics(), "again")
        self.stage.start(*instances.controllers(planes, self.settings, factory))

    def _way(self, plane: str, link: Link) -> Client:
        return _client(LinkedTransport(LocalTransport(self.stage.planes[plane]), link))

    @property
    def cell(self) -> Client:
        return self.stage.client(CELL)

    @property
    def project(self) -> Client:
        return self.stage.client("shop")

    @property
    def upstairs(self) -> Client:
        return self.stage.client("hub")

    async def deploy(self, replicas: int = 1, *, image: str = "registry.test/web:1") -> None:
        """A deployment on the hub and its copy in the cell, as the engine creates it."""
        made = deployment(replicas, image=image, uid="", generation=0)
        await self.upstairs.create(made)
        await self.cell.create(made)

    async def instance(
        self, ordinal: int = 0, gates: tuple[str, ...] = ("Quota",), **meta: Any
    ) -> Instance:
        """An Instance as the deployment controller makes it."""
        parent = await self.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        made = build_instance(parent, ordinal, gates)
        known = {"finalizers": (finalizers.CLAIM,)} | meta
        return await self.cell.create(with_metadata(made, **known))

    async def seen(
        self, true: Callable[[Instance], object] = lambda _: True, name: str = NAME, **more: Any
    ) -> Instance:
        return await self.stage.named(CELL, Instance, name, NAMESPACE, true, **more)

    async def claim(
        self, true: Callable[[ResourceClaim], object] = lambda _: True, name: str = CLAIM
    ) -> ResourceClaim:
        return await self.stage.named("shop", ResourceClaim, name, "default", true)

    async def decide(
        self,
        status: ConditionStatus = "True",
        reason: str = Reason.QUOTA_AVAILABLE,
        name: str = CLAIM,
    ) -> ResourceClaim:
        """Answer a claim, as the quota service does."""
        claim = await self.claim(name=name)
        news = condition("Granted", status, reason, "so it is")
        conditions = put(claim.status.conditions, (news,), self.stage.environment.now())
        return await self.project.patch_status(claim, with_status(claim, conditions=conditions))

    async def report(
        self, *conditions: Condition, name: str = NAME, finalizer: str | None = MACHINE
    ) -> Instance:
        """Report on a machine, as a provider does."""
        found = await self.cell.get(Instance, name, NAMESPACE)
        held = found.metadata.finalizers
        if finalizer and finalizer not in held and not found.deleting:
            metadata = replace(found.metadata, finalizers=(*held, finalizer))
            found = await self.cell.patch(found, replace(found, metadata=metadata))
        merged = put(found.status.conditions, conditions, self.stage.environment.now())
        return await self.cell.patch_status(found, with_status(found, conditions=merged))

    async def run_machine(self, name: str = NAME) -> Instance:
        """Start the machine of an Instance whose gates are open, and wait until it is Ready."""
        await self.seen(lambda i: not waiting(i), name)
        await self.report(
            condition("Programmed", "True", "Programmed"), condition("Available"), name=name
        )
        return await self.seen(is_ready, name)

    async def running(self, ordinal: int = 0) -> Instance:
        """An Instance that runs, with its quota granted."""
        await self.instance(ordinal)
        name = names.instance("web-home-dfw", ordinal)
        await self.decide(name=names.claim(name))
        return await self.run_machine(name)

    async def delete(self, name: str = NAME) -> None:
        await self.cell.delete(await self.cell.get(Instance, name, NAMESPACE))

    async def stop_machine(self, name: str = NAME) -> None:
        """Remove the provider's finalizer: the machine has stopped."""
        found = await self.cell.get(Instance, name, NAMESPACE)
        left = tuple(f for f in found.metadata.finalizers if f != MACHINE)
        metadata = replace(found.metadata, finalizers=left)
        await self.cell.patch(found, replace(found, metadata=metadata))

    async def remove(self, name: str = NAME) -> None:
        """Delete an Instance and stop its machine."""
        await self.delete(name)
        await self.stop_machine(name)

    async def scale(self, replicas: int) -> None:
        """Change the number of slots, on the hub and in the cell."""
        for client in (self.upstairs, self.cell):
            found = await client.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
            settings = replace(found.spec.scale_settings, min_replicas=replicas)
            spec = replace(found.spec, scale_settings=settings)
            await client.patch(found, replace(found, spec=spec))

    async def undeploy(self, plane: str = CELL) -> None:
        client = self.stage.client(plane)
        found = await client.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        await client.delete(found, DeleteOptions(propagation="Orphan"))

    async def gone(self, name: str = NAME, seconds: float = 60.0) -> None:
        await self.stage.gone(CELL, Instance, name, NAMESPACE, seconds)

    async def claim_gone(self, name: str = CLAIM, seconds: float = 60.0) -> None:
        await self.stage.gone("shop", ResourceClaim, name, "default", seconds)

    async def reasons(self, regarding: str = NAME, plane: str = CELL) -> list[str]:
        """The reasons of the events about an object, in the order of creation."""
        namespace = NAMESPACE if plane == CELL else "default"
        found = (await self.stage.client(plane).list(Event, namespace)).items
        about = [e for e in found if e.regarding and e.regarding.name == regarding]
        return [e.reason for e in sorted(about, key=lambda e: int(e.metadata.resource_version))]


def on_a_cell(
    directory: Path,
    story: Callable[[Rig], Awaitable[None]],
    settings: CellSettings = PLAIN,
) -> None:
    """Run a story in one cell. It has a namespace, and no deployment yet."""

    async def tell(stage: Stage) -> None:
        rig = await _rig(stage, settings)
        await story(rig)

    staged(directory, tell)


async def _rig(stage: Stage, settings: CellSettings) -> Rig:
    ours = labelled(f"{labels.SOURCE_CLUSTER}={settings.name}")
    hub, shop, home = Link(), Link(), Link()
    await stage.plane("shop")
    itself = _client(LinkedTransport(LocalTransport(await stage.plane(CELL)), home))
    await stage.role("cell").engage(cluster_name(CELL), itself)
    upstairs = _client(LinkedTransport(LocalTransport(await stage.plane("hub")), hub))
    parts: KindSelectors = {Instance: ours}
    await stage.role("hub", parts).engage(cluster_name("hub"), upstairs)
    projects = stage.role("projects", {ResourceClaim: ours})

    def connect(name: str) -> Client:
        if name != "shop" or shop.missing:
            raise NotFound(f"there is no project {name}")
        return _client(LinkedTransport(LocalTransport(stage.planes[name]), shop))

    reached = OnDemandClusters(projects, connect)
    planes = CellPlanes(stage.role("cell"), stage.role("hub"), projects, reached.reach)
    upstream = {labels.UPSTREAM_CLUSTER: "cluster-shop", labels.UPSTREAM_NAMESPACE: "default"}
    for plane in (CELL, "hub"):
        namespace = Namespace(metadata=ObjectMeta(name=NAMESPACE, labels=upstream))
        await stage.client(plane).create(namespace)
    return Rig(stage, settings, planes, hub, shop, home)


def _client(door: LinkedTransport) -> Client:
    return Client(cast("Transport", door))  # its verbs are made as they are asked for


def waiting(instance: Instance) -> bool:
    """Whether the Quota gate is closed."""
    controller = instance.spec.controller
    return controller is not None and "Quota" in {g.name for g in controller.scheduling_gates}


def status_and_reason(of: Instance | ResourceClaim, kind: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    found = find(of.status.conditions, kind)
    return (found.status, found.reason) if found else ("", "")


def has_condition(kind: str, status: str, reason: str) -> Callable[[Instance], bool]:
    return lambda instance: status_and_reason(instance, kind) == (status, reason)


def is_ready(instance: Instance) -> bool:
    return status_and_reason(instance, "Ready") == ("True", "Available")
