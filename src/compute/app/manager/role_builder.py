"""What every role of a manager is made of: its clusters, clients, checks, metrics and lease."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from compute.app.manager.connections import SINGLE, Connections
from compute.app.manager.operator_config import WorkloadOperator
from compute.app.manager.options import ManagerOptions
from compute.app.manager.startup_checks import CELL_NAME, PLANE_ROLES, PlaneCheck
from compute.app.manager_permissions import PartGrant
from compute.controllers.management.admission.workload_admission import WorkloadAdmission
from kubekit.api.kinds.coordination import Lease
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.connection import Connection
from kubekit.client.http.client import HttpClient
from kubekit.client.http.settings import HttpSettings
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.election import ElectionSettings, Elector
from kubekit.runtime.manager import ClusterProvider, Manager, Runnables
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.reporting.health import Check
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.watching.informers import ALL_OBJECTS, KindSelectors

_GRACE: Final = 10.0  # seconds that a running pass has to end, half of what the manifests allow


@dataclass(frozen=True, slots=True)
class ManagerSetup:
    """What every role is made from. ``identity`` names this process in leases and events.

    ``cell`` is the name of the cell's Cluster object on the hub, where this process is in a cell.
    """

    options: ManagerOptions
    config: WorkloadOperator
    connections: Connections
    environment: ExecutionEnvironment
    identity: str
    cell: str = SINGLE


@dataclass(slots=True)
class ManagedRole:
    """One role, ready to run. ``checks`` are for its planes, ``readiness`` adds to that of its manager."""

    name: str
    manager: Manager
    checks: list[PlaneCheck]
    readiness: Mapping[str, Check] = field(default_factory=dict)
    admission: WorkloadAdmission | None = None


@dataclass(slots=True)
class RoleBuilder:
    """Makes the clients and the clusters of one role. ``parts`` are those of its permissions."""

    setup: ManagerSetup
    name: str
    parts: tuple[str, ...]
    metrics: Metrics = field(default_factory=Metrics)
    clusters: list[Clusters] = field(default_factory=list)
    remote: list[Clusters] = field(default_factory=list)
    providers: list[ClusterProvider] = field(default_factory=list)
    checks: list[PlaneCheck] = field(default_factory=list)

    def client(self, connection: Connection) -> Client:
        """A client that writes under the name of the role, and counts its requests."""
        settings = HttpSettings(user_agent=f"compute-{self.name}", observe=self.metrics.requested)
        return HttpClient(connection, self.setup.environment, settings)

    def clusters_of(
        self, role: str, parts: KindSelectors = ALL_OBJECTS, *, remote: bool = False
    ) -> Clusters:
        """The clusters of a role. Readiness does not wait for ``remote`` ones."""
        clusters = Clusters(role, self.setup.environment, parts)
        (self.remote if remote else self.clusters).append(clusters)
        return clusters

    def fixed(self, clusters: Clusters, name: str, connection: Connection) -> None:
        """Engage one cluster that is always there."""
        client = self.client(connection)
        self.providers.append(FixedCluster(clusters, cluster_name(name), client))

    def check(
        self, name: str, plane: Connection, kinds: Iterable[type[Object]], *, leases: bool = False
    ) -> None:
        """Check a plane at the start. ``leases``: that of this role is there."""
        options = self.setup.options
        namespace = options.leader_elect_namespace if leases and options.leader_elect else ""
        granted = tuple(
            permission
            for part in self.parts
            for permission in PartGrant(part, PLANE_ROLES[name]).permissions
            if permission.kind is not Lease
        )
        remote = self.name == "cell" and name != CELL_NAME
        self.checks.append(PlaneCheck(name, plane, tuple(kinds), granted, namespace, remote))

    def factory(self) -> ControllerFactory:
        return ControllerFactory(self.setup.environment, self.metrics, self.setup.identity)

    def finish(
        self, runnables: Runnables, leases: Connection, factory: ControllerFactory
    ) -> Manager:
        """The manager of the role. ``leases`` is the plane of its lease."""
        runnables.clusters, runnables.remote = self.clusters, self.remote
        runnables.providers = self.providers
        runnables.background_tasks = factory.background_tasks()
        return Manager(runnables, self._elector(leases), self.metrics, _GRACE)

    def _elector(self, leases: Connection) -> Elector | None:
        options, setup = self.setup.options, self.setup
        if not options.leader_elect:
            return None
        settings = ElectionSettings(
            name=f"compute-{self.name}", namespace=options.leader_elect_namespace
        )
        return Elector(self.client(leases), setup.identity, setup.environment, settings)
