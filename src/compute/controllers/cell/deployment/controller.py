"""From a WorkloadDeployment to its Instances, in the cell.

    caches -> plan -> live read of the deployment -> Instances, bindings, claims -> status

Each reconcile pass plans from all that exists and applies the next step, so a restart, a lost watch
event or a second controller changes nothing. Before an Instance is created, deleted or let through
a gate, the deployment is read live: the cached one may be deleted, or replaced by another of the same
name.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from msgspec import structs

from compute.api import finalizers
from compute.api.compute import MOST_REPLICAS, Instance, WorkloadDeployment
from compute.api.networking import Location, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.permissions import READ, WATCH, WRITE, allow, events, owners
from compute.controllers.cell.deployment.deployment_plan import DeploymentPlan, plan_deployment
from compute.controllers.cell.deployment.executor import ExecutionResult, Executor
from compute.controllers.cell.deployment.members import (
    any_left,
    count_gated,
    deployments_of,
    members,
)
from compute.controllers.cell.deployment.network_gate import NetworkGate
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide.deployment.rollout import is_at_gates
from compute.decide.deployment.rollup import deployment_status, has_new_verdict, same
from kubekit.api.errors import ApiError
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.queueing.reconcile_throttle import ReconcileThrottle
from kubekit.runtime.reconciling.commit import add_finalizer, remove_finalizer
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "deployment"
# Each Instance changes about ten times during startup, and all may start at once.
_SETTINGS: Final = ControllerSettings(storm=10 * MOST_REPLICAS)
_NEVER: Final = -1
# How often a full admission window is checked: no watch event reports that an Instance has been at
# its gates for too long to count.
_WINDOW_CHECK: Final = timedelta(seconds=10)

PERMISSIONS: Final = (
    *allow("cell", (*READ, "patch"), WorkloadDeployment),
    *allow("cell", ("patch",), WorkloadDeployment, subresource="status"),
    *allow("cell", (*READ, *WRITE), Instance),
    *allow("cell", (*WATCH, "create", "delete"), NetworkBinding),
    *allow("cell", (*WATCH, "create"), SubnetClaim),
    *allow("cell", READ, NetworkContext),
    *allow("cell", WATCH, Location, Subnet),
    *owners("cell", WorkloadDeployment),
    *events("cell"),
)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """The controller of a cell's deployments."""
    gate = NetworkGate(planes.cell) if settings.networking else None
    reconciler = DeploymentReconciler(planes, settings, gate, factory)
    sources = [
        own(WorkloadDeployment, planes.cell),
        mapped(Instance, planes.cell, deployments_of),
        *(gate.sources() if gate else ()),
    ]
    return [factory.controller(NAME, reconciler, planes.cell, sources, _SETTINGS)]


@dataclass(frozen=True, slots=True)
class _LastPass:
    """The spec version that was last reconciled, and when its admission window opens again.

    The window opens when at most ``window_opens_at`` Instances are at their gates.
    """

    generation: int
    deleting: bool
    window_opens_at: int


class DeploymentReconciler:
    """Brings the Instances of each deployment to its template, one step at a time.

    ``gate`` is None in a cell without networking.
    """

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        gate: NetworkGate | None,
        factory: ControllerFactory,
    ) -> None:
        self._cell = planes.cell
        self._settings = settings
        self._gate = gate
        self._environment = factory.environment
        self._recorder = factory.recorder(NAME)
        self._throttle = ReconcileThrottle(staggered=True)
        self._status_throttle = ReconcileThrottle()
        self._last: dict[Request, _LastPass] = {}

    async def reconcile(self, request: Request) -> Result:
        """Read the caches, plan, check the plan live, execute it, then write the status."""
        cluster = self._cell.get(request.cluster)
        cache = cluster.informers.of(WorkloadDeployment).cache
        cached = cache.get(request.namespace, request.name)
        if cached is None:
            return self._forget(request)
        wait = self._throttle.wait(request)
        if wait is not None and not self._is_due(request, cluster, cached):
            return Result(requeue_after=wait)

        deployment = await self._with_finalizer(cluster, cached)
        plan = self._plan(cluster, deployment)
        current = await self._checked(cluster, plan) if plan.has_writes else plan
        if current is None:  # the watch event of its deletion requeues it
            return self._requeue(request, cached, plan, ExecutionResult([]))

        result = await self._execute(cluster, current)
        if await self._is_finished(cluster, current, result):
            await remove_finalizer(cluster.client, current.deployment, finalizers.WORKLOAD)
        else:
            await self._write_status(request, cluster, current, result)
        if result.error is not None:
            raise result.error
        return self._requeue(request, cached, current, result)

    # Read and plan

    def _is_due(self, request: Request, cluster: Cluster, deployment: WorkloadDeployment) -> bool:
        """Whether more than a status count is due: the spec changed, or the admission window is open."""
        last = self._last.get(request)
        if last is None or (last.generation, last.deleting) != _spec_version(deployment):
            return True
        return count_gated(cluster, deployment) <= last.window_opens_at

    async def _with_finalizer(
        self, cluster: Cluster, deployment: WorkloadDeployment
    ) -> WorkloadDeployment:
        if deployment.deleting:
            return deployment
        return await add_finalizer(cluster.client, deployment, finalizers.WORKLOAD)

    def _plan(self, cluster: Cluster, deployment: WorkloadDeployment) -> DeploymentPlan:
        instances = members(cluster, deployment)
        network = self._gate.plan(cluster, deployment, instances) if self._gate else None
        return plan_deployment(deployment, instances, network, self._environment.now())

    async def _checked(self, cluster: Cluster, plan: DeploymentPlan) -> DeploymentPlan | None:
        """The plan for the deployment as read live; None if that is gone or replaced."""
        deployment = await live.same(cluster.client, plan.deployment)
        if deployment is None:
            return None
        planned_for = plan.deployment.metadata.resource_version
        unchanged = deployment.metadata.resource_version == planned_for
        return plan if unchanged else self._plan(cluster, deployment)

    # Create, update, delete

    async def _execute(self, cluster: Cluster, plan: DeploymentPlan) -> ExecutionResult:
        """Execute the plan. Networks come last: their failure must not block the creation of Instances."""
        executor = Executor(cluster.client, plan, self._settings, self._recorder)
        result = await executor.run(self._environment.now())
        if self._gate is None or plan.network is None or not plan.networks_due:
            return result
        try:
            await self._gate.apply(cluster.client, plan.network)
        except ApiError as error:
            return replace(result, error=result.error or error)
        return result

    async def _is_finished(
        self, cluster: Cluster, plan: DeploymentPlan, result: ExecutionResult
    ) -> bool:
        """Whether a deleting deployment has no Instances left, read live."""
        if not plan.deployment.deleting or result.instances:
            return False
        return not await any_left(cluster.client, plan.deployment)

    # Report and requeue

    async def _write_status(
        self, request: Request, cluster: Cluster, plan: DeploymentPlan, result: ExecutionResult
    ) -> None:
        """Write the status if it differs. A change of counts alone is throttled."""
        deployment, now = plan.deployment, self._environment.now()
        status = deployment_status(deployment, result.instances, plan.verdict, now, result.refused)
        if same(deployment.status, status):
            self._status_throttle.forget(request)
            return
        if self._status_throttle.wait(request) and not has_new_verdict(deployment.status, status):
            return
        self._status_throttle.reconciled(request, len(result.instances), to_count=True)
        await cluster.client.patch_status(deployment, structs.replace(deployment, status=status))

    def _requeue(
        self,
        request: Request,
        deployment: WorkloadDeployment,
        plan: DeploymentPlan,
        result: ExecutionResult,
    ) -> Result:
        """When to requeue without a watch event. Also records when a watch event makes a pass due."""
        window_full = bool(plan.queued_creates) and result.refused is None
        opens_at = sum(map(is_at_gates, result.instances)) // 2 if window_full else _NEVER
        self._last[request] = _LastPass(*_spec_version(deployment), opens_at)
        to_count = plan.settled or window_full
        self._throttle.reconciled(request, len(result.instances), to_count=to_count)
        wait = plan.delay or self._status_throttle.wait(request)
        return Result(requeue_after=wait or (_WINDOW_CHECK if window_full else None))

    def _forget(self, request: Request) -> Result:
        self._throttle.forget(request)
        self._status_throttle.forget(request)
        self._last.pop(request, None)
        return DONE


def _spec_version(deployment: WorkloadDeployment) -> tuple[int, bool]:
    return deployment.metadata.generation, deployment.deleting
