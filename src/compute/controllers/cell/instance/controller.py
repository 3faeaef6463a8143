"""Instances of a cell: their quota, and whether they are Ready.

The gate opens before the grant is reported: the next controller continues at once, and one status
write reports the grant and what followed from it. While quota is pending, a reconcile pass does not
end in an error: retries with back-off would delay the grant.
"""

import dataclasses
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from compute.api import finalizers, gates, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.permissions import READ, WATCH, WRITE, allow, events
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason, Trait, has
from compute.controllers.cell import project_identities
from compute.controllers.cell.instance import binding_failures, claims
from compute.controllers.cell.instance.quota_gate import QuotaGate, ReleasedClaims, waits
from compute.controllers.cell.instance.quota_metrics import QuotaMetrics, quota_metrics
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import quota, readiness, settling
from compute.decide.conditions import is_true, put
from compute.decide.deployment.rollup import same
from compute.decide.quota import QuotaVerdict, RemoveFinalizer
from compute.decide.scheduling_gates import opened
from kubekit.api.errors import AlreadyExists, Conflict, NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, with_metadata, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import To, mapped, own

NAME: Final = "instance-controller"

_SOON: Final = timedelta(seconds=1)
# When to requeue in case a watch event was lost. It is not derived from the usual startup time: each
# such wait would lengthen that time.
_LOST_EVENT: Final = timedelta(seconds=10)
# No watch event reports that the cell accepts writes again.
_SETTINGS: Final = ControllerSettings(longest_backoff=30.0)

PERMISSIONS: Final = (
    *allow("cell", (*READ, "patch"), Instance),
    *allow("cell", ("patch",), Instance, subresource="status"),
    *allow("cell", ("get",), WorkloadDeployment),
    *allow("cell", WATCH, Namespace, NetworkBinding),
    *events("cell"),
    *allow("project", (*READ, *WRITE), ResourceClaim),
)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """The controllers of a cell's Instances and of their claims."""
    metrics = quota_metrics(factory.metrics.registry)
    metrics.enabled = metrics.enabled or settings.quota
    released: ReleasedClaims = {}
    gate = QuotaGate(planes, settings, factory.environment, released)
    reconciler = InstanceReconciler(planes, settings, factory, metrics, gate)
    sources = [
        own(Instance, planes.cell),
        mapped(Namespace, planes.cell, project_identities.instances_in(planes.cell)),
    ]
    if settings.quota:
        of_claim = _instance_of_claim(planes.cell, settings.name)
        # Not awaited: an unreachable project must not keep an Instance waiting.
        sources.append(mapped(ResourceClaim, planes.projects, of_claim, awaited=False))
    if settings.networking:
        of_binding = binding_failures.waiting_instances(planes.cell)
        sources.append(mapped(NetworkBinding, planes.cell, of_binding))
    controller = factory.controller(NAME, reconciler, planes.cell, sources, _SETTINGS)
    if not settings.quota:
        return [controller]
    return [controller, *claims.controllers(planes, settings, factory, released)]


class InstanceReconciler:
    """Opens the Quota gate of one Instance, reports whether it is Ready, and finishes its deletion."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        factory: ControllerFactory,
        metrics: QuotaMetrics,
        gate: QuotaGate,
    ) -> None:
        self._cell = planes.cell
        self._settings = settings
        self._environment: ExecutionEnvironment = factory.environment
        self._recorder: EventRecorder = factory.recorder(NAME)
        self._metrics = metrics
        self._gate = gate
        self._startup_time = settling.StartupTime()

    async def reconcile(self, request: Request) -> Result:
        """Evaluate the quota of an Instance and write its status, or finish its deletion."""
        cell = self._cell.get(request.cluster)
        instance = cell.informers.of(Instance).cache.get(request.namespace, request.name)
        if instance is None:
            return DONE
        try:
            if instance.deleting:
                return await self._finish_deletion(cell, instance)
            return await self._sync(cell, instance)
        except NotFound:  # of the Instance itself: others are handled where they arise
            return DONE
        except (AlreadyExists, Conflict):
            if not waits(instance):
                raise
            return Result(requeue_after=_SOON)

    async def _sync(self, cell: Cluster, instance: Instance) -> Result:
        if self._settings.quota:
            instance = await commit.add_finalizer(cell.client, instance, finalizers.CLAIM)
        now, settling_time = self._environment.now(), self._startup_time.settling_time
        verdict = await self._gate.evaluate(cell, instance)
        instance, verdict = await self._open_gate(cell, instance, verdict)
        conditions, wait = self._conditions(cell, instance, verdict), verdict.requeue_after
        if wait is not None:  # a watch event reports the grant: this is for when it is lost
            wait = max(wait, _LOST_EVENT)
        if delay := settling.report_delay(instance, conditions, now, settling_time):
            return Result(requeue_after=min(delay, wait or delay))
        if await self._write_status(cell, instance, conditions) and verdict.event:
            self._metrics.record_failure(verdict.event)
            self._warn(cell, instance, verdict.event, verdict.condition.message, "EvaluateQuota")
        return Result(requeue_after=wait)

    async def _open_gate(
        self, cell: Cluster, instance: Instance, verdict: QuotaVerdict
    ) -> tuple[Instance, QuotaVerdict]:
        """Open the Quota gate if the verdict grants quota. Return the new Instance and verdict."""
        judged = with_status(instance, conditions=(verdict.condition,))
        if not waits(instance) or not quota.gate_opens(judged):
            return instance, verdict
        patched = await cell.client.patch(instance, opened(instance, gates.QUOTA))
        condition = replace(verdict.condition, observed_generation=patched.metadata.generation)
        return patched, dataclasses.replace(verdict, condition=condition)

    async def _finish_deletion(self, cell: Cluster, instance: Instance) -> Result:
        """Release the claim, then remove the finalizers. Until then report whether it is Ready."""
        remaining = quota.released(instance)
        if remaining == instance.metadata.finalizers:
            await self._write_status(cell, instance, self._conditions(cell, instance))
            return DONE
        step = await self._gate.release(cell, instance)
        if isinstance(step, RemoveFinalizer):
            await cell.client.patch(instance, with_metadata(instance, finalizers=remaining))
            if step.event:
                self._report_orphaned_claim(cell, instance, step.event)
            return DONE
        await self._write_status(cell, instance, self._conditions(cell, instance))
        if remaining:  # a watch event reports when the provider removes its finalizer
            return DONE
        deleted, now = instance.metadata.deletion_timestamp, self._environment.now()
        return Result(requeue_after=quota.requeue_after(deleted, now))

    async def _write_status(
        self, cell: Cluster, instance: Instance, conditions: tuple[Condition, ...]
    ) -> bool:
        """Write the conditions; False if the status has them already."""
        desired = with_status(instance, conditions=conditions)
        if same(instance.status, desired.status):
            return False
        await cell.client.patch_status(instance, desired)
        self._record_startup(instance, conditions)
        self._report_trouble(cell, instance, conditions)
        return True

    def _conditions(
        self, cell: Cluster, instance: Instance, verdict: QuotaVerdict | None = None
    ) -> tuple[Condition, ...]:
        """All conditions of the Instance, given the verdict on its quota."""
        now = self._environment.now()
        new = (verdict.condition,) if verdict else ()
        judged = with_status(instance, conditions=put(instance.status.conditions, new, now))
        failure = binding_failures.failure(cell, instance) if self._settings.networking else None
        return readiness.conditions(judged, network_failure=failure, now=now)

    def _record_startup(self, instance: Instance, conditions: tuple[Condition, ...]) -> None:
        """Record how long an Instance took to become Ready for the first time."""
        created = instance.metadata.creation_timestamp
        was_ready = is_true(instance.status.conditions, ConditionType.READY)
        if created and is_true(conditions, ConditionType.READY) and not was_ready:
            self._startup_time.record(self._environment.now() - created)

    def _report_trouble(
        self, cell: Cluster, instance: Instance, conditions: tuple[Condition, ...]
    ) -> None:
        ready = live.changed(instance.status.conditions, conditions, ConditionType.READY)
        if ready and has(ready.reason, Trait.WARNS):
            self._warn(cell, instance, ready.reason, ready.message, "Reconcile")

    def _report_orphaned_claim(self, cell: Cluster, instance: Instance, reason: Reason) -> None:
        self._metrics.orphaned += 1
        claim = names.claim(instance.metadata.name)
        note = f"ResourceClaim {claim} could not be released yet and may still count"
        self._warn(cell, instance, reason, note, "ReleaseQuota")

    def _warn(self, cell: Cluster, instance: Instance, reason: str, note: str, action: str) -> None:
        self._recorder.event(cell.client, instance, "Warning", reason, note, action)


def _instance_of_claim(cell: Clusters, source: str) -> To[ResourceClaim]:
    """Each claim of this cell requeues the Instance it was created for."""

    def to(_: ClusterName, claim: ResourceClaim) -> Iterable[Request]:
        namespace = claim.metadata.labels.get(labels.INSTANCE_NAMESPACE)
        name = names.claim_instance(claim.metadata.name)
        if namespace and name and claim.metadata.labels.get(labels.SOURCE_CLUSTER) == source:
            for cluster in cell:
                yield Request(cluster.name, namespace, name)

    return to
