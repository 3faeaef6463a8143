"""Which controllers run in which part. They are the same on one machine and on many.

`management` and `cell` create the controllers of a manager, wherever it runs. `Roles` starts the parts
of a world on one machine: for each it creates the clients, the controllers and the manager.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final, Protocol

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.app import links
from compute.app.parts import ClusterView, Host, PartClients, RunningParts
from compute.app.planes import HUB, PlaneRef, Role
from compute.app.project_clusters import ProjectReconciler, projects_controller
from compute.app.sites import CellSite
from compute.app.world_timing import WorldTiming
from compute.controllers.cell.deployment import controller as deployment
from compute.controllers.cell.instance import controller as instance
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.cell.write_back import controller as write_back
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.projector import controller as projector
from compute.controllers.management.workload import controller as workload
from compute.decide.deployment.drains import DEFAULT_GRACE, Grace
from compute.federation import engine
from compute.federation.planes import EnginePlanes
from compute.providers import simulated
from compute.services import catalog
from compute.services.planes import ServicePlanes
from compute.services.projects import PlaneKeeper
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.manager import Runnables
from kubekit.runtime.providers.on_demand import OnDemandClusters
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.watching.informers import ALL_OBJECTS, KindSelectors
from kubekit.runtime.watching.watched_part import labelled

Start = Callable[[str], Awaitable[None]]
"""Starts a part under a name."""

# The names of field managers in managedFields. A cell writes under its own name.
_SERVICES: Final = "services"
_MANAGEMENT: Final = "management"
_ENGINE: Final = "engine"
_PROVIDER: Final = "provider"


def management(
    planes: ManagementPlanes,
    factory: ControllerFactory,
    grace: Grace = DEFAULT_GRACE,
    *,
    networking: bool = True,
) -> list[Controller]:
    """From Workloads to the hub, and back. Unwanted deployments are deleted after the ``grace``."""
    return [
        *workload.controllers(planes, factory, networking=networking, grace=grace),
        *federator.controllers(planes, factory),
        *namespaces.controllers(planes, factory),
        *projector.controllers(planes, factory),
    ]


def cell(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """From deployments to Instances, and their copies on the hub."""
    return [
        *isolated_cell(planes, settings, factory),
        *write_back.controllers(planes, settings, factory),
    ]


def isolated_cell(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """From deployments to Instances, in a cell without a hub."""
    return [
        *deployment.controllers(planes, settings, factory),
        *instance.controllers(planes, settings, factory),
    ]


def hub_of_cell(cell: str, city: str) -> KindSelectors:
    """What a cell watches on the hub: its own copies, and what may own them.

    Without a city that is every deployment.
    """
    copies: KindSelectors = {Instance: labelled(f"{labels.SOURCE_CLUSTER}={cell}")}
    if not city:
        return copies
    return {**copies, WorkloadDeployment: labelled(f"{labels.TOPOLOGY_CITY_CODE}={city}")}


def projects_of_cell(cell: str) -> KindSelectors:
    """What a cell watches in projects: the claims that it created."""
    return {ResourceClaim: labelled(f"{labels.SOURCE_CLUSTER}={cell}")}


class RoleHost(Host, PlaneKeeper, Protocol):
    """A world that runs all roles, and opens the planes of projects."""


class Roles:
    """Starts the parts of a world, each with its own clients, controllers and manager."""

    def __init__(self, host: RoleHost, running: RunningParts, timing: WorldTiming) -> None:
        self._host = host
        self._running = running
        self._timing = timing
        self._services = catalog.services(host)

    def starts(self, sites: Iterable[CellSite]) -> dict[str, Start]:
        """The function that starts each part, by its name, in the order of the start."""
        cells = tuple(sites)
        return {
            **{name: partial(self._service, name) for name in self._services},
            "management": self._management,
            "engine": self._engine,
            **{f"cell {site.cell}": partial(self._cell, site) for site in cells},
            **{f"provider {site.cell}": partial(self._provider, site) for site in cells},
        }

    async def _service(self, name: str, part: str) -> None:
        factory, clients = self._host.factory(part), PartClients(self._host, part, _SERVICES)
        core, hub = _view(factory, "core", catalog.CORE_SELECTORS), _view(factory, "hub")
        projects = _view(factory, "project")
        cells = _view(factory, "cell", catalog.CELL_SELECTORS)
        views = [core, hub, projects, cells]
        for view in views:
            await clients.engage(view)
        planes = ServicePlanes(core.clusters, hub.clusters, projects.clusters, cells.clusters)
        runnables = Runnables(leading=self._services[name](planes, factory))
        self._running.start(clients, factory, views, runnables, has_every_project=True)

    async def _management(self, part: str) -> None:
        factory, clients = self._host.factory(part), PartClients(self._host, part, _MANAGEMENT)
        core, hub = _view(factory, "core"), _view(factory, "hub")
        projects = _view(factory, "project")
        for view in (core, hub):
            await clients.engage(view)

        reconciler = ProjectReconciler(core.clusters, projects.clusters, clients.project)
        controller = projects_controller(
            reconciler, core.clusters, factory.environment, factory.metrics
        )
        planes = ManagementPlanes(projects.clusters, hub.clusters, core.clusters)
        runnables = Runnables(
            always=[controller], leading=management(planes, factory, self._timing.grace)
        )
        self._running.start(clients, factory, [core, hub, projects], runnables)

    async def _engine(self, part: str) -> None:
        factory, clients = self._host.factory(part), PartClients(self._host, part, _ENGINE)
        hub, cells = _view(factory, "hub"), _view(factory, "cell", engine.CELL_SELECTORS)
        for view in (hub, cells):
            await clients.engage(view)
        controllers = [
            *engine.controllers(
                EnginePlanes(hub.clusters, cells.clusters), factory, self._timing.cell_timeout
            ),
            *links.controllers(hub.clusters, self._host.links, factory),
        ]
        self._running.start(clients, factory, [hub, cells], Runnables(leading=controllers))

    async def _cell(self, site: CellSite, part: str) -> None:
        name, ref = site.cell, PlaneRef("cell", site.cell)
        out = self._host.links[ref]
        factory, clients = self._host.factory(part), PartClients(self._host, part, name, out)
        own = _view(factory, "cell")
        hub = ClusterView(_clusters(factory, "hub", hub_of_cell(name, site.city)), "hub", out)
        projects = ClusterView(
            _clusters(factory, "project", projects_of_cell(name)), "project", out
        )
        await own.clusters.engage(cluster_name(name), clients.local(ref))
        await hub.clusters.engage(cluster_name(HUB.name), clients.remote(HUB))
        on_demand = OnDemandClusters(projects.clusters, clients.project)
        planes = CellPlanes(own.clusters, hub.clusters, projects.clusters, on_demand.reach)
        runnables = Runnables(leading=cell(planes, CellSettings(name=name), factory))
        self._running.start(clients, factory, [own, hub, projects], runnables)

    async def _provider(self, site: CellSite, part: str) -> None:
        factory, clients = self._host.factory(part), PartClients(self._host, part, _PROVIDER)
        own = _view(factory, "cell", simulated.CELL_SELECTORS)
        client = clients.local(PlaneRef("cell", site.cell))
        await own.clusters.engage(cluster_name(site.cell), client)
        runnables = Runnables(leading=simulated.controllers(own.clusters, factory))
        self._running.start(clients, factory, [own], runnables)


def _view(
    factory: ControllerFactory, role: Role, parts: KindSelectors = ALL_OBJECTS
) -> ClusterView:
    return ClusterView(_clusters(factory, role, parts), role)


def _clusters(factory: ControllerFactory, role: Role, parts: KindSelectors) -> Clusters:
    return Clusters(role, factory.environment, parts)
