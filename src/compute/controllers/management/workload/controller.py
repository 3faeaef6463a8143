"""Workloads: one deployment per placement and city, and their summarized health.

    Workload + offered cities --> split --> WorkloadDeployments created, updated, deleted
    WorkloadDeployments' statuses --> the Workload's status

Every create, update and delete follows from a Workload and from cities that were just read live:
the caches only show that a write is due.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgspec import structs

from compute.api import finalizers
from compute.api.compute import (
    Instance,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentStatus,
)
from compute.api.networking import LocationBinding, Network
from compute.api.permissions import READ, WATCH, WRITE, allow, events, owners
from compute.controllers.management import offered_cities
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.fleet_metrics import fleet_metrics
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.workload import networks, reads, watches
from compute.controllers.management.workload.histories import Histories
from compute.decide.deployment import drains, rollup
from compute.decide.deployment.drains import Grace, PlannedEvent
from compute.decide.networking.network_use import Lack
from compute.decide.workload import placement, serving, workload_events
from compute.decide.workload.placement import Split
from compute.decide.workload.workload_status import workload_status
from compute.decide.writes import Delete
from kubekit.api.errors import ApiError, Forbidden, Invalid, TooLarge
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.client import Client
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.queueing.reconcile_throttle import ReconcileThrottle
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, Request, Result

NAME: Final = "workload"
# Each city reports its progress many times during startup, and all may start at once.
_SETTINGS: Final = ControllerSettings(storm=5000)
_SOON: Final = Result(requeue_after=timedelta(seconds=5))  # there may be no watch event
_FIRST_REPORT: Final = timedelta(seconds=2)
_NO_REPORT: Final = WorkloadDeploymentStatus()

PERMISSIONS: Final = (
    *allow("project", (*READ, "patch"), Workload),
    *allow("project", ("patch",), Workload, subresource="status"),
    *allow("project", (*READ, *WRITE), WorkloadDeployment),
    *allow("project", ("get", *WRITE), ConfigMap),  # histories
    *allow("project", READ, Network),
    *allow("project", WATCH, LocationBinding, Instance),
    *owners("project", Workload),
    *events("project"),
)


def controllers(
    planes: ManagementPlanes,
    factory: ControllerFactory,
    *,
    networking: bool = True,
    grace: Grace = drains.DEFAULT_GRACE,
) -> list[Controller]:
    """The controller of Workloads, over all projects.

    Without ``networking`` networks are neither watched nor read: their kinds may not exist.
    """
    metrics = fleet_metrics(factory.metrics.registry)
    metrics.watch(planes, factory.environment)
    histories = Histories(factory.environment, factory.recorder(NAME), metrics)
    reconciler = WorkloadReconciler(planes, factory, histories, grace, networking=networking)
    sources = watches.sources(planes.projects, histories, networking=networking)
    return [factory.controller(NAME, reconciler, planes.projects, sources, _SETTINGS)]


@dataclass(frozen=True, slots=True)
class _State:
    """A Workload, all its deployments, and what follows from both."""

    workload: Workload
    deployments: tuple[WorkloadDeployment, ...]
    lack: Lack
    split: Split

    @property
    def due(self) -> bool:
        return bool(self.split.create or self.split.update or self.split.delete)

    @property
    def placed(self) -> bool:
        """Whether every placement and city that can have a deployment has one."""
        return not (self.due or self.split.taken or self.split.withheld or self.lack.missing)


class Refusals:
    """Refusals of single objects in a reconcile pass. A retry helps only after a change."""

    def __init__(self) -> None:
        self._errors: list[ApiError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Continue after a refusal; any other error ends the reconcile pass."""
        try:
            yield
        except (Forbidden, Invalid, TooLarge) as refusal:
            self._errors.append(refusal)

    def raise_first(self) -> None:
        """Raise the first refusal, if any: the request is then retried with back-off."""
        if self._errors:
            raise self._errors[0]


class WorkloadReconciler:
    """Brings the deployments, the status and the history of a Workload up to date."""

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
        if wait := self._throttle.wait(request):
            return Result(requeue_after=wait)
        held = await commit.add_finalizer(project.client, workload, finalizers.WORKLOAD)
        # What a write has returned is as good as a live read.
        written = held if held is not workload else None
        refusals = Refusals()
        with refusals.collected():
            await self._histories.keep(project, held, written)
        result = await self._sync(project, held, written, refusals)
        refusals.raise_first()
        return result

    async def _sync(
        self, project: Cluster, workload: Workload, written: Workload | None, refusals: Refusals
    ) -> Result:
        state = await self._state(project, workload, offered_cities.cached_cities(project))
        if state.due:
            current = written or await live.current(project.client, workload)
            if current is None:
                return DONE  # a watch event will requeue it
            used = [deployment.spec.city_code for deployment in state.deployments]
            cities = await offered_cities.live_cities(project.client, used)
            state = await self._state(project, current, cities)
            if await self._apply(project.client, state, refusals) and not refusals:
                return DONE  # the writes requeue it, and the next reconcile pass reports the status
        if left := self._until_first_report(state):
            return Result(requeue_after=left)
        await self._report(project, state)
        if not refusals:  # a refusal is retried with back-off, and not throttled as well
            meta = workload.metadata
            request = Request(project.name, meta.namespace, meta.name)
            self._throttle.reconciled(request, len(state.deployments), to_count=state.placed)
        return _within(await self._mark_served(project, state), self._until_drained(state))

    def _until_drained(self, state: _State) -> timedelta | None:
        """How long until the next deployment is due to be drained, if any is."""
        due = drains.next_due(state.deployments)
        return None if due is None else max(due - self._environment.now(), timedelta())

    def _until_first_report(self, state: _State) -> timedelta | None:
        """How much longer a new Workload waits for the first report of a cell; None if it does not.

        Usually it follows within a moment, and that no cell has reported yet need not be written.
        """
        workload, deployments = state.workload, state.deployments
        created = workload.metadata.creation_timestamp
        awaited = deployments and all(d.status == _NO_REPORT for d in deployments)
        if not (awaited and state.placed and created) or workload.status.observed_generation:
            return None
        left = created + _FIRST_REPORT - self._environment.now()
        return left if timedelta() < left <= _FIRST_REPORT else None

    async def _state(self, project: Cluster, workload: Workload, offered: frozenset[str]) -> _State:
        lack = await networks.lacking(project, workload) if self._networking else Lack()
        own = reads.deployments(project, workload)
        existing = (*own, *reads.name_conflicts(project, workload))
        now = self._environment.now()
        split = placement.split(workload, existing, offered, now, self._grace)
        return _State(workload, own, lack, placement.withheld(split, lack) if lack else split)

    async def _report(self, project: Cluster, state: _State) -> None:
        """Write the status: a summary of the deployments."""
        workload = state.workload
        status = workload_status(
            workload,
            state.deployments,
            lack=state.lack,
            split=state.split,
            now=self._environment.now(),
        )
        if not rollup.same(workload.status, status):
            await project.client.patch_status(workload, structs.replace(workload, status=status))
            pause = workload_events.pause(workload.status.conditions, status.conditions)
            self._report_on_workload(project.client, workload, pause, action="Pause")

    async def _mark_served(self, project: Cluster, state: _State) -> Result:
        """Mark the spec in the history as served, once it is served in every city."""
        workload = state.workload
        revision = self._histories.unserved(project, workload)
        if revision is None:
            return DONE
        revision.waiting = state.placed and serving.reported(workload, state.deployments)
        if not (revision.waiting and reads.is_served(project, state.deployments)):
            return DONE
        return DONE if await self._histories.mark_healthy(project, workload, revision) else _SOON

    async def _remove(self, project: Cluster, deleted: Workload) -> Result:
        """Delete the deployments, and remove the finalizer after the last of them is gone.
        The Workload is read live before a deployment is deleted; a restored plane may have taken the
        deletion back. The finalizer is only removed from the version of the cache.
        """
        left = reads.deployments(project, deleted)
        uncached = () if left else await reads.live_deployments(project.client, deleted)
        if not (left or uncached):
            await commit.remove_finalizer(project.client, deleted, finalizers.WORKLOAD)
            return DONE
        refusals = Refusals()
        split = placement.split(deleted, left or uncached, frozenset(), self._environment.now())
        if split.delete:
            current = await live.same(project.client, deleted)
            if current is None or not current.deleting:
                return DONE
        state = _State(deleted, left or uncached, Lack(), split)
        if not await self._apply(project.client, state, refusals):
            await self._report(project, state)  # after a write the next reconcile pass does
        refusals.raise_first()
        return _SOON if uncached else DONE  # each deleted deployment requeues this

    async def _apply(self, client: Client, state: _State, refusals: Refusals) -> bool:
        """Apply the split. Return whether it had any write. A refusal does not block other writes."""
        workload, split, now = state.workload, state.split, self._environment.now()
        created: list[WorkloadDeployment] = []
        removed: list[WorkloadDeployment] = []
        for unwanted in split.delete:
            with refusals.collected():
                await remove(client, Delete(unwanted))
                removed.append(unwanted)
                self._report_on_both(
                    client, workload, unwanted, drains.deletion_event(unwanted, now)
                )
        for update in split.update:
            with refusals.collected():
                written = await client.patch(update.existing, update.desired)
                event = drains.change_event(update.existing, update.desired)
                self._report_on_both(client, workload, written, event)
        for wanted in split.create:
            with refusals.collected():
                created.append(await client.create(wanted))
        self._report_on_workload(
            client, workload, workload_events.split(created), workload_events.withdrawn(removed)
        )
        return bool(split.delete or split.update or split.create)

    def _report_on_workload(
        self,
        client: Client,
        workload: Workload,
        *events: PlannedEvent | None,
        action: str = "Split",
    ) -> None:
        """Write events on the Workload."""
        for each in filter(None, events):
            self._recorder.event(client, workload, each.type, each.reason, each.note, action)

    def _report_on_both(
        self,
        client: Client,
        workload: Workload,
        about: WorkloadDeployment,
        event: PlannedEvent | None,
    ) -> None:
        """Write the event on the deployment and on its Workload."""
        if event is None:
            return
        for regarding in (workload, about):
            self._recorder.event(client, regarding, event.type, event.reason, event.note, "Drain")


def _within(result: Result, wait: timedelta | None) -> Result:
    """The result, requeued after ``wait`` at the latest."""
    waits = [each for each in (result.requeue_after, wait) if each is not None]
    return Result(requeue_after=min(waits, default=None))
