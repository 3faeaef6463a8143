"""The whole system in one process: planes, engine, neighbours, controllers and cells.

    services   --> core, projects, cells     projects, quota, networks, locations
    management --> projects, hub             Workloads to the hub, and back
    engine     --> hub, cells                what Karmada does
    cell       --> its own plane             and, through a link that can be cut, hub and projects

Each is a manager of its own, with its own view of the planes, as it would be on machines of its own.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from compute.api.core import Namespace
from compute.api.errors import AlreadyExists, NotFound
from compute.api.karmada import Cluster
from compute.api.meta import Object, ObjectMeta
from compute.api.resourcemanager import Project
from compute.app import cuts, roles
from compute.app.admission import Doorkeeper
from compute.app.homes import CORE, HUB, Home, Homes, Role
from compute.app.links import Link, through
from compute.app.sites import Site, joined, site_of
from compute.client.client import Client
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.management.admission import WorkloadAdmission
from compute.controllers.management.planes import ManagementPlanes
from compute.environment import Environment
from compute.federation import engine
from compute.federation.planes import EnginePlanes
from compute.plane.local import LocalClient
from compute.providers import simulated
from compute.runtime.clusters import Clusters
from compute.runtime.informers import WHOLE, Parts
from compute.runtime.kit import Kit
from compute.runtime.manager import Manager, Program
from compute.runtime.metrics import Metrics
from compute.runtime.providers.projects import Projects, projects_controller
from compute.runtime.providers.reached import Reached
from compute.runtime.requests import cluster_name
from compute.runtime.scope import Scope, ended
from compute.services import catalog
from compute.services.planes import ServicePlanes
from compute.services.quota.admission import ClaimAdmission

SYSTEM: Final = "compute-system"  # the namespace of a cell's own settings
PLATFORM: Final = "milo-system"  # the namespace of the core's
_GRACE: Final = 5.0  # seconds that the passes in hand have to come to their end


@dataclass(slots=True)
class _View:
    """The clusters that one part of the world looks after in one role.

    ``out`` is the way out of the part itself, where it is in a cell; ``home`` says which plane a
    cluster is.
    """

    clusters: Clusters
    role: Role
    out: Link | None = None

    def home(self, cluster: str) -> Home:
        return Home(self.role, cluster)


@dataclass(slots=True)
class _Part:
    """A part that is run by a manager of its own."""

    manager: Manager
    views: list[_View] = field(default_factory=list)


class World:
    """Everything. `start` it, and `stop` it when done."""

    def __init__(self, homes: Homes, sites: Iterable[Site], environment: Environment) -> None:
        self.homes = homes
        self.links: dict[Home, Link] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._environment = environment
        self._wanted = list(sites)
        self._sites: dict[str, Site] = {}
        self._core = Clusters("core", environment)  # as the services see it
        self._services = Clusters("project", environment)  # projects, as the services see them
        self._management = Clusters("project", environment)  # and as the management does
        self._reached: list[Reached] = []  # and as each cell does
        self._parts: dict[str, _Part] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._scope = Scope("world", self._fail)

    @property
    def sites(self) -> Sequence[Site]:
        return tuple(self._sites.values())

    async def start(self) -> None:
        """Open every plane, and let everybody work."""
        await self._build()
        for project in (await self._client(CORE).every(Project)).items:
            await self.ensure(project.metadata.name)
        await self._run_services()
        await self._run_management()
        await self._run_engine()
        for site in self.sites:
            await self._run_cell(site)

    async def stop(self) -> None:
        """Let every pass come to its end, then close the planes."""
        for part in self._parts.values():
            part.manager.stop()
        for task in self._tasks:
            await ended(task)
        await self._scope.close()
        await self._services.close()
        await self.homes.close()

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
        """The plane of a project, open, and known to the services."""
        home, name = Home("project", project), cluster_name(project)
        await self._open(home)
        if self._services.find(name) is None:
            await self._services.engage(name, self._way(home, "services"))

    async def remove(self, project: str) -> None:
        """Nothing of a project's plane is left, and nobody looks after it any more."""
        home, name = Home("project", project), cluster_name(project)
        for reached in self._reached:
            await reached.forget(name)
        await self._management.disengage(name)
        await self._services.disengage(name)
        await self.homes.remove(home)
        self.links.pop(home, None)

    # Beginnings

    async def _build(self) -> None:
        self.homes.join(Doorkeeper(WorkloadAdmission(self._services), ClaimAdmission(self._core)))
        for home in (CORE, HUB):
            await self._open(home)
        await _make(self._client(CORE), _namespace(PLATFORM))
        hub = self._client(HUB)
        clusters = (await hub.every(Cluster)).items
        known = [site for cluster in clusters if (site := site_of(cluster))]
        self._sites = joined({site.cell: site for site in known}, self._wanted)
        was_cut = {cluster.metadata.name for cluster in clusters if cuts.is_cut(cluster)}
        for site in self.sites:
            home = Home("cell", site.cell)
            await self._open(home)
            await _make(self._client(home), _namespace(SYSTEM))
            await _make(hub, site.cluster)
            if site.cell in was_cut:
                self.links[home].cut()

    async def _open(self, home: Home) -> None:
        await self.homes.open(home)
        self.links.setdefault(home, Link(f"{home.role} {home.name}"))

    async def _run_services(self) -> None:
        hub, cells = self._view("hub"), self._view("cell")
        core, projects = _View(self._core, "core"), _View(self._services, "project")
        await self._engage_all(core, hub, cells, manager="services")
        kit = self._kit("services")
        planes = ServicePlanes(core.clusters, hub.clusters, projects.clusters, cells.clusters)
        controllers = catalog.controllers(planes, self, kit)
        program = Program(leading=controllers, duties=kit.duties())
        self._run("services", program, kit, [core, hub, projects, cells])

    async def _run_management(self) -> None:
        core, hub = self._view("core"), self._view("hub")
        projects = _View(self._management, "project")
        await self._engage_all(core, hub, manager="management")
        kit = self._kit("management")
        found = Projects(core.clusters, projects.clusters, self._connect)
        finding = projects_controller(found, core.clusters, self._environment, kit.metrics)
        planes = ManagementPlanes(projects.clusters, hub.clusters, core.clusters)
        controllers = roles.management(planes, kit)
        program = Program(always=[finding], leading=controllers, duties=kit.duties())
        self._run("management", program, kit, [core, hub, projects])

    async def _run_engine(self) -> None:
        hub, cells = self._view("hub"), self._view("cell", engine.CELL_PARTS)
        await self._engage_all(hub, cells, manager="engine")
        kit = self._kit("engine")
        planes = EnginePlanes(hub.clusters, cells.clusters)
        controllers = [
            *engine.controllers(planes, kit),
            *cuts.controllers(hub.clusters, self.links, kit),
        ]
        program = Program(leading=controllers, duties=kit.duties())
        self._run("engine", program, kit, [hub, cells])

    async def _run_cell(self, site: Site) -> None:
        name, home = site.cell, Home("cell", site.cell)
        out = self.links[home]
        cell = self._view("cell")
        hub = self._view("hub", roles.hub_of_cell(name, site.city), out)
        projects = self._view("project", roles.projects_of_cell(name), out)
        await cell.clusters.engage(cluster_name(name), LocalClient(self.homes[home], manager=name))
        await hub.clusters.engage(cluster_name(HUB.name), self._way(HUB, name, out))
        reached = Reached(projects.clusters, lambda project: self._reach(project, name, out))
        self._reached.append(reached)
        kit = self._kit(name)
        planes = CellPlanes(cell.clusters, hub.clusters, projects.clusters, reached.reach)
        controllers = [
            *roles.cell(planes, CellSettings(name=name), kit),
            *simulated.controllers(cell.clusters, kit),
        ]
        program = Program(leading=controllers, duties=kit.duties())
        self._run(name, program, kit, [cell, hub, projects])

    def _run(self, name: str, program: Program, kit: Kit, views: list[_View]) -> None:
        program.clusters = [view.clusters for view in views]
        manager = Manager(program, metrics=kit.metrics, grace=_GRACE)
        self._parts[name] = _Part(manager, views)
        self._tasks.append(self._scope.spawn(manager.run(), name))

    # Ways

    def _view(self, role: Role, parts: Parts = WHOLE, out: Link | None = None) -> _View:
        return _View(Clusters(role, self._environment, parts), role, out)

    async def _engage_all(self, *views: _View, manager: str) -> None:
        """Engage every plane of these roles, as somebody who is in none of them."""
        for view in views:
            for home in self.homes:
                if home.role == view.role:
                    await view.clusters.engage(cluster_name(home.name), self._way(home, manager))

    def _way(self, home: Home, manager: str, *out: Link) -> Client:
        return through(self.homes[home], manager, self.links[home], *out)

    def _connect(self, project: Project) -> Client:
        return self._reach(project.metadata.name, "management")

    def _reach(self, project: str, manager: str, *out: Link) -> Client:
        home = Home("project", project)
        for link in out:
            link.check()
        if self.homes.find(home) is None:
            raise NotFound(f"there is no project {project}")
        return self._way(home, manager, *out)

    def _client(self, home: Home) -> Client:
        return LocalClient(self.homes[home], manager="world")

    def _kit(self, name: str) -> Kit:
        return Kit(self._environment, Metrics(), name)

    def _is_cut_off(self, view: _View, cluster: str) -> bool:
        own = self.links.get(view.home(cluster))
        return any(link is not None and link.is_cut for link in (own, view.out))

    def _fail(self, part: str, why: BaseException) -> None:
        if not self.failed.done():
            self.failed.set_exception(why)


def _namespace(name: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name))


async def _make(client: Client, obj: Object) -> None:
    """Make sure that there is an object of this name. What it says is its user's from then on."""
    try:
        await client.create(obj)
    except AlreadyExists:
        return
