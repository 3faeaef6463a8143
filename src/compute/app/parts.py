"""The running parts of a world. Each has its own manager, and its own clients for the planes."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from compute.app.links import Link, PlaneLinks
from compute.app.planes import OpenPlanes, PlaneRef, Role
from kubekit.api.errors import NotFound
from kubekit.client.client import Client
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.manager import Manager, Runnables
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope

_GRACE: Final = 5.0  # seconds that a reconcile in progress has to end


class Host(Protocol):
    """The world, as the parts use it."""

    @property
    def planes(self) -> OpenPlanes: ...

    @property
    def links(self) -> PlaneLinks: ...

    def factory(self, part: str) -> ControllerFactory: ...

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client: ...


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The clusters of one role that a part works on.

    ``out`` is the link out of the part itself, where the part is in a cell.
    """

    clusters: Clusters
    role: Role
    out: Link | None = None

    def is_cut_off(self, cluster: str, links: PlaneLinks) -> bool:
        own = links.get(PlaneRef(self.role, cluster))
        return any(link is not None and link.is_cut for link in (own, self.out))


@dataclass(frozen=True, slots=True)
class PartClients:
    """The clients of one part. It writes under one field manager.

    ``out`` is the link out of the part itself, where the part is in a cell.
    """

    host: Host
    part: str
    manager: str
    out: Link | None = None

    def local(self, ref: PlaneRef) -> Client:
        """A client for the plane that the part runs beside: no link is between them."""
        return self.host.connect(self.part, ref, self.manager, ())

    def remote(self, ref: PlaneRef) -> Client:
        """A client for a plane behind its link, and behind the link out of the part."""
        links = [self.host.links[ref], *([] if self.out is None else [self.out])]
        return self.host.connect(self.part, ref, self.manager, links)

    def project(self, name: str) -> Client:
        """A client for the plane of a project. Raises `NotFound` if there is none."""
        ref = PlaneRef("project", name)
        if self.out is not None:
            self.out.check()
        if self.host.planes.find(ref) is None:
            raise NotFound(f"there is no project {name}")
        return self.remote(ref)

    async def engage(self, view: ClusterView) -> None:
        """Engage every open plane of the role of a view."""
        for ref in self.host.planes:
            if ref.role == view.role:
                await view.clusters.engage(cluster_name(ref.name), self.remote(ref))


@dataclass(slots=True)
class Part:
    """A running part. ``has_every_project``: the plane of every project is engaged for it."""

    clients: PartClients
    manager: Manager
    views: list[ClusterView]
    task: asyncio.Task[None]
    has_every_project: bool

    def projects(self) -> list[Clusters]:
        return [view.clusters for view in self.views if view.role == "project"]


class RunningParts:
    """The parts that run, by name, in the order of their start."""

    def __init__(self, links: PlaneLinks, failed: "asyncio.Future[None]") -> None:
        self._links = links
        self._failed = failed
        self._parts: dict[str, Part] = {}

    def start(
        self,
        clients: PartClients,
        factory: ControllerFactory,
        views: list[ClusterView],
        runnables: Runnables,
        *,
        has_every_project: bool = False,
    ) -> None:
        """Run a program under a manager of its own."""
        runnables.clusters = [view.clusters for view in views]
        runnables.background_tasks = factory.background_tasks()
        manager = Manager(runnables, metrics=factory.metrics, grace=_GRACE)
        task = Scope("world", self._fail).spawn(manager.run(), clients.part)
        self._parts[clients.part] = Part(clients, manager, views, task, has_every_project)

    async def pause(self, name: str) -> None:
        """Stop one part."""
        part = self._parts.pop(name)
        part.manager.stop()
        await asyncio.wait([part.task])

    def forget(self, name: str) -> None:
        """Drop a part that died."""
        self._parts.pop(name, None)

    async def stop(self) -> None:
        """Stop all parts, and wait until the last one has ended."""
        for part in self._parts.values():
            part.manager.stop()
        if self._parts:
            await asyncio.wait([part.task for part in self._parts.values()])

    async def engage_project(self, project: str) -> None:
        """Engage a project's plane in every part that has every project."""
        ref, name = PlaneRef("project", project), cluster_name(project)
        for part in [part for part in self._parts.values() if part.has_every_project]:
            for clusters in part.projects():
                if clusters.find(name) is None:
                    await clusters.engage(name, part.clients.remote(ref))

    async def disengage_project(self, project: str) -> None:
        """Disengage a project's plane in every part, in the last one first."""
        for part in [*reversed(self._parts.values())]:
            for clusters in part.projects():
                await clusters.disengage(cluster_name(project))

    def metrics(self) -> dict[str, Metrics]:
        """The metrics of each manager, by the name of its part."""
        return {name: part.manager.metrics for name, part in self._parts.items()}

    def problems(self) -> list[str]:
        """Why the parts are not ready. Planes behind a cut link are not waited for."""
        return [
            f"{name}: {problem}"
            for name, part in self._parts.items()
            for problem in self._problems(part.views)
        ]

    def _problems(self, views: Iterable[ClusterView]) -> Iterator[str]:
        for view in views:
            for cluster in view.clusters:
                if not view.is_cut_off(cluster.name, self._links):
                    for problem in (*cluster.broken, *cluster.informers.problems()):
                        yield f"{view.clusters.role} {cluster.name}: {problem}"

    def _fail(self, part: str, error: BaseException) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)
