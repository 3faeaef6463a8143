"""Workloads: one deployment for each placement and city, and their health summed up.

    Workload + offered cities --> split --> WorkloadDeployments made, changed, removed
    WorkloadDeployments' statuses --> the Workload's status

Whatever is made, changed or removed follows from a Workload and from cities that were read live a
moment before: the caches only say that there is something to do.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec

from compute.api import finalizers
from compute.api.compute import Workload, WorkloadDeployment
from compute.controllers.management import offers
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.fleet_metrics import fleet_metrics
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.workload import networks, reads, watches
from compute.controllers.management.workload.histories import Histories
from compute.controllers.management.workload.refusals import Refusals
from compute.decide.deployment import drains, rollup
from compute.decide.deployment.drains import DrainEvent, Grace
from compute.decide.networking.network_use import Lack
from compute.decide.workload import placement, serving, story
from compute.decide.workload.placement import Split
from compute.decide.workload.workload_status import workload_status
from compute.decide.writes import Delete
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.queueing.reconcile_throttle import ReconcileThrottle
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, Request, Result

NAME: Final = "workload"
# Each city tells how far it is many times on its way up, and all may be on their way at once.
_SETTINGS: Final = ControllerSettings(storm=5000)
_SOON: Final = Result(requeue_after=timedelta(seconds=5))  # for what no change may tell of


def controllers(
    planes: ManagementPlanes,
    factory: ControllerFactory,
    *,
    networking: bool = True,
    grace: Grace = drains.PLAIN,
) -> list[Controller]:
    """The controller of Workloads, over all projects.

    Without ``networking`` networks are neither watched nor asked for: their kinds may not exist.
    """
    metrics = fleet_metrics(factory.metrics.registry)
    metrics.watch(planes, factory.environment)
    histories = Histories(factory.environment, factory.recorder(NAME), metrics)
    reconciler = WorkloadReconciler(planes, factory, histories, grace, networking=networking)
    sources = watches.sources(planes.projects, histories, networking=networking)
    return [factory.controller(NAME, reconciler, planes.projects, sources, _SETTINGS)]


@dataclass(frozen=True, slots=True)
class _Sight:
    """A Workload, all deployments it has, and what follows from both."""

    workload: Workload
    deployments: tuple[WorkloadDeployment, ...]
    lack: Lack
    split: Split

    @property
    def due(self) -> bool:
        return bool(self.split.create or self.split.update or self.split.delete)

    @property
    def placed(self) -> bool:
        """Whether there is a deployment wherever there can be one."""
        return not (self.due or self.split.taken or self.split.withheld or self.lack.missing)


class WorkloadReconciler:
    """Looks after one Workload at a time."""

    def __init__(
        self,
        planes: ManagementPlanes,
        factory: ControllerFactory,
        histories: Histories,
        grace: Grace,
        *,
        networking: bool,
    ) -> None:
        self._projects = planes.projects
        self._environment = factory.environment
        self._recorder = factory.recorder(NAME)
        self._histories = histories
        self._grace = grace
        self._networking = networking
        self._throttle = ReconcileThrottle()

    async def reconcile(self, request: Request) -> Result:
        project = self._projects.get(request.cluster)
        workloads = project.informers.of(Workload).cache
        workload = workloads.get(request.namespace, request.name)
        if workload is None:
            self._histories.forget(project, (request.namespace, request.name))
            self._throttle.forget(request)
            return DONE
        if workload.deleting:
            return await self._remove(project, workload)
        if early := self._throttle.wait(request):
            return Result(requeue_after=early)
        workload = await commit.add_finalizer(project.client, workload, finalizers.WORKLOAD)
        refusals = Refusals()
        with refusals.noted():
            await self._histories.keep(project, workload)
        result = await self._look_after(project, workload, refusals)
        refusals.tell()
        return result

    async def _look_after(self, project: Cluster, workload: Workload, refusals: Refusals) -> Result:
        sight = await self._sight(project, workload, offers.seen(project))
        if sight.due:
            live = await reads.live(project, workload)
            if live is None or live.deleting:
                return DONE  # that change is on its way to the cache
            used = [deployment.spec.city_code for deployment in sight.deployments]
            sight = await self._sight(project, live, await offers.asked(project.client, used))
            if await self._carry_out(project.client, sight, refusals) and not refusals:
                return DONE  # what was written asks for the next look, which tells of it
        await self._report(project, sight)
        if not refusals:  # what failed is tried again later and later, and not held back besides
            meta = workload.metadata
            request = Request(project.name, meta.namespace, meta.name)
            self._throttle.reconciled(request, len(sight.deployments), to_count=sight.placed)
        return _sooner(await self._prove(project, sight), self._until_drained(sight))

    def _until_drained(self, sight: _Sight) -> timedelta | None:
        """How long until the first of the deployments is to be drained, if any is."""
        due = drains.next_due(sight.deployments)
        return None if due is None else max(due - self._environment.now(), timedelta())

    async def _sight(self, project: Cluster, workload: Workload, offered: frozenset[str]) -> _Sight:
        lack = await networks.lacking(project, workload) if self._networking else Lack()
        mine = reads.deployments(project, workload)
        known = (*mine, *reads.in_the_way(project, workload))
        now = self._environment.now()
        split = placement.split(workload, known, offered, now, self._grace)
        return _Sight(workload, mine, lack, placement.withheld(split, lack) if lack else split)

    async def _report(self, project: Cluster, sight: _Sight) -> None:
        """Sum up how the deployments are doing."""
        workload = sight.workload
        status = workload_status(
            workload,
            sight.deployments,
            lack=sight.lack,
            split=sight.split,
            now=self._environment.now(),
        )
        if not rollup.same(workload.status, status):
            told = msgspec.structs.replace(workload, status=status)
            await project.client.patch_status(workload, told)

    async def _prove(self, project: Cluster, sight: _Sight) -> Result:
        """Have the history say of a spec that is served everywhere that it is."""
        workload = sight.workload
        kept = self._histories.unproven(project, workload)
        if kept is None:
            return DONE
        kept.waiting = sight.placed and serving.reported(workload, sight.deployments)
        if not (kept.waiting and reads.proven(project, sight.deployments)):
            return DONE
        return DONE if await self._histories.mark_healthy(project, workload, kept) else _SOON

    async def _remove(self, project: Cluster, workload: Workload) -> Result:
        """Take the deployments away, and let the Workload go after the last of them."""
        live = await reads.live(project, workload)
        if live is None or not live.deleting:
            return DONE
        left = reads.deployments(project, live)
        unseen = () if left else await reads.listed(project.client, live)
        if not (left or unseen):
            await commit.remove_finalizer(project.client, live, finalizers.WORKLOAD)
            return DONE
        refusals = Refusals()
        split = placement.split(live, left or unseen, frozenset(), self._environment.now())
        sight = _Sight(live, left or unseen, Lack(), split)
        await self._carry_out(project.client, sight, refusals)
        await self._report(project, sight)
        refusals.tell()
        return _SOON if unseen else DONE  # as each of them goes, this is asked for again

    async def _carry_out(self, client: Client, sight: _Sight, refusals: Refusals) -> bool:
        """Whether anything was to be done. One deployment that is refused holds up no other."""
        workload, split, now = sight.workload, sight.split, self._environment.now()
        made: list[WorkloadDeployment] = []
        removed: list[WorkloadDeployment] = []
        for unwanted in split.delete:
            with refusals.noted():
                await remove(client, Delete(unwanted))
                removed.append(unwanted)
                self._tell(client, workload, unwanted, drains.news_of_end(unwanted, now))
        for update in split.update:
            with refusals.noted():
                written = await client.patch(update.existing, update.desired)
                news = drains.news_of_change(update.existing, update.desired)
                self._tell(client, workload, written, news)
        for wanted in split.create:
            with refusals.noted():
                made.append(await client.create(wanted))
        self._narrate(client, workload, story.split(made), story.withdrawn(removed))
        return bool(split.delete or split.update or split.create)

    def _narrate(self, client: Client, workload: Workload, *news: DrainEvent | None) -> None:
        """Write events on the Workload."""
        for each in filter(None, news):
            self._recorder.event(client, workload, each.type, each.reason, each.note, "Split")

    def _tell(
        self, client: Client, workload: Workload, about: WorkloadDeployment, news: DrainEvent | None
    ) -> None:
        """Write the event on the deployment, and on its Workload."""
        if news is None:
            return
        for regarding in (workload, about):
            self._recorder.event(client, regarding, news.type, news.reason, news.note, "Drain")


def _sooner(result: Result, wait: timedelta | None) -> Result:
    """The result, with the next look after so long at the latest."""
    waits = [each for each in (result.requeue_after, wait) if each is not None]
    return Result(requeue_after=min(waits, default=None))
