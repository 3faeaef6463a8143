"""The status of a project's deployment: what its cell reports, and what only the hub knows."""

from dataclasses import replace

from msgspec import structs

from compute.api import karmada, labels, names
from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.karmada_work import ResourceBinding
from compute.api.reasons import Trait, has
from compute.controllers.management import city_events
from compute.controllers.management.federator import teardown_check
from compute.controllers.management.federator.deployment_link import DeploymentLink
from compute.controllers.management.fleet_metrics import HUB_TO_CELL, LEASES, FleetMetrics
from compute.decide.conditions import find
from compute.decide.federation import (
    CellUnreachable,
    DeploymentProblem,
    DispatchingSuspended,
    RefusedByCell,
    Unplaced,
    project_status,
)
from compute.decide.federation.suspension import suspends_dispatching, suspends_scheduling
from compute.decide.workload import workload_events
from kubekit.api import times
from kubekit.api.kinds.coordination import Lease
from kubekit.api.meta import Condition
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reporting.events import EventRecorder


class StatusReporter:
    """Writes the status of the project's deployments."""

    def __init__(
        self, environment: ExecutionEnvironment, recorder: EventRecorder, metrics: FleetMetrics
    ) -> None:
        self._environment = environment
        self._recorder = recorder
        self._metrics = metrics

    async def propagate(
        self, link: DeploymentLink, deployment: WorkloadDeployment, copy: WorkloadDeployment
    ) -> None:
        """Write the status of the copy on the hub to the project's deployment.

        The caches show whether a write is due. The copy is read live before the write: a cache that
        lags would restore what another federator has replaced. What keeps it from its cell is not: it
        is reported again when the cache has caught up.
        """
        if await self._status_due(link, deployment, copy) is None:
            return
        present = await live.find(link.hub, WorkloadDeployment, link.name, copy.metadata.namespace)
        status = await self._status_due(link, deployment, present) if present else None
        if present and status is not None:
            await self._write(link, deployment, status)
            if not deployment.status.observed_generation and status.observed_generation:
                applied = teardown_check.applied_at(link.hub, present)
                if applied is not None:
                    created = present.metadata.creation_timestamp
                    self._metrics.record_hop(HUB_TO_CELL, created, applied)

    async def refuse(self, link: DeploymentLink, deployment: WorkloadDeployment, why: str) -> None:
        """Report why the deployment cannot be copied to the hub. Other conditions are kept."""
        now = self._environment.now()
        status = project_status(deployment, deployment, Unplaced(why), now)
        if status is not None:
            await self._write(link, deployment, status)

    async def _status_due(
        self,
        link: DeploymentLink,
        deployment: WorkloadDeployment,
        copy: WorkloadDeployment,
    ) -> WorkloadDeploymentStatus | None:
        """The status to write; None if it is written already."""
        trouble = await trouble_of(link.hub, copy)
        if isinstance(trouble, Unplaced):
            # The counts are stale: the cell that reported them no longer has the deployment.
            copy = structs.replace(copy, status=WorkloadDeploymentStatus())
        return project_status(deployment, copy, trouble, self._environment.now())

    async def _write(
        self, link: DeploymentLink, deployment: WorkloadDeployment, status: WorkloadDeploymentStatus
    ) -> None:
        desired = structs.replace(deployment, status=status)
        written = await link.project.client.patch_status(deployment, desired)
        event = workload_events.city(deployment, written)
        if event is not None:
            city_events.report(self._recorder, link.project.client, written, event, "Federate")


async def trouble_of(hub: Cluster, copy: WorkloadDeployment) -> DeploymentProblem | None:
    """What keeps a deployment on the hub from its cell, according to the hub."""
    meta = copy.metadata
    bound = names.resource_binding(meta.name, copy.kind)
    binding = await live.cached(hub, ResourceBinding, bound, meta.namespace)
    if binding is None or binding.spec.resource.uid not in ("", meta.uid):
        return None
    if not binding.spec.clusters:
        unplaced = _unplaced(binding)
        if unplaced is None or suspends_scheduling(binding.spec):
            return unplaced
        return replace(unplaced, unreachable=await _unreachable_cells(hub, copy))
    cell = binding.spec.clusters[0].name
    return (
        await _unreachable_cell(hub, cell) or _suspended(binding, cell) or _refused(binding, cell)
    )


def readiness(cluster: karmada.MemberCluster) -> Condition | None:
    """The Ready condition of a cell."""
    return find(cluster.status.conditions, ConditionType.READY)


def placement(binding: ResourceBinding) -> tuple[object, ...]:
    """Where a binding sends its object, and what is in the way."""
    cells = [target.name for target in binding.spec.clusters]
    troubles = [_suspended(binding, cell) or _refused(binding, cell) for cell in cells]
    return binding.spec.resource, cells, _unplaced(binding), troubles


def _suspended(binding: ResourceBinding, cell: str) -> DispatchingSuspended | None:
    return (
        DispatchingSuspended(cell) if suspends_dispatching(binding.spec.suspension, cell) else None
    )


def _refused(binding: ResourceBinding, cell: str) -> RefusedByCell | None:
    """Why the cell does not apply it. Before the first attempt there is no message."""
    for item in binding.status.aggregated_status:
        if item.cluster_name == cell and not item.applied and item.applied_message:
            return RefusedByCell(cell, item.applied_message)
    return None


def _unplaced(binding: ResourceBinding) -> Unplaced | None:
    if suspends_scheduling(binding.spec):
        return None if binding.spec.clusters else Unplaced(_not_scheduled(binding))
    scheduled = find(binding.status.conditions, NeighbourCondition.SCHEDULED)
    if scheduled is None or scheduled.status != "False" or not has(scheduled.reason, Trait.NO_CELL):
        return None
    return Unplaced(scheduled.message)


def _not_scheduled(binding: ResourceBinding) -> str:
    suspension = binding.spec.suspension
    if suspension is not None and suspension.scheduling:
        return "an operator of the hub has suspended scheduling"
    return f"the scheduler {binding.spec.scheduler_name} has not chosen one yet"


async def _unreachable_cell(hub: Cluster, cell: str) -> CellUnreachable | None:
    cluster = await live.cached(hub, karmada.MemberCluster, cell)
    ready = readiness(cluster) if cluster else None
    if ready is None or ready.status == "True":
        return None
    return await _unreachable_since(hub, cell, ready)


async def _unreachable_cells(hub: Cluster, copy: WorkloadDeployment) -> tuple[CellUnreachable, ...]:
    """The cells of a deployment's city, if it has any and all are unreachable."""
    city = copy.metadata.labels.get(labels.TOPOLOGY_CITY_CODE)
    unreachable_cells: list[CellUnreachable] = []
    for cluster in hub.informers.of(karmada.MemberCluster).cache.list():
        if cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE) == city and not cluster.deleting:
            unreachable = await _unreachable_cell(hub, cluster.metadata.name)
            if unreachable is None:
                return ()
            unreachable_cells.append(unreachable)
    return tuple(unreachable_cells)


async def _unreachable_since(hub: Cluster, cell: str, ready: Condition) -> CellUnreachable:
    """The last report of an unreachable cell, where it renews a lease; else what the hub noticed.

    A Lease that is still renewed would give a new time on every reconcile pass. So it counts only
    if it is older than the transition of the Ready condition.
    """
    noticed = ready.last_transition_time
    lease = await hub.client.find(Lease, cell, LEASES)
    try:
        renewed = times.parse(lease.spec.renew_time or "") if lease else None
    except times.TimeError:
        renewed = None
    if renewed is None or renewed > noticed:
        return CellUnreachable(cell, noticed, reported=False)
    return CellUnreachable(cell, renewed)
