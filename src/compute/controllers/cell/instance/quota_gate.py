"""Claim the quota of an Instance in its project, and release it again.

The project is on another plane and may be unreachable. So it is called only where that matters: an
Instance that was let through relies on the claim in the cache, as long as that claim is unchanged. A
gate opens after a live read of the claim. There is one exception: while the project is unreachable,
an Instance may use the grant of its slot as it was last seen, since a cell that is cut off must be
able to replace its Instances.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from compute.api import gates
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import NeighbourCondition
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.controllers.cell import project_identities
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import joins, quota
from compute.decide.conditions import is_true
from compute.decide.quota import (
    ClaimAbsent,
    ClaimConflict,
    ClaimFound,
    ClaimLookup,
    ClaimLookupFailed,
    CreateClaim,
    DeleteClaim,
    QuotaDisabled,
    QuotaVerdict,
    ReleaseClaim,
    ReleaseStep,
)
from compute.decide.scheduling_gates import closed
from kubekit.api.errors import ApiError
from kubekit.api.meta import with_metadata
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reconciling.commit import merge_maps

T = TypeVar("T")
# By project, namespace and name: the uid of the claim that was deleted there last. A cache may still
# show it, but it grants nothing any more.
ReleasedClaims = dict[tuple[str, str, str], str]

_CALL_TIMEOUT: Final = 5.0  # seconds
# No watch event reports that a project is reachable again, so an Instance that waits is requeued.
_RETRY_UNREACHABLE: Final = timedelta(seconds=30)
# How long a project that timed out is not called: each such call occupies one of a few workers.
_SKIP_UNREACHABLE: Final = timedelta(seconds=10)
_UNREACHABLE: Final = ClaimLookupFailed(
    Reason.QUOTA_BACKEND_UNAVAILABLE, "The quota service does not answer; the request is retried"
)


@dataclass(frozen=True, slots=True)
class _ClaimTarget:
    """The project in which an Instance claims quota, and the claim it would create now."""

    project: Cluster
    wanted: ResourceClaim

    @property
    def key(self) -> tuple[str, str, str]:
        meta = self.wanted.metadata
        return self.project.name, meta.namespace, meta.name

    @property
    def cached(self) -> ResourceClaim | None:
        meta = self.wanted.metadata
        return self.project.informers.of(ResourceClaim).cache.get(meta.namespace, meta.name)

    def found(self, claim: ResourceClaim) -> ClaimFound:
        return ClaimFound(claim, self.wanted)


class QuotaGate:
    """Claims and releases the quota of a cell's Instances."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        environment: ExecutionEnvironment,
        released: ReleasedClaims,
    ) -> None:
        self._planes = planes
        self._settings = settings
        self._environment = environment
        self._skip_until: dict[str, datetime] = {}  # by project
        self._unanswered: dict[str, datetime] = {}  # since when, by the uid of the Instance
        self._released = released

    async def evaluate(self, cell: Cluster, instance: Instance) -> QuotaVerdict:
        """The verdict on the Instance's quota, after creating or deleting its claim if due."""
        now = self._environment.now()
        target = await self._target(cell, instance)
        if not isinstance(target, _ClaimTarget):
            return self._judge(instance, target, now)
        outcome = self._cached_grant(target, instance, now) or await self._find(target)
        if isinstance(outcome, ClaimFound) and _is_leftover(outcome):
            await live.confirm(cell.client, instance)
            outcome = await self._adopt(target, outcome.claim)
        verdict = self._judge(instance, outcome, now)
        if isinstance(verdict.action, CreateClaim):
            await live.confirm(cell.client, instance)
            return self._judge(instance, await self._create(target), now)
        if isinstance(verdict.action, DeleteClaim) and isinstance(outcome, ClaimFound):
            await live.confirm(cell.client, instance)
            await self._delete(target, outcome.claim)
        return verdict

    async def release(self, cell: Cluster, instance: Instance) -> ReleaseStep:
        """The next step in the deletion of an Instance, after deleting its claim if due."""
        now = self._environment.now()
        self._unanswered.pop(instance.metadata.uid, None)
        if quota.holders(instance) or await _slot_stays(cell, instance):
            return quota.release(instance, ClaimAbsent(), now, slot_stays=True)
        target = await self._target(cell, instance)
        if not isinstance(target, _ClaimTarget):
            return quota.release(instance, target, now, slot_stays=False)
        outcome = await self._read(target)
        ending = quota.release(instance, outcome, now, slot_stays=False)
        if not isinstance(ending, ReleaseClaim) or not isinstance(outcome, ClaimFound):
            return ending
        # While the Instance exists, no other can have its name, nor the claim of that name.
        await live.confirm(cell.client, instance)
        await self._delete(target, outcome.claim)
        return quota.release(instance, await self._read(target), now, slot_stays=False)

    async def _target(self, cell: Cluster, instance: Instance) -> _ClaimTarget | ClaimLookup:
        """Where to claim quota. Without labels on the namespace the project is unknown."""
        if not self._settings.quota:
            return QuotaDisabled()
        namespace = instance.metadata.namespace
        identity = project_identities.identity(self._planes, cell, namespace)
        if identity is None:
            message = f"Namespace {namespace} has no labels that name its project; restore them"
            return ClaimLookupFailed(Reason.QUOTA_PROJECT_ID_UNRESOLVABLE, message)
        name = project_identities.project(identity)
        try:
            project = await self._planes.reach(name)
        except ApiError as error:
            return quota.refusal(error, "")
        wanted = quota.claim(
            instance,
            project=name,
            claim_namespace=identity.namespace,
            source_cluster=self._settings.name,
        )
        return _ClaimTarget(project, wanted)

    # Judge

    def _judge(self, instance: Instance, outcome: ClaimLookup, now: datetime) -> QuotaVerdict:
        """The verdict on an outcome; requeued soon if the project is unreachable."""
        outcome = self._with_since(instance, outcome, now)
        verdict = quota.judge(instance, outcome, now)
        if not waits(instance) or not _is_unreachable(outcome):
            return verdict
        wait = min(verdict.requeue_after or _RETRY_UNREACHABLE, _RETRY_UNREACHABLE)
        return replace(verdict, requeue_after=wait)

    def _with_since(self, instance: Instance, outcome: ClaimLookup, now: datetime) -> ClaimLookup:
        """The outcome, with the time since when the project is unreachable.

        An absent claim does not reset that time: the create that follows may fail.
        """
        uid = instance.metadata.uid
        if isinstance(outcome, ClaimLookupFailed) and _is_unreachable(outcome):
            return replace(outcome, since=self._unanswered.setdefault(uid, now))
        if not isinstance(outcome, ClaimAbsent):
            self._unanswered.pop(uid, None)
        return outcome

    def _cached_grant(
        self, target: _ClaimTarget, instance: Instance, now: datetime
    ) -> ClaimFound | None:
        """The claim in the cache, if it is granted to an Instance that was let through."""
        claim = target.cached
        if claim is None or waits(instance) or quota.is_of_old_deployment(claim, target.wanted):
            return None
        verdict = quota.judge(instance, target.found(claim), now)
        return target.found(claim) if verdict.requeue_after is None else None

    # Calls to the project

    async def _find(self, target: _ClaimTarget) -> ClaimLookup:
        """The claim, read live; or the cached grant of the slot while the project is unreachable."""
        outcome = await self._read(target)
        claim = target.cached if _is_unreachable(outcome) else None
        if claim is None or self._released.get(target.key) == claim.metadata.uid:
            return outcome
        return target.found(claim) if _is_granted(claim, target.wanted) else outcome

    async def _read(self, target: _ClaimTarget) -> ClaimLookup:
        meta = target.wanted.metadata
        client = target.project.client
        claim = await self._call(
            target, lambda: client.find(ResourceClaim, meta.name, meta.namespace)
        )
        if claim is None:
            return ClaimAbsent()
        return target.found(claim) if isinstance(claim, ResourceClaim) else claim

    async def _adopt(self, target: _ClaimTarget, claim: ResourceClaim) -> ClaimLookup:
        """Take over the claim of an earlier deployment.

        A claim that was changed since it was read may be deleting, and grants nothing.
        """
        labels = merge_maps(claim.metadata.labels, target.wanted.metadata.labels)
        own = with_metadata(claim, labels=labels)
        written = await self._call(target, lambda: target.project.client.patch(claim, own))
        return target.found(written) if isinstance(written, ResourceClaim) else ClaimConflict()

    async def _create(self, target: _ClaimTarget) -> ClaimLookup:
        claim = await self._call(target, lambda: target.project.client.create(target.wanted))
        return target.found(claim) if isinstance(claim, ResourceClaim) else claim

    async def _delete(self, target: _ClaimTarget, claim: ResourceClaim) -> None:
        """Delete a claim as it was read. If it was changed since, the next reconcile pass reads it."""
        self._released[target.key] = claim.metadata.uid
        await self._call(target, lambda: live.delete_as_read(target.project.client, claim))

    async def _call(
        self, target: _ClaimTarget, call: Callable[[], Awaitable[T]]
    ) -> T | ClaimLookup:
        """The result of a call to the project, or what its failure means."""
        name, now = target.project.name, self._environment.now()
        if now < self._skip_until.get(name, now):
            return _UNREACHABLE
        try:
            async with asyncio.timeout(_CALL_TIMEOUT):
                return await call()
        except ApiError as error:
            return quota.refusal(error, target.wanted.metadata.namespace)
        except OSError:
            self._skip_until[name] = self._environment.now() + _SKIP_UNREACHABLE
            return _UNREACHABLE


def waits(instance: Instance) -> bool:
    """Whether the Instance waits at its Quota gate."""
    return gates.QUOTA in closed(instance)


def _is_unreachable(outcome: ClaimLookup) -> bool:
    if not isinstance(outcome, ClaimLookupFailed):
        return False
    return outcome.reason == Reason.QUOTA_BACKEND_UNAVAILABLE


def _is_leftover(found: ClaimFound) -> bool:
    """Whether an earlier deployment of the name left the claim, and it asks for the same quota."""
    alike = quota.requests_same_quota(found.claim, found.wanted)
    return alike and quota.is_of_old_deployment(found.claim, found.wanted)


def _is_granted(claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    granted = is_true(claim.status.conditions, NeighbourCondition.GRANTED)
    stays = granted and not claim.deleting and quota.requests_same_quota(claim, wanted)
    return stays and not quota.is_of_old_deployment(claim, wanted)


async def _slot_stays(cell: Cluster, instance: Instance) -> bool:
    name = joins.deployment_name(instance)
    deployment = await cell.client.find(WorkloadDeployment, name, instance.metadata.namespace)
    return quota.slot_stays(instance, deployment)
