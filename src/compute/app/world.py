"""The whole system in one process: planes, engine, neighbours, controllers and cells.

    services   --> core, projects, cells     quota, networks, and projects with all they begin with
    management --> projects, hub             Workloads to the hub, and back
    engine     --> hub, cells                what Karmada does
    cell       --> its own plane             and, through a link that can be cut, hub and projects
    provider   --> its cell's plane          runs the Instances

Each is a manager of its own, with its own view of the planes, as it would be on machines of its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from compute.api.karmada import MemberCluster
from compute.api.resource_manager import Project
from compute.app import cuts, roles
from compute.app.admission import WorldAdmission
from compute.app.links import Link, linked_client
from compute.app.planes import CORE, HUB, OpenPlanes, PlaneRef, Role
from compute.app.project_clusters import ProjectReconciler, projects_controller
from compute.app.sites import CellSite, joined, site_of
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.management.admission.workload_admission import WorkloadAdmission
from compute.controllers.management.planes import ManagementPlanes
from compute.decide.deployment.drains import PLAIN, Grace
from compute.federation import engine
from compute.federation.planes import EnginePlanes
from compute.providers import simulated
from compute.services import catalog
from compute.services.network.admission import NetworkAdmission
from compute.services.planes import ServicePlanes
from compute.services.quota.admission import ClaimAdmission
from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.manager import Manager, Runnables
from kubekit.runtime.providers.on_demand import OnDemandClusters
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informers import ALL_OBJECTS, KindSelectors

SYSTEM: Final = "compute-system"  # the namespace of a cell's own settings
PLATFORM: Final = "milo-system"  # the namespace of the core's
_GRACE: Final = 5.0  # seconds that the passes in hand have to come to their end
# Who writes, for those who read managedFields. A cell writes under its own name.
_DOOR: Final = "door"
_SERVICES: Final = "services"
_MANAGEMENT: Final = "management"

_Beginning = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class _View:
    """The clusters that one part of the world looks after in one role.

    ``out`` is the way out of the part itself, where it is in a cell; ``home`` says which plane a
    cluster is.
    """

    clusters: Clusters
    role: Role
    out: Link | None = None

    def ref(self, cluster: str) -> PlaneRef:
        return PlaneRef(self.role, cluster)


@dataclass(slots=True)
class _Part:
    """A part that is run by a manager of its own."""

    manager: Manager
    views: list[_View]
    task: asyncio.Task[None]
    is_service: bool  # it has every project's plane from the beginning


class World:
    """Everything. `start` it, and `stop` it when done."""

    def __init__(
        self,
        planes: OpenPlanes,
        sites: Iterable[CellSite],
        environment: ExecutionEnvironment,
        grace: Grace = PLAIN,
    ) -> None:
        self.planes = planes
        self.links: dict[PlaneRef, Link] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._environment = environment
        self._grace = grace
        self._wanted = list(sites)
        self._sites: dict[str, CellSite] = {}
        self._core = Clusters("core", environment)  # as those at the door see it
        self._projects = Clusters("project", environment)
        self._services = catalog.services(self)
        self._beginnings: dict[str, _Beginning] = {}
        self._parts: dict[str, _Part] = {}  # that run

    @property
    def sites(self) -> Sequence[CellSite]:
        return tuple(self._sites.values())

    async def start(self) -> None:
        """Open every plane, and let everybody work."""
        await self._build()
        for project in (await self._client(CORE).every(Project)).items:
            await self.ensure(project.metadata.name)
        for part in self.parts:
            await self.resume(part)

    async def stop(self) -> None:
        """Let every pass come to its end, then close the planes."""
        for part in self._parts.values():
            part.manager.stop()
        if self._parts:
            await asyncio.wait([part.task for part in self._parts.values()])
        await self._projects.close()
        await self._core.close()
        await self.planes.close()

    @property
    def parts(self) -> Sequence[str]:
        """What runs by itself, and can be stopped by itself."""
        return tuple(self._beginnings)

    async def pause(self, part: str) -> None:
        """Stop a part, as when its process ends. The planes and everybody else go on."""
        stopped = self._parts.pop(part)
        stopped.manager.stop()
        await asyncio.wait([stopped.task])

    async def resume(self, part: str, copy: str = "") -> None:
        """Start a part, or another copy of it. It knows nothing but what the planes tell it."""
        await self._beginnings[part](part + copy)

    def forget(self, part: str) -> None:
        """A part has died: nobody tells it anything any more."""
        self._parts.pop(part, None)

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        """The way of a part to a plane, behind these links."""
        return linked_client(self.planes[ref], manager, *links)

    def factory(self, part: str) -> ControllerFactory:
        """What the controllers of a part are made with."""
        return ControllerFactory(self._environment, Metrics(), part)

    def metrics(self) -> dict[str, Metrics]:
        """What each manager counts, by its name."""
        return {name: part.manager.metrics for name, part in self._parts.items()}

    def problems(self) -> list[str]:
        """What keeps the world from being ready. Behind a link that is cut nothing is waited for."""
        return [
            f"{name}: {view.clusters.role} {cluster.name}: {problem}"
            for name, part in self._parts.items()
            for view in part.views
            for cluster in view.clusters
            if not self._is_cut_off(view, cluster.name)
            for problem in (*cluster.broken, *cluster.informers.problems())
        ]

    # What the project service asks for

    async def ensure(self, project: str) -> None:
        """The plane of a project, open, and known at the door and to the services."""
        ref, name = PlaneRef("project", project), cluster_name(project)
        await self._open(ref)
        if self._projects.find(name) is None:
            await self._projects.engage(name, self._way(_DOOR, ref, _DOOR))
        for title, part in self._parts.items():
            for clusters in _of_projects([part]) if part.is_service else ():
                if clusters.find(name) is None:
                    await clusters.engage(name, self._way(title, ref, _SERVICES))

    async def remove(self, project: str) -> None:
        """Nothing of a project's plane is left, and nobody looks after it any more."""
        ref, name = PlaneRef("project", project), cluster_name(project)
        for clusters in (*_of_projects(reversed(self._parts.values())), self._projects):
            await clusters.disengage(name)
        await self.planes.remove(ref)
        self.links.pop(ref, None)

    # Beginnings

    async def _build(self) -> None:
        workloads = WorkloadAdmission(self._projects, self._core)
        networks = NetworkAdmission(self._projects)
        self.planes.join(WorldAdmission(workloads, networks, ClaimAdmission(self._core)))
        for ref in (CORE, HUB):
            await self._open(ref)
        await _make(self._client(CORE), _namespace(PLATFORM))
        hub = self._client(HUB)
        clusters = (await hub.every(MemberCluster)).items
        known = [site for cluster in clusters if (site := site_of(cluster))]
        self._sites = joined({site.cell: site for site in known}, self._wanted)
        was_cut = {cluster.metadata.name for cluster in clusters if cuts.is_cut(cluster)}
        for site in self.sites:
            ref = PlaneRef("cell", site.cell)
            await self._open(ref)
            await _make(self._client(ref), _namespace(SYSTEM))
            await _make(hub, site.cluster)
            if site.cell in was_cut:
                self.links[ref].cut()
        core = await self._core.engage(cluster_name(CORE.name), self._way(_DOOR, CORE, _DOOR))
        await core.informers.wait_synced()
        self._beginnings = self._plan()

    def _plan(self) -> dict[str, _Beginning]:
        """How each part begins, in the order in which they do."""
        return {
            **{name: partial(self._run_service, name) for name in self._services},
            "management": self._run_management,
            "engine": self._run_engine,
            **{f"cell {site.cell}": partial(self._run_cell, site) for site in self.sites},
            **{f"provider {site.cell}": partial(self._run_provider, site) for site in self.sites},
        }

    async def _open(self, ref: PlaneRef) -> None:
        await self.planes.open(ref)
        self.links.setdefault(ref, Link(f"{ref.role} {ref.name}"))

    async def _run_service(self, name: str, title: str) -> None:
        factory = self.factory(title)
        core, hub = _view(factory, "core"), _view(factory, "hub")
        projects, cells = _view(factory, "project"), _view(factory, "cell")
        views = [core, hub, projects, cells]
        await self._engage_all(title, _SERVICES, views)
        planes = ServicePlanes(core.clusters, hub.clusters, projects.clusters, cells.clusters)
        controllers = self._services[name](planes, factory)
        self._run(title, Runnables(leading=controllers), factory, views, is_service=True)

    async def _run_management(self, title: str) -> None:
        factory = self.factory(title)
        core, hub = _view(factory, "core"), _view(factory, "hub")
        projects = _view(factory, "project")
        await self._engage_all(title, _MANAGEMENT, [core, hub])
        found = ProjectReconciler(
            core.clusters,
            projects.clusters,
            lambda project: self._reach(title, project.metadata.name, _MANAGEMENT),
        )
        finding = projects_controller(found, core.clusters, factory.environment, factory.metrics)
        planes = ManagementPlanes(projects.clusters, hub.clusters, core.clusters)
        leading = roles.management(planes, factory, self._grace)
        program = Runnables(always=[finding], leading=leading)
        self._run(title, program, factory, [core, hub, projects])

    async def _run_engine(self, title: str) -> None:
        factory = self.factory(title)
        hub, cells = _view(factory, "hub"), _view(factory, "cell", engine.CELL_PARTS)
        await self._engage_all(title, "engine", [hub, cells])
        planes = EnginePlanes(hub.clusters, cells.clusters)
        controllers = [
            *engine.controllers(planes, factory),
            *cuts.controllers(hub.clusters, self.links, factory),
        ]
        self._run(title, Runnables(leading=controllers), factory, [hub, cells])

    async def _run_cell(self, site: CellSite, title: str) -> None:
        factory = self.factory(title)
        name, ref = site.cell, PlaneRef("cell", site.cell)
        out = self.links[ref]
        cell = _view(factory, "cell")
        hub = _view(factory, "hub", roles.hub_of_cell(name, site.city), out)
        projects = _view(factory, "project", roles.projects_of_cell(name), out)
        await cell.clusters.engage(cluster_name(name), self.connect(title, ref, name, ()))
        await hub.clusters.engage(cluster_name(HUB.name), self._way(title, HUB, name, out))
        reached = OnDemandClusters(
            projects.clusters, lambda project: self._reach(title, project, name, out)
        )
        planes = CellPlanes(cell.clusters, hub.clusters, projects.clusters, reached.reach)
        controllers = roles.cell(planes, CellSettings(name=name), factory)
        self._run(title, Runnables(leading=controllers), factory, [cell, hub, projects])

    async def _run_provider(self, site: CellSite, title: str) -> None:
        factory = self.factory(title)
        cell, ref = _view(factory, "cell"), PlaneRef("cell", site.cell)
        here = self.connect(title, ref, "provider", ())
        await cell.clusters.engage(cluster_name(site.cell), here)
        controllers = simulated.controllers(cell.clusters, factory)
        self._run(title, Runnables(leading=controllers), factory, [cell])

    def _run(
        self,
        title: str,
        program: Runnables,
        factory: ControllerFactory,
        views: list[_View],
        *,
        is_service: bool = False,
    ) -> None:
        program.clusters = [view.clusters for view in views]
        program.background_tasks = factory.background_tasks()
        manager = Manager(program, metrics=factory.metrics, grace=_GRACE)
        task = Scope("world", self._fail).spawn(manager.run(), title)
        self._parts[title] = _Part(manager, views, task, is_service)

    # Ways

    async def _engage_all(self, title: str, manager: str, views: Iterable[_View]) -> None:
        """Engage every plane of these roles, as somebody who is in none of them."""
        for view in views:
            for ref in self.planes:
                if ref.role == view.role:
                    way = self._way(title, ref, manager)
                    await view.clusters.engage(cluster_name(ref.name), way)

    def _way(self, title: str, ref: PlaneRef, manager: str, *out: Link) -> Client:
        return self.connect(title, ref, manager, (self.links[ref], *out))

    def _reach(self, title: str, project: str, manager: str, *out: Link) -> Client:
        ref = PlaneRef("project", project)
        for link in out:
            link.check()
        if self.planes.find(ref) is None:
            raise NotFound(f"there is no project {project}")
        return self._way(title, ref, manager, *out)

    def _client(self, ref: PlaneRef) -> Client:
        return LocalClient(self.planes[ref], manager="world")

    def _is_cut_off(self, view: _View, cluster: str) -> bool:
        own = self.links.get(view.ref(cluster))
        return any(link is not None and link.is_cut for link in (own, view.out))

    def _fail(self, part: str, why: BaseException) -> None:
        if not self.failed.done():
            self.failed.set_exception(why)


def _view(
    factory: ControllerFactory,
    role: Role,
    parts: KindSelectors = ALL_OBJECTS,
    out: Link | None = None,
) -> _View:
    return _View(Clusters(role, factory.environment, parts), role, out)


def _of_projects(parts: Iterable[_Part]) -> list[Clusters]:
    return [view.clusters for part in parts for view in part.views if view.role == "project"]


def _namespace(name: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name))


async def _make(client: Client, obj: Object) -> None:
    """Make sure that there is an object of this name. What it says is its user's from then on."""
    try:
        await client.create(obj)
    except AlreadyExists:
        return
