"""Instances of a cell: their quota, and whether they are Ready.

The gate opens before anything is said of the grant: what waits for it goes on at once, and one write
tells of the grant and of what came of it. While quota is pending nothing here ends in an error: an
error would be tried again later each time, and a grant would be missed by as much.
"""

import dataclasses
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from compute.api import finalizers, gates, labels, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason, Trait, has
from compute.controllers.cell import project_identities
from compute.controllers.cell.instance import binding_failures, claims, quota_metrics
from compute.controllers.cell.instance.quota_gate import GivenBack, QuotaGate, waits
from compute.controllers.cell.instance.quota_metrics import QuotaFigures
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import quota, readiness, settling
from compute.decide.conditions import find, is_true, put
from compute.decide.deployment.rollup import same
from compute.decide.quota import LetGo, QuotaVerdict
from compute.decide.scheduling_gates import opened
from kubekit.api.errors import AlreadyExists, Conflict, NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import To, mapped, own

NAME: Final = "instance-controller"

_SOON: Final = timedelta(seconds=1)
# For an answer that was not heard of. It must not go by how long Instances take: that would grow by it.
_UNHEARD: Final = timedelta(seconds=10)
# What the cell itself could not take is tried again soon after it can: no event tells of that.
_SETTINGS: Final = ControllerSettings(longest_backoff=30.0)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory
) -> list[Controller]:
    """What looks after the Instances of a cell, and after the claims made for them."""
    figures = quota_metrics.figures(factory.metrics.registry)
    figures.enabled = figures.enabled or settings.quota
    given_back: GivenBack = {}
    gate = QuotaGate(planes, settings, factory.environment, given_back)
    reconciler = InstanceReconciler(planes, settings, factory, figures, gate)
    sources = [
        own(Instance, planes.cell),
        mapped(Namespace, planes.cell, project_identities.residents(planes.cell)),
    ]
    if settings.quota:
        asked = _claimed(planes.cell, settings.name)
        # Not awaited: a watch of a project that stands still must not keep an Instance waiting.
        sources.append(mapped(ResourceClaim, planes.projects, asked, awaited=False))
    if settings.networking:
        sources.append(mapped(NetworkBinding, planes.cell, binding_failures.attached(planes.cell)))
    made = factory.controller(NAME, reconciler, planes.cell, sources, _SETTINGS)
    if not settings.quota:
        return [made]
    return [made, *claims.controllers(planes, settings, factory, given_back)]


class InstanceReconciler:
    """Brings one Instance through its quota gate, tells whether it is Ready, and lets it go."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        factory: ControllerFactory,
        figures: QuotaFigures,
        gate: QuotaGate,
    ) -> None:
        self._cell = planes.cell
        self._settings = settings
        self._environment: ExecutionEnvironment = factory.environment
        self._recorder: EventRecorder = factory.recorder(NAME)
        self._figures = figures
        self._gate = gate
        self._usual = settling.StartupTime()

    async def reconcile(self, request: Request) -> Result:
        """One step of an Instance's life."""
        cell = self._cell.get(request.cluster)
        instance = cell.informers.of(Instance).cache.get(request.namespace, request.name)
        if instance is None:
            return DONE
        try:
            if instance.deleting:
                return await self._ended(cell, instance)
            return await self._served(cell, instance)
        except NotFound:  # the Instance itself: that others lack something is never raised
            return DONE
        except (AlreadyExists, Conflict):
            if not waits(instance):
                raise
            return Result(requeue_after=_SOON)

    async def _served(self, cell: Cluster, instance: Instance) -> Result:
        if self._settings.quota:
            instance = await commit.add_finalizer(cell.client, instance, finalizers.CLAIM)
        now, moment = self._environment.now(), self._usual.moment
        verdict = await self._gate.evaluate(cell, instance)
        instance, verdict = await self._let_through(cell, instance, verdict)
        told, later = self._judged(cell, instance, verdict), verdict.requeue_after
        if later is not None:  # it is told of an answer: this is for when that is lost
            later = max(later, _UNHEARD)
        if unsaid := settling.may_go_unsaid(instance, told, now, moment):
            return Result(requeue_after=min(unsaid, later or unsaid))
        if await self._said(cell, instance, told) and verdict.event:
            self._figures.failed(verdict.event)
            self._warn(cell, instance, verdict.event, verdict.condition.message, "EvaluateQuota")
        return Result(requeue_after=later)

    async def _let_through(
        self, cell: Cluster, instance: Instance, verdict: QuotaVerdict
    ) -> tuple[Instance, QuotaVerdict]:
        """The Instance with its Quota gate open, if that is what the verdict comes to.

        The verdict is then on the Instance as it is after that.
        """
        heard = _with_conditions(instance, (verdict.condition,))
        if not waits(instance) or not quota.gate_opens(heard):
            return instance, verdict
        through = await cell.client.patch(instance, opened(instance, gates.QUOTA))
        said = replace(verdict.condition, observed_generation=through.metadata.generation)
        return through, dataclasses.replace(verdict, condition=said)

    async def _ended(self, cell: Cluster, instance: Instance) -> Result:
        """Let go of what is to be removed; until then it is Ready for as long as it serves."""
        left = quota.released(instance)
        if left == instance.metadata.finalizers:
            await self._said(cell, instance, self._judged(cell, instance))
            return DONE
        ending = await self._gate.give_back(cell, instance)
        if isinstance(ending, LetGo):
            await cell.client.patch(instance, _with_finalizers(instance, left))
            if ending.event:
                self._orphaned(cell, instance, ending.event)
            return DONE
        await self._said(cell, instance, self._judged(cell, instance))
        if left:  # by whoever stops the machine; he tells by letting go
            return DONE
        asked, now = instance.metadata.deletion_timestamp, self._environment.now()
        return Result(requeue_after=quota.requeue_after(asked, now))

    async def _said(self, cell: Cluster, instance: Instance, told: tuple[Condition, ...]) -> bool:
        """Have the status say what is so. Whether it did not yet."""
        desired = _with_conditions(instance, told)
        if same(instance.status, desired.status):
            return False
        await cell.client.patch_status(instance, desired)
        self._note_age(instance, told)
        self._tell_of_trouble(cell, instance, told)
        return True

    def _judged(
        self, cell: Cluster, instance: Instance, verdict: QuotaVerdict | None = None
    ) -> tuple[Condition, ...]:
        """What is so: all conditions of the Instance, given what its quota came to."""
        now = self._environment.now()
        news = (verdict.condition,) if verdict else ()
        heard = _with_conditions(instance, put(instance.status.conditions, news, now))
        failure = binding_failures.failure(cell, instance) if self._settings.networking else None
        return readiness.conditions(heard, network_failure=failure, now=now)

    def _note_age(self, instance: Instance, told: tuple[Condition, ...]) -> None:
        """Remember how long it took an Instance to become Ready for the first time."""
        born, was = instance.metadata.creation_timestamp, instance.status.conditions
        ready = find(was, ConditionType.READY)
        if born and is_true(told, ConditionType.READY) and (not ready or ready.status != "True"):
            self._usual.took(self._environment.now() - born)

    def _tell_of_trouble(
        self, cell: Cluster, instance: Instance, told: tuple[Condition, ...]
    ) -> None:
        before = find(instance.status.conditions, ConditionType.READY)
        ready = find(told, ConditionType.READY)
        if (
            ready
            and has(ready.reason, Trait.WARNS)
            and (not before or before.reason != ready.reason)
        ):
            self._warn(cell, instance, ready.reason, ready.message, "Reconcile")

    def _orphaned(self, cell: Cluster, instance: Instance, reason: Reason) -> None:
        self._figures.orphaned += 1
        claim = names.claim(instance.metadata.name)
        note = f"ResourceClaim {claim} could not be given back yet and may still count"
        self._warn(cell, instance, reason, note, "ReleaseQuota")

    def _warn(self, cell: Cluster, instance: Instance, reason: str, note: str, action: str) -> None:
        self._recorder.event(cell.client, instance, "Warning", reason, note, action)


def _claimed(cell: Clusters, source: str) -> To[ResourceClaim]:
    """Each claim that this cell made asks for the Instance it was made for."""

    def to(_: ClusterName, claim: ResourceClaim) -> Iterable[Request]:
        namespace = claim.metadata.labels.get(labels.INSTANCE_NAMESPACE)
        name = names.claim_instance(claim.metadata.name)
        if namespace and name and claim.metadata.labels.get(labels.SOURCE_CLUSTER) == source:
            for cluster in cell:
                yield Request(cluster.name, namespace, name)

    return to


def _with_conditions(instance: Instance, told: tuple[Condition, ...]) -> Instance:
    return replace(instance, status=replace(instance.status, conditions=told))


def _with_finalizers(instance: Instance, left: tuple[str, ...]) -> Instance:
    return replace(instance, metadata=replace(instance.metadata, finalizers=left))
