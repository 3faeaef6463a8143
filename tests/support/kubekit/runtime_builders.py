"""Controllers on embedded planes, on a virtual clock: a world of a few clusters."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import Object, ObjectMeta, OwnerReference
from kubekit.client.client import Client, K, TypedEvent
from kubekit.client.options import PLAIN_WATCH, WatchOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.election import Term
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.reporting.tracing import Tracing
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.sources import Source, own
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run

Reconcile = Callable[[Request], Awaitable[Result | None]]
A, B = cluster_name("a"), cluster_name("b")


class Reconciling:
    """A reconciler that records its requests, and does what a test defines."""

    def __init__(self, reconcile: Reconcile | None = None) -> None:
        self.asked: list[Request] = []
        self._reconcile = reconcile

    async def reconcile(self, request: Request) -> Result:
        self.asked.append(request)
        if self._reconcile is None:
            return DONE
        return await self._reconcile(request) or DONE

    @property
    def names(self) -> list[str]:
        return [request.name for request in self.asked]


class LaggingClient(LocalClient):
    """A client whose watches deliver nothing while they lag."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane)
        self.flows = asyncio.Event()

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        async with super().watch(kind, namespace, options) as seen:
            yield self._late(seen)

    async def _late(self, seen: AsyncIterator[TypedEvent[K]]) -> AsyncIterator[TypedEvent[K]]:
        async for one in seen:
            await self.flows.wait()
            yield one


@dataclass
class RuntimeWorld:
    """Planes by name, all engaged in one role, and the controllers on them."""

    environment: ExecutionEnvironment
    projects: Clusters
    planes: dict[ClusterName, Plane]
    scope: Scope
    metrics: Metrics = field(default_factory=Metrics)

    def client(self, cluster: ClusterName = A, manager: str = "kubectl-edit") -> Client:
        """A client of another user, which is not recorded."""
        return LocalClient(self.planes[cluster], manager=manager)

    def writer(self, cluster: ClusterName = A) -> Client:
        """The client that reconcilers have."""
        return self.projects.get(cluster).client

    def controller(
        self,
        reconciler: Any,
        sources: Sequence[Source[Any]] | None = None,
        settings: ControllerSettings = ControllerSettings(),  # noqa: B008 - it is frozen
        *,
        name: str = "minder",
        recorder: EventRecorder | None = None,
        tracing: Tracing | None = None,
    ) -> Controller:
        """A controller that listens; by default to ConfigMaps of every cluster."""
        controller = Controller(
            name,
            reconciler,
            self.projects,
            [own(ConfigMap, self.projects)] if sources is None else sources,
            self.environment,
            self.metrics,
            settings,
            recorder,
            tracing,
        )
        controller.join()
        return controller

    def start(self, controller: Controller, term: Term | None = None) -> "asyncio.Task[None]":
        """Start a controller."""
        return self.scope.spawn(controller.run(term), controller.name)

    async def engage(self, cluster: ClusterName, manager: str = "compute") -> None:
        await self.projects.engage(cluster, LocalClient(self.planes[cluster], manager=manager))

    async def write(self, name: str, cluster: ClusterName = A, **data: str) -> ConfigMap:
        """Create a ConfigMap, or change its data, as a user."""
        client = self.client(cluster)
        present = await client.find(ConfigMap, name, "default")
        if present is None:
            return await client.create(config(name, data))
        return await client.patch(present, msgspec.structs.replace(present, data=data))


def run_story(directory: Path, story: Callable[[RuntimeWorld], Coroutine[Any, Any, None]]) -> None:
    """Run a story in a world of two planes, ``a`` and ``b``, of which ``a`` is engaged."""

    async def tell() -> None:
        async with world(directory) as there:
            await there.engage(A)
            await story(there)

    run(tell())


@asynccontextmanager
async def world(
    directory: Path, names: Iterable[ClusterName] = (A, B), kinds: Kinds | None = None
) -> AsyncIterator[RuntimeWorld]:
    """Planes without controllers."""
    async with AsyncExitStack() as stack:
        planes = {}
        for name in names:
            kinds_there = kinds or Kinds(builtins.core())
            opening = opened(directory / name, kinds=kinds_there)
            planes[name] = (await stack.enter_async_context(opening)).plane
        there = environment()
        projects = Clusters("project", there)
        scope = Scope("test")
        try:
            yield RuntimeWorld(there, projects, planes, scope)
        finally:
            await scope.close()
            await projects.close()


def config(name: str, data: dict[str, str] | None = None) -> ConfigMap:
    return ConfigMap(metadata=_meta(name, ()), data=data or {})


def secret(name: str, owners: Sequence[OwnerReference] = ()) -> Secret:
    return Secret(metadata=_meta(name, owners))


def annotated(obj: Any, **annotations: str) -> Any:
    """The object with these annotations added."""
    metadata: ObjectMeta = obj.metadata
    merged = msgspec.structs.replace(metadata, annotations=metadata.annotations | annotations)
    return msgspec.structs.replace(obj, metadata=merged)


def owner_of(obj: Object) -> OwnerReference:
    return obj.reference(controller=True)


def term(seconds: float = 3600.0, number: int = 1) -> Term:
    """A leadership term that lasts this long from now on."""
    clock = asyncio.get_running_loop().time
    return Term(number, clock() + seconds, clock)


def _meta(name: str, owners: Sequence[OwnerReference]) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="default", owner_references=tuple(owners))
