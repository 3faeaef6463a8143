"""The roles of a manager process. Each has its own controllers, caches, clients, metrics and lease.

Leases save work, and safety does not rest on them: management's is on the hub, that of a cell and of a
provider in the cell, that of the stand-ins on the plane with the Projects. Clusters are engaged on
every replica, and webhooks served, whether it leads or not.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import Network, NetworkBinding, SubnetClaim
from compute.api.quota import ResourceClaim, ResourceGrant, ResourceRegistration
from compute.api.resource_manager import Project
from compute.app import roles
from compute.app.manager.connections import SINGLE, ProjectPlanes
from compute.app.manager.options import PODS
from compute.app.manager.role_builder import ManagedRole, ManagerSetup, RoleBuilder
from compute.app.manager.startup_checks import CELL_NAME, CORE_NAME, HUB_NAME, PROJECT_NAME
from compute.app.project_clusters import (
    CONTROL_PLANES,
    PROJECTS,
    ProjectReconciler,
    projects_controller,
)
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.controllers.management import consumers
from compute.controllers.management.admission.workload_admission import WorkloadAdmission
from compute.controllers.management.consumers import ServiceConsumers
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.workload import controller as workload
from compute.decide.pods.pod_settings import PodSettings
from compute.providers import simulated
from compute.providers.pods import controller as pods
from compute.services import catalog
from compute.services.catalog import ServiceSettings
from compute.services.planes import ServicePlanes
from kubekit.api.errors import Unavailable
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.manager import Runnables
from kubekit.runtime.providers.kubeconfigs import KubeconfigClusters
from kubekit.runtime.providers.on_demand import OnDemandClusters
from kubekit.runtime.reporting.health import Check
from kubekit.runtime.requests import ClusterName, cluster_name

HUB: Final = cluster_name("hub")
MANAGEMENT: Final = "management"
_HUB_KINDS: Final = (
    WorkloadDeployment, Instance, PropagationPolicy, ResourceBinding, Work, MemberCluster,
)  # fmt: skip
_CORE_KINDS: Final[dict[str, tuple[type[Object], ...]]] = {
    "quota": (Project, ResourceRegistration, ResourceGrant),
    "projects": (Project,),
    "entitlements": (Project,),
}


def managed_roles(setup: ManagerSetup) -> list[ManagedRole]:
    """The roles that the options enable."""
    options = setup.options
    made = []
    if options.management:
        made.append(_management(setup))
    if options.cell:
        made.append(_cell(setup))
    if options.provider:
        made.append(_provider(setup))
    if options.stand_ins:
        made.append(_stand_ins(setup))
    return made


def _management(setup: ManagerSetup) -> ManagedRole:
    """One cache of the hub serves the federator and the projector.

    The hub may be unreachable: a management process is ready without it, since its webhooks need the
    projects alone.
    """
    builder, links = RoleBuilder(setup, MANAGEMENT, (MANAGEMENT,)), setup.connections
    factory = builder.factory()
    projects, hub = builder.clusters_of("project"), builder.clusters_of("hub", remote=True)
    discovery = _discovery(builder, projects, factory, leases=links.hub is None)
    planes = ManagementPlanes(projects, hub, discovery.core)
    networking = setup.options.networking
    if links.hub is None:  # everything is in one cluster
        controllers = workload.controllers(planes, factory, networking=networking)
    else:
        builder.fixed(hub, HUB, links.hub)
        builder.check(HUB_NAME, links.hub, _HUB_KINDS, leases=True)
        controllers = roles.management(planes, factory, networking=networking)
        if discovery.consumers is not None:
            controllers += consumers.controllers(planes, discovery.consumers, factory)
    runnables = Runnables(always=discovery.always, leading=controllers)
    manager = builder.finish(runnables, links.hub or links.own, factory)
    admission = WorkloadAdmission(projects, discovery.core)
    return ManagedRole(builder.name, manager, builder.checks, discovery.readiness, admission)


@dataclass(frozen=True, slots=True)
class _Discovery:
    """How projects are engaged: ``core`` has their objects, where it is known that one is gone."""

    core: Clusters | None = None
    consumers: ServiceConsumers | None = None
    always: list[Controller] = field(default_factory=list)
    readiness: dict[str, Check] = field(default_factory=dict)


def _discovery(
    builder: RoleBuilder, projects: Clusters, factory: ControllerFactory, *, leases: bool
) -> _Discovery:
    """Engage the only project, or every project of the core plane as it comes and goes."""
    links, options = builder.setup.connections, builder.setup.options
    kinds = (Workload, WorkloadDeployment, Instance, *((Network,) if options.networking else ()))
    if links.core is None:
        builder.fixed(projects, SINGLE, links.own)
        builder.check(PROJECT_NAME, links.own, kinds, leases=leases)
        return _Discovery()
    by = CONTROL_PLANES if links.projects.internal else PROJECTS
    core = builder.clusters_of("core", catalog.CORE_SELECTORS)
    builder.fixed(core, "core", links.core)
    builder.check(CORE_NAME, links.core, (by.kind,), leases=leases)

    def connect(project: str) -> Client:
        return builder.client(links.projects.connection(project))

    recorded = _consumers(builder)
    reconciler = ProjectReconciler(core, projects, connect, by, recorded)
    controller = projects_controller(reconciler, core, factory.environment, factory.metrics)
    readiness: dict[str, Check] = {
        "project-discovery-synced": reconciler.discovery_problems,
        "projects-engaged": reconciler.problems,
    }
    known = None if links.projects.internal else core  # the other kind is no proof of absence
    return _Discovery(known, recorded, [controller], readiness)


def _consumers(builder: RoleBuilder) -> ServiceConsumers | None:
    """The records of consumption in the provider's project, where the configuration names it."""
    settings = builder.setup.config.discovery.consumer_scoped_projection
    if settings is None:
        return None
    provider = builder.clusters_of("provider")
    name = settings.provider_project
    builder.fixed(provider, name, builder.setup.connections.projects.connection(name))
    return ServiceConsumers(provider, settings.service_names)


def _cell(setup: ManagerSetup) -> ManagedRole:
    """The hub and the projects may be unreachable: a cell is ready without them."""
    builder, links, name = RoleBuilder(setup, "cell", ("cell",)), setup.connections, setup.cell
    factory, options = builder.factory(), setup.options
    own = builder.clusters_of("cell")
    hub = builder.clusters_of("hub", roles.hub_of_cell(name, options.city), remote=True)
    projects = builder.clusters_of("project", roles.projects_of_cell(name), remote=True)
    builder.fixed(own, name, links.own)
    networks = (NetworkBinding, SubnetClaim) if options.networking else ()
    builder.check(CELL_NAME, links.own, (WorkloadDeployment, Instance, *networks), leases=True)
    reach = OnDemandClusters(projects, _quota_client(builder, links.quota)).reach
    own_project = cluster_name(SINGLE) if options.is_whole else None
    planes = CellPlanes(own, hub, projects, reach, own_project)
    settings = CellSettings(name=name, networking=options.networking, quota=links.quota is not None)
    if links.hub is None:
        controllers = roles.isolated_cell(planes, settings, factory)
    else:
        builder.fixed(hub, HUB, links.hub)
        builder.check(HUB_NAME, links.hub, (WorkloadDeployment, Instance, ResourceBinding))
        controllers = roles.cell(planes, settings, factory)
    manager = builder.finish(Runnables(leading=controllers), links.own, factory)
    return ManagedRole(builder.name, manager, builder.checks)


def _quota_client(
    builder: RoleBuilder, quota: ProjectPlanes | None
) -> Callable[[ClusterName], Client]:
    """How the cell connects to the project of a claim."""
    if quota is None:
        return _without_quota
    if quota.mode == SINGLE:
        builder.check(PROJECT_NAME, quota.server, (ResourceClaim,))
    return lambda project: builder.client(quota.connection(project))


def _without_quota(project: ClusterName) -> Client:
    raise Unavailable(f"quota is off: there is no credential for the project {project}")


def _provider(setup: ManagerSetup) -> ManagedRole:
    """The provider runs beside the cell's controllers, or in a process of its own."""
    options, links = setup.options, setup.connections
    name = f"provider-{options.provider}"
    builder = RoleBuilder(setup, name, (name,))
    factory, is_pods = builder.factory(), options.provider == PODS
    provider = pods if is_pods else simulated
    own = builder.clusters_of("cell", provider.CELL_SELECTORS)
    builder.fixed(own, setup.cell, links.own)
    builder.check(CELL_NAME, links.own, (Instance,), leases=True)
    if is_pods:
        leading = pods.controllers(own, factory, PodSettings(allow_root=options.pods_allow_root))
    else:
        leading = simulated.controllers(own, factory)
    manager = builder.finish(Runnables(leading=leading), links.own, factory)
    return ManagedRole(builder.name, manager, builder.checks)


class ExistingPlanes:
    """The keeper of planes where an operator provides them: there is one, of the only project."""

    async def ensure(self, project: str) -> None:
        """Refuse any other project: nothing here could give it a plane."""
        if project != SINGLE:
            raise Unavailable(f"the only project here is {SINGLE}; delete the Project {project}")

    async def remove(self, project: str) -> None:
        """Leave the plane to its operator."""


def _stand_ins(setup: ManagerSetup) -> ManagedRole:
    """Stand-ins work on every plane: a hub or a cell that is unreachable must not make them unready."""
    links, options = setup.connections, setup.options
    parts = tuple(f"stand-in-{name}" for name in options.stand_ins)
    builder = RoleBuilder(setup, "stand-ins", parts)
    factory = builder.factory()
    projects, hub = builder.clusters_of("project"), builder.clusters_of("hub", remote=True)
    discovery = _discovery(builder, projects, factory, leases=True)
    core = discovery.core
    if core is None:
        core = builder.clusters_of("core", catalog.CORE_SELECTORS)
        builder.fixed(core, "core", links.core or links.own)
    builder.fixed(hub, HUB, links.hub or links.own)
    builder.check(HUB_NAME, links.hub or links.own, (MemberCluster,))
    kinds = dict.fromkeys(kind for name in options.stand_ins for kind in _CORE_KINDS.get(name, ()))
    builder.check(CORE_NAME, links.core or links.own, kinds)
    planes = ServicePlanes(core, hub, projects, _cells(builder))
    settings = ServiceSettings(core_is_project=links.core is None)
    services = catalog.neighbours(ExistingPlanes(), settings)
    leading = [each for name in options.stand_ins for each in services[name](planes, factory)]
    runnables = Runnables(always=discovery.always, leading=leading)
    manager = builder.finish(runnables, links.core or links.own, factory)
    return ManagedRole(builder.name, manager, builder.checks, discovery.readiness)


def _cells(builder: RoleBuilder) -> Clusters:
    """Every cell that a kubeconfig names, or the one of this process."""
    cells = builder.clusters_of("cell", catalog.CELL_SELECTORS, remote=True)
    setup = builder.setup
    path = setup.options.cells_kubeconfig
    if path is None:
        builder.fixed(cells, setup.cell, setup.connections.own)
    else:
        provider = KubeconfigClusters(cells, [path], builder.client, setup.environment)
        builder.providers.append(provider)
    return cells
