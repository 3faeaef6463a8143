"""The reconciler of one Instance: its Pod is created, observed, replaced and deleted.

A Service for the ports and a NetworkPolicy for the rules of the interface come and go with the Pod.

It follows the contract of providers, of which `decide/provider_reports.py` has the decisions. The
finalizer is written before anything is created, and removed once everything is gone: until then the
machine may run, and its quota is not free. A Pod is never deleted by force, so that two machines of one
slot never run at once; `decide/pods/pod_state.py` says what that means for a lost node.

It reads neither ConfigMaps nor Secrets: the kubelets do that, and report what is missing.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from compute.api import finalizers, labels
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.permissions import READ, WATCH, allow, events
from compute.api.reasons import Reason
from compute.decide.conditions import status_of
from compute.decide.pods import (
    mount_failures,
    node_state,
    pod_obstacles,
    pod_plan,
    pod_replacement,
    pod_state,
)
from compute.decide.pods.pod_ownership import Holder, PodObject, holder
from compute.decide.pods.pod_refusals import PodRefusal
from compute.decide.pods.pod_settings import PodSettings
from compute.decide.pods.pod_state import PodState
from compute.decide.provider_reports import ConditionValue, ProviderReport, may_run, reported
from compute.providers.pods import pod_objects
from compute.providers.pods.pod_objects import PodObjects
from kubekit.api.errors import Forbidden, Invalid
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.nodes import ClusterNode
from kubekit.api.kinds.pods import Pod, Service
from kubekit.client.options import ListOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own, owned
from kubekit.runtime.watching.informers import KindSelectors
from kubekit.runtime.watching.watched_part import labelled

NAME: Final = "pod-provider"

# A cluster runs other Pods too, which do not concern the provider.
CELL_SELECTORS: Final[KindSelectors] = {
    kind: labelled(labels.INSTANCE_UID) for kind in (Pod, Service, NetworkPolicy)
}

PERMISSIONS: Final = (
    *allow("cell", (*READ, "patch"), Instance),
    *allow("cell", ("patch",), Instance, subresource="status"),
    *allow("cell", (*READ, "create", "delete"), Pod, Service, NetworkPolicy),
    *allow("cell", WATCH, ClusterNode),
    *allow("cell", ("list",), CoreEvent),
    *events("cell"),
)

_WORKERS: Final = ControllerSettings(workers=8)
_BY_NODE: Final = "pods: node"
_SETTLING: Final = timedelta(seconds=2)
_LOST_EVENT: Final = timedelta(
    seconds=30
)  # when to requeue a deletion, should a watch event be lost
_RESTRICTED: Final = PodSettings()


def controllers(
    cell: Clusters, factory: ControllerFactory, settings: PodSettings = _RESTRICTED
) -> list[Controller]:
    """The controller of the provider."""
    provider = PodProvider(cell, factory.environment, settings, factory.recorder(NAME))
    return [factory.controller(NAME, provider, cell, provider.sources(), _WORKERS)]


class PodProvider:
    """Runs the Instances of a cell as Pods."""

    def __init__(
        self,
        cells: Clusters,
        environment: ExecutionEnvironment,
        settings: PodSettings,
        recorder: EventRecorder,
    ) -> None:
        self._cells = cells
        self._environment = environment
        self._settings = settings
        self._recorder = recorder

    def sources(self) -> list[Source[Any]]:
        return [
            own(Instance, self._cells),
            mapped(Pod, self._cells, _instance_of),
            owned(Service, self._cells, Instance),
            owned(NetworkPolicy, self._cells, Instance),
            mapped(ClusterNode, self._cells, self._on_node),
        ]

    async def reconcile(self, request: Request) -> Result:
        """Bring the Pod of an Instance, and what is beside it, to its desired state, and report it."""
        cell = self._cells.get(request.cluster)
        instance = cell.informers.of(Instance).cache.get(request.namespace, request.name)
        if instance is None:
            return DONE
        if instance.deleting:
            return await self._stop(cell, instance)
        if not may_run(instance):
            return DONE
        return await self._run(cell, instance)

    async def _run(self, cell: Cluster, instance: Instance) -> Result:
        """Create what is missing, and report the state of what is there."""
        objects = pod_objects.cached(cell, instance)
        plan = pod_plan.plan(instance, self._settings)
        if isinstance(plan, PodRefusal):
            if objects.pod is None:
                return await self._report(cell, instance, pod_obstacles.refused(plan), None)
            # It runs by an earlier release, or the Instance was edited: what runs is what counts.
            return await self._observe(cell, instance, PodObjects(objects.pod, None, None))
        objects = objects.wanted(plan)
        if objects.lacks(plan):
            current = await _claimed(cell, instance)
            if current is None:
                return DONE
            instance = current
            try:
                objects = await pod_objects.created(cell, instance, objects, plan)
            except (Forbidden, Invalid) as error:
                rejected = pod_obstacles.rejected(error)
                return await self._report(cell, instance, rejected, objects.pod)
        return await self._observe(cell, instance, objects)

    async def _observe(self, cell: Cluster, instance: Instance, objects: PodObjects) -> Result:
        """Report the state of the objects, and delete those that are in the way."""
        obstacles = [await self._obstacle(cell, instance, obj) for obj in objects]
        blocked = next((state for state in obstacles if state is not None), None)
        pod, now = objects.pod, self._environment.now()
        if pod is None or holder(pod, instance) is not Holder.INSTANCE:
            if blocked is None:  # something was deleted a moment ago
                return Result(_SETTLING)
            return await self._report(cell, instance, blocked, None)
        state = pod_state.state_of(pod, _node_of(cell, pod), now)
        state = pod_state.with_known_cause(state, instance)
        if state.stalled:
            state = await _with_mount_failure(cell, pod, state, now)
        if blocked is not None:
            state = replace(state, programmed=blocked.programmed, recheck=blocked.recheck)
        if state.settling and not _is_reported(instance):
            return Result(state.recheck or _SETTLING)
        result = await self._report(cell, instance, state, pod)
        return await self._replace(cell, instance, pod, state) if state.ended else result

    async def _obstacle(self, cell: Cluster, instance: Instance, obj: PodObject) -> PodState | None:
        """The state of an Instance whose name another object has; None if the object is its own."""
        match holder(obj, instance):
            case Holder.INSTANCE:
                return None
            case Holder.OTHER:
                return pod_obstacles.name_taken(obj)
            case Holder.EARLIER_INSTANCE:
                # By a stale cache the object could be of a later Instance.
                if not obj.deleting and await live.current(cell.client, instance) is not None:
                    await live.delete(cell.client, obj)
                return pod_obstacles.held_up(obj)

    async def _replace(
        self, cell: Cluster, instance: Instance, pod: Pod, state: PodState
    ) -> Result:
        """Delete a Pod that never runs again, unless one was replaced in vain a moment ago."""
        left = pod_replacement.due_in(instance, pod, self._environment.now())
        if left > timedelta():
            return Result(left)
        if await live.delete(cell.client, pod):
            note = state.available.message
            self._recorder.event(
                cell.client, instance, "Warning", Reason.FAILED, note, "ReplacePod"
            )
        return DONE

    async def _stop(self, cell: Cluster, instance: Instance) -> Result:
        """Delete the Pod and what is beside it, and remove the finalizer once all is gone."""
        if finalizers.PODS not in instance.metadata.finalizers:
            return DONE
        remaining = await pod_objects.remaining(cell, instance)
        if not remaining:
            await commit.remove_finalizer(cell.client, instance, finalizers.PODS)
            return DONE
        pod = next((obj for obj in remaining if isinstance(obj, Pod)), None)
        for obj in remaining:
            is_needed = pod is not None and isinstance(obj, NetworkPolicy)  # until it has stopped
            if not obj.deleting and not is_needed:
                await live.delete(cell.client, obj)
        lost = node_state.fault(_node_of(cell, pod)) if pod else None
        message = f"The Pod is being stopped; {lost}" if lost else "The Pod is being stopped"
        stopping = ConditionValue("False", Reason.STOPPING, message)
        await self._write(cell, instance, ProviderReport(available=stopping))
        return Result(_LOST_EVENT)

    async def _report(
        self, cell: Cluster, instance: Instance, state: PodState, pod: Pod | None
    ) -> Result:
        """Report the state of an Instance; without a Pod it has no address."""
        report = ProviderReport(
            state.programmed,
            state.available,
            state.template_hash,
            pod_state.interfaces(instance, pod),
        )
        await self._write(cell, instance, report)
        return Result(state.recheck)

    async def _write(self, cell: Cluster, instance: Instance, report: ProviderReport) -> None:
        status = reported(instance, report, self._environment.now())
        await cell.client.patch_status(instance, msgspec.structs.replace(instance, status=status))

    def _on_node(self, cluster: ClusterName, node: ClusterNode) -> Iterable[Request]:
        """The Instances whose Pods a node has."""
        cache = self._cells.get(cluster).informers.of(Pod).cache
        cache.add_index(_BY_NODE, _node_names)
        return [Request(cluster, *key) for key in cache.keys_by(_BY_NODE, node.metadata.name)]


async def _claimed(cell: Cluster, instance: Instance) -> Instance | None:
    """The Instance with our finalizer, as it is now; None if it is not to run any more.

    A write of the finalizer fails if the Instance has changed. Where it is there already, the cache may
    be behind: the Instance may be deleted, and what runs for it gone.
    """
    if finalizers.PODS not in instance.metadata.finalizers:
        return await commit.add_finalizer(cell.client, instance, finalizers.PODS)
    return await live.current(cell.client, instance)


async def _with_mount_failure(cell: Cluster, pod: Pod, state: PodState, now: datetime) -> PodState:
    """The state with the reason for which files cannot be mounted, which only events have."""
    if not mount_failures.has_files(pod):
        return state
    wait = mount_failures.check_in(pod, now)
    if wait > timedelta():
        return replace(state, recheck=wait)
    options = ListOptions(field_selector=f"involvedObject.uid={pod.metadata.uid}")
    listed = await cell.client.list(CoreEvent, pod.metadata.namespace, options)
    found = mount_failures.failure(pod, listed.items, now)
    recheck = mount_failures.next_check(pod, now)
    return replace(state, available=found or state.available, recheck=recheck)


def _node_of(cell: Cluster, pod: Pod) -> ClusterNode | None:
    return cell.informers.of(ClusterNode).cache.get("", pod.spec.node_name)


def _is_reported(instance: Instance) -> bool:
    return status_of(instance.status.conditions, ConditionType.AVAILABLE) != "Unknown"


def _instance_of(cluster: ClusterName, pod: Pod) -> Iterable[Request]:
    yield Request(cluster, pod.metadata.namespace, pod.metadata.name)


def _node_names(pod: Pod) -> Iterable[str]:
    if pod.spec.node_name:
        yield pod.spec.node_name
