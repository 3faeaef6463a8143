"""From a deployment to its Instances, in the cell.

    caches -> agenda -> live read of the deployment -> Instances, bindings, claims -> status

Every pass looks at everything and does the next step, so a restart, a lost event or a second
controller changes nothing. Before anything is made, removed or let through a gate the deployment is
read live: what a cache shows may have been deleted, or stand for another of the same name.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import msgspec

from compute.api import finalizers
from compute.api.compute import MOST_REPLICAS, Instance, WorkloadDeployment
from compute.controllers.cell.deployment.deployment_plan import Agenda, agenda
from compute.controllers.cell.deployment.executor import Acting, Done
from compute.controllers.cell.deployment.members import are_left, begun, concerned, members
from compute.controllers.cell.deployment.network_gate import NetworkGate
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide.deployment.rollout import is_begun
from compute.decide.deployment.rollup import deployment_status, same, tells_more
from kubekit.api.errors import ApiError
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.queueing.reconcile_throttle import ReconcileThrottle
from kubekit.runtime.reconciling.commit import add_finalizer, remove_finalizer
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "deployment"
# Each Instance changes some ten times on its way up, and all may be on their way at once.
_SETTINGS: Final = ControllerSettings(storm=10 * MOST_REPLICAS)
_NEVER: Final = -1
# Nothing tells that who is at its gates has been there for too long to be waited for.
_CROWDED: Final = timedelta(seconds=10)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """The controller of a cell's deployments."""
    gate = NetworkGate(planes.cell) if settings.networking else None
    reconciler = Deployments(planes, settings, gate, factory)
    sources = [
        own(WorkloadDeployment, planes.cell),
        mapped(Instance, planes.cell, concerned),
        *(gate.sources() if gate else ()),
    ]
    return [factory.controller(NAME, reconciler, planes.cell, sources, _SETTINGS)]


@dataclass(frozen=True, slots=True)
class _Last:
    """What a deployment asked for when it was last looked at, and when there is room for more.

    That is once no more than so many are at their gates; never, where none waits for room.
    """

    generation: int
    deleting: bool
    room_at: int


class Deployments:
    """Brings the Instances of each deployment to where its template says, one step at a time.

    ``gate`` is None where nobody manages networks.
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
        self._reports = ReconcileThrottle()
        self._last: dict[Request, _Last] = {}

    async def reconcile(self, request: Request) -> Result:
        cluster = self._cell.get(request.cluster)
        cache = cluster.informers.of(WorkloadDeployment).cache
        deployment = cache.get(request.namespace, request.name)
        if deployment is None:
            self._forget(request)
            return DONE
        early = self._throttle.wait(request)
        if early is not None and not self._is_due(request, cluster, deployment):
            return Result(requeue_after=early)
        work, done = await self._look(request, cluster, deployment)
        crowded = bool(work.crowd) and done.refused is None
        room_at = sum(map(is_begun, done.instances)) // 2 if crowded else _NEVER
        self._last[request] = _Last(*_wish(deployment), room_at)
        to_count = work.settled or crowded
        self._throttle.reconciled(request, len(done.instances), to_count=to_count)
        later = work.patience or self._reports.wait(request)
        return Result(requeue_after=later or (_CROWDED if crowded else None))

    def _is_due(self, request: Request, cluster: Cluster, deployment: WorkloadDeployment) -> bool:
        """Whether there is more to do than to count: another wish, or half a wave is through."""
        last = self._last.get(request)
        if last is None or (last.generation, last.deleting) != _wish(deployment):
            return True
        return begun(cluster, deployment) <= last.room_at

    def _forget(self, request: Request) -> None:
        self._throttle.forget(request)
        self._reports.forget(request)
        self._last.pop(request, None)

    async def _look(
        self, request: Request, cluster: Cluster, deployment: WorkloadDeployment
    ) -> tuple[Agenda, Done]:
        """One pass: what was on its agenda, and what came of it."""
        if not deployment.deleting:
            deployment = await add_finalizer(cluster.client, deployment, finalizers.WORKLOAD)
        found = self._agenda(cluster, deployment)
        work = await self._current(cluster, found) if found.due else found
        if work is None:
            return found, Done([])  # what became of it asks for a look of its own
        done = await self._act(cluster, work)
        if await self._is_over(cluster, work, done):
            await remove_finalizer(cluster.client, work.deployment, finalizers.WORKLOAD)
        else:
            await self._report(request, cluster, work, done)
        if done.error is not None:
            raise done.error
        return work, done

    def _agenda(self, cluster: Cluster, deployment: WorkloadDeployment) -> Agenda:
        instances = members(cluster, deployment)
        network = self._gate.plan(cluster, deployment, instances) if self._gate else None
        return agenda(deployment, instances, network, self._environment.now())

    async def _current(self, cluster: Cluster, work: Agenda) -> Agenda | None:
        """The agenda for the deployment as it is now; None when it is there no more."""
        meta = work.deployment.metadata
        live = await cluster.client.find(WorkloadDeployment, meta.name, meta.namespace)
        if live is None or live.metadata.uid != meta.uid:
            return None
        unchanged = live.metadata.resource_version == meta.resource_version
        return work if unchanged else self._agenda(cluster, live)

    async def _act(self, cluster: Cluster, work: Agenda) -> Done:
        """Do what is on the agenda. Trouble with networks must not keep Instances from being made."""
        acting = Acting(cluster.client, work, self._settings, self._recorder)
        done = await acting.run(self._environment.now())
        if self._gate is None or work.network is None or not work.asks_for_networks:
            return done
        try:
            await self._gate.advance(cluster.client, work.network)
        except ApiError as error:
            return replace(done, error=done.error or error)
        return done

    async def _is_over(self, cluster: Cluster, work: Agenda, done: Done) -> bool:
        """Whether a deployment that is being deleted has no Instances left, read live."""
        if not work.deployment.deleting or done.instances:
            return False
        return not await are_left(cluster.client, work.deployment)

    async def _report(self, request: Request, cluster: Cluster, work: Agenda, done: Done) -> None:
        """Write the status if it says anything new. What has merely been counted waits its turn."""
        deployment, now = work.deployment, self._environment.now()
        status = deployment_status(deployment, done.instances, work.verdict, now, done.refused)
        if same(deployment.status, status):
            self._reports.forget(request)
        elif self._reports.wait(request) is None or tells_more(deployment.status, status):
            self._reports.reconciled(request, len(done.instances), to_count=True)
            wanted = msgspec.structs.replace(deployment, status=status)
            await cluster.client.patch_status(deployment, wanted)


def _wish(deployment: WorkloadDeployment) -> tuple[int, bool]:
    return deployment.metadata.generation, deployment.deleting
