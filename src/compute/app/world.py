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
from compute.runtime.scope import Scope
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
    views: list[_View]
    task: asyncio.Task[None]


class World:
    """Everything. `start` it, and `stop` it when done."""

    def __init__(self, homes: Homes, sites: Iterable[Site], environment: Environment) -> None:
        self.homes = homes
        self.links: dict[Home, Link] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._environment = environment
        self._wanted = list(sites)
        self._sites: dict[str, Site] = {}
        self._core = Clusters("core", environment)  # as those at the door see it
        self._projects = Clusters("project", environment)
        self._services = catalog.services(self)
        self._beginnings: dict[str, Callable[[], Awaitable[None]]] = {}
        self._parts: dict[str, _Part] = {}  # that run
        self._scope = Scope("world", self._fail)

    @property
    def sites(self) -> Sequence[Site]:
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
        await self._scope.close()
        await self._projects.close()
        await self._core.close()
        await self.homes.close()

    @property
    def parts(self) -> Sequence[str]:
        """What runs by itself, and can be stopped by itself."""
        return tuple(self._beginnings)

    async def pause(self, part: str) -> None:
        """Stop a part, as when its process ends. The planes and everybody else go on."""
        stopped = self._parts.pop(part)
        stopped.manager.stop()
        await asyncio.wait([stopped.task])

    async def resume(self, part: str) -> None:
        """Start a part. It knows nothing but what the planes tell it."""
        await self._beginnings[part]()

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
        home, name = Home("project", project), cluster_name(project)
        await self._open(home)
        services = [self._parts[name] for name in self._services if name in self._parts]
        for clusters in (self._projects, *_of_projects(services)):
            if clusters.find(name) is None:
                await clusters.engage(name, self._way(home, "services"))

    async def remove(self, project: str) -> None:
        """Nothing of a project's plane is left, and nobody looks after it any more."""
        home, name = Home("project", project), cluster_name(project)
        for clusters in (*_of_projects(reversed(self._parts.values())), self._projects):
            await clusters.disengage(name)
        await self.homes.remove(home)
        self.links.pop(home, None)

    # Beginnings

    async def _build(self) -> None:
        self.homes.join(Doorkeeper(WorkloadAdmission(self._projects), ClaimAdmission(self._core)))
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
        await self._core.engage(cluster_name(CORE.name), self._way(CORE, "door"))
        self._beginnings = self._plan()

    def _plan(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """How each part begins, in the order in which they do."""
        return {
            **{name: partial(self._run_service, name) for name in self._services},
            "management": self._run_management,
            "engine": self._run_engine,
            **{f"cell {site.cell}": partial(self._run_cell, site) for site in self.sites},
            **{f"provider {site.cell}": partial(self._run_provider, site) for site in self.sites},
        }

    async def _open(self, home: Home) -> None:
        await self.homes.open(home)
        self.links.setdefault(home, Link(f"{home.role} {home.name}"))

    async def _run_service(self, name: str) -> None:
        core, hub = self._view("core"), self._view("hub")
        projects, cells = self._view("project"), self._view("cell")
        await self._engage_all(core, hub, projects, cells, manager="services")
        kit = self._kit(name)
        planes = ServicePlanes(core.clusters, hub.clusters, projects.clusters, cells.clusters)
        controllers = self._services[name](planes, kit)
        self._run(name, Program(leading=controllers), kit, [core, hub, projects, cells])

    async def _run_management(self) -> None:
        core, hub, projects = self._view("core"), self._view("hub"), self._view("project")
        await self._engage_all(core, hub, manager="management")
        kit = self._kit("management")
        found = Projects(core.clusters, projects.clusters, self._connect)
        finding = projects_controller(found, core.clusters, self._environment, kit.metrics)
        planes = ManagementPlanes(projects.clusters, hub.clusters, core.clusters)
        program = Program(always=[finding], leading=roles.management(planes, kit))
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
        self._run("engine", Program(leading=controllers), kit, [hub, cells])

    async def _run_cell(self, site: Site) -> None:
        name, home = site.cell, Home("cell", site.cell)
        out = self.links[home]
        cell = self._view("cell")
        hub = self._view("hub", roles.hub_of_cell(name, site.city), out)
        projects = self._view("project", roles.projects_of_cell(name), out)
        await cell.clusters.engage(cluster_name(name), LocalClient(self.homes[home], manager=name))
        await hub.clusters.engage(cluster_name(HUB.name), self._way(HUB, name, out))
        reached = Reached(projects.clusters, lambda project: self._reach(project, name, out))
        kit = self._kit(name)
        planes = CellPlanes(cell.clusters, hub.clusters, projects.clusters, reached.reach)
        controllers = roles.cell(planes, CellSettings(name=name), kit)
        self._run(f"cell {name}", Program(leading=controllers), kit, [cell, hub, projects])

    async def _run_provider(self, site: Site) -> None:
        cell, home = self._view("cell"), Home("cell", site.cell)
        here = LocalClient(self.homes[home], manager="provider")
        await cell.clusters.engage(cluster_name(site.cell), here)
        kit = self._kit(f"provider-{site.cell}")
        controllers = simulated.controllers(cell.clusters, kit)
        self._run(f"provider {site.cell}", Program(leading=controllers), kit, [cell])

    def _run(self, name: str, program: Program, kit: Kit, views: list[_View]) -> None:
        program.clusters = [view.clusters for view in views]
        program.duties = kit.duties()
        manager = Manager(program, metrics=kit.metrics, grace=_GRACE)
        task = self._scope.spawn(manager.run(), name)
        self._parts[name] = _Part(manager, views, task)

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
