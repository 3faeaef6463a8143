"""Asking the project of an Instance for its quota, and giving it back.

The project is far away and may not answer. So it is asked only where the answer counts: an Instance
that was let through goes by the claim that the cache shows, for as long as that says the same. A
gate opens after a live look at the claim. There is one exception: while the project does not
answer, an Instance may take the place of another in its slot on the slot's own grant as it was last
seen, since a cell that is cut off must be able to heal.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from msgspec import structs

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
    Ending,
    QuotaDisabled,
    QuotaVerdict,
    Release,
)
from compute.decide.scheduling_gates import closed
from kubekit.api.errors import ApiError, conflict
from kubekit.client.options import DeleteOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reconciling.commit import merge_maps

T = TypeVar("T")
# By project and place, the uid of the claim that was given back there last: a cache may go on showing
# it, and it grants nothing any more.
GivenBack = dict[tuple[str, str, str], str]

_PATIENCE: Final = 5.0  # seconds for one answer
# Nothing tells that a project can be reached again, so who waits for that looks by himself.
_UNHEARD: Final = timedelta(seconds=30)
# A project that did not answer in time is not asked again for so long: each question that nobody
# answers holds a worker, and there are few.
_LEFT_ALONE: Final = timedelta(seconds=10)
_SILENT: Final = ClaimLookupFailed(
    Reason.QUOTA_BACKEND_UNAVAILABLE, "The quota service does not answer; it is asked again"
)


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where the quota of an Instance is asked for, and the claim that would be made there now."""

    project: Cluster
    wanted: ResourceClaim

    @property
    def place(self) -> tuple[str, str, str]:
        meta = self.wanted.metadata
        return self.project.name, meta.namespace, meta.name

    @property
    def cached(self) -> ResourceClaim | None:
        meta = self.wanted.metadata
        return self.project.informers.of(ResourceClaim).cache.get(meta.namespace, meta.name)

    def found(self, claim: ResourceClaim) -> ClaimFound:
        return ClaimFound(claim, self.wanted)


class QuotaGate:
    """The way of a cell's Instances to their quota."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        environment: ExecutionEnvironment,
        given_back: GivenBack,
    ) -> None:
        self._planes = planes
        self._settings = settings
        self._environment = environment
        self._silent_until: dict[str, datetime] = {}
        self._unanswered: dict[str, datetime] = {}  # since when, by the uid of the Instance
        self._given_back = given_back

    async def evaluate(self, cell: Cluster, instance: Instance) -> QuotaVerdict:
        """What is to be said of the Instance's quota, after whatever had to be done for it."""
        now = self._environment.now()
        desk = await self._desk(cell, instance)
        if not isinstance(desk, _Desk):
            return self._judged(instance, desk, now)
        outcome = self._shown(desk, instance, now) or await self._sought(desk)
        if isinstance(outcome, ClaimFound) and _is_left(outcome):
            await _confirm(cell, instance)
            outcome = await self._adopted(desk, outcome.claim)
        verdict = self._judged(instance, outcome, now)
        if isinstance(verdict.action, CreateClaim):
            await _confirm(cell, instance)
            return self._judged(instance, await self._made(desk), now)
        if isinstance(verdict.action, DeleteClaim) and isinstance(outcome, ClaimFound):
            await _confirm(cell, instance)
            await self._take_back(desk, outcome.claim)
        return verdict

    async def give_back(self, cell: Cluster, instance: Instance) -> Ending:
        """The next step in the removal of an Instance, after whatever could be done at once."""
        now = self._environment.now()
        self._unanswered.pop(instance.metadata.uid, None)
        if quota.holders(instance) or await _slot_stays(cell, instance):
            return quota.release(instance, ClaimAbsent(), now, slot_stays=True)
        desk = await self._desk(cell, instance)
        if not isinstance(desk, _Desk):
            return quota.release(instance, desk, now, slot_stays=False)
        outcome = await self._asked(desk)
        ending = quota.release(instance, outcome, now, slot_stays=False)
        if not isinstance(ending, Release) or not isinstance(outcome, ClaimFound):
            return ending
        # As long as the Instance is there no other has its name, nor the claim under that name.
        await _confirm(cell, instance)
        await self._take_back(desk, outcome.claim)
        return quota.release(instance, await self._asked(desk), now, slot_stays=False)

    async def _desk(self, cell: Cluster, instance: Instance) -> _Desk | ClaimLookup:
        """Where to ask. Without labels on the namespace nobody knows, and nothing is guessed."""
        if not self._settings.quota:
            return QuotaDisabled()
        namespace = instance.metadata.namespace
        identity = project_identities.identity(cell, namespace)
        if identity is None:
            message = f"Namespace {namespace} does not say which project it is of; label it again"
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
        return _Desk(project, wanted)

    def _judged(self, instance: Instance, outcome: ClaimLookup, now: datetime) -> QuotaVerdict:
        """The verdict on an outcome; where there was no answer, with a requeue before long."""
        outcome = self._dated(instance, outcome, now)
        verdict = quota.judge(instance, outcome, now)
        if not waits(instance) or not _is_away(outcome):
            return verdict
        soon = min(verdict.requeue_after or _UNHEARD, _UNHEARD)
        return replace(verdict, requeue_after=soon)

    def _dated(self, instance: Instance, outcome: ClaimLookup, now: datetime) -> ClaimLookup:
        """The outcome, with the time since when there is no answer.

        That there is no claim is half an answer: whether one can be made is seen next.
        """
        uid = instance.metadata.uid
        if isinstance(outcome, ClaimLookupFailed) and _is_away(outcome):
            return replace(outcome, since=self._unanswered.setdefault(uid, now))
        if not isinstance(outcome, ClaimAbsent):
            self._unanswered.pop(uid, None)
        return outcome

    def _shown(self, desk: _Desk, instance: Instance, now: datetime) -> ClaimFound | None:
        """The claim in the cache, where it says that all is well with what was let through."""
        claim = desk.cached
        if claim is None or waits(instance) or quota.outlived(claim, desk.wanted):
            return None
        verdict = quota.judge(instance, desk.found(claim), now)
        return desk.found(claim) if verdict.requeue_after is None else None

    async def _sought(self, desk: _Desk) -> ClaimLookup:
        """The outcome of looking for the claim; where nobody answers, the slot's grant counts."""
        outcome = await self._asked(desk)
        claim = desk.cached if _is_away(outcome) else None
        if claim is None or self._given_back.get(desk.place) == claim.metadata.uid:
            return outcome
        return desk.found(claim) if _holds(claim, desk.wanted) else outcome

    async def _asked(self, desk: _Desk) -> ClaimLookup:
        meta = desk.wanted.metadata
        client = desk.project.client
        claim = await self._answer(
            desk, lambda: client.find(ResourceClaim, meta.name, meta.namespace)
        )
        if claim is None:
            return ClaimAbsent()
        return desk.found(claim) if isinstance(claim, ResourceClaim) else claim

    async def _adopted(self, desk: _Desk, claim: ResourceClaim) -> ClaimLookup:
        """The claim that an earlier deployment left: from now on it is this one's.

        One that has changed meanwhile may be about to go, and grants nothing.
        """
        told = merge_maps(claim.metadata.labels, desk.wanted.metadata.labels)
        ours = structs.replace(claim, metadata=structs.replace(claim.metadata, labels=told))
        written = await self._answer(desk, lambda: desk.project.client.patch(claim, ours))
        return desk.found(written) if isinstance(written, ResourceClaim) else ClaimConflict()

    async def _made(self, desk: _Desk) -> ClaimLookup:
        claim = await self._answer(desk, lambda: desk.project.client.create(desk.wanted))
        return desk.found(claim) if isinstance(claim, ResourceClaim) else claim

    async def _take_back(self, desk: _Desk, claim: ResourceClaim) -> None:
        """Delete a claim as it was read. One that has changed, or stays, is looked at again."""
        self._given_back[desk.place] = claim.metadata.uid
        unchanged = DeleteOptions(resource_version=claim.metadata.resource_version)
        await self._answer(desk, lambda: desk.project.client.delete(claim, unchanged))

    async def _answer(self, desk: _Desk, ask: Callable[[], Awaitable[T]]) -> T | ClaimLookup:
        """What the project answers, or what it means that it does not."""
        name, now = desk.project.name, self._environment.now()
        if now < self._silent_until.get(name, now):
            return _SILENT
        try:
            async with asyncio.timeout(_PATIENCE):
                return await ask()
        except ApiError as error:
            return quota.refusal(error, desk.wanted.metadata.namespace)
        except OSError:
            self._silent_until[name] = self._environment.now() + _LEFT_ALONE
            return _SILENT


def waits(instance: Instance) -> bool:
    """Whether the Instance waits at its Quota gate."""
    return gates.QUOTA in closed(instance)


def _is_away(outcome: ClaimLookup) -> bool:
    return (
        isinstance(outcome, ClaimLookupFailed)
        and outcome.reason == Reason.QUOTA_BACKEND_UNAVAILABLE
    )


def _is_left(found: ClaimFound) -> bool:
    """Whether an earlier deployment of the name left the claim, and it is what is wanted."""
    alike = quota.asks_alike(found.claim, found.wanted)
    return alike and quota.outlived(found.claim, found.wanted)


def _holds(claim: ResourceClaim, wanted: ResourceClaim) -> bool:
    granted = is_true(claim.status.conditions, NeighbourCondition.GRANTED)
    stays = granted and not claim.deleting and quota.asks_alike(claim, wanted)
    return stays and not quota.outlived(claim, wanted)


async def _slot_stays(cell: Cluster, instance: Instance) -> bool:
    name = joins.deployment_name(instance)
    deployment = await cell.client.find(WorkloadDeployment, name, instance.metadata.namespace)
    return quota.slot_stays(instance, deployment)


async def _confirm(cell: Cluster, instance: Instance) -> None:
    """Raise unless the Instance is there, and as far in its life as the cache says.

    A cache may show one whose successor has its name, and its claim, already.
    """
    meta = instance.metadata
    live = await cell.client.find(Instance, meta.name, meta.namespace)
    if live is None or live.metadata.uid != meta.uid or live.deleting != instance.deleting:
        raise conflict(Instance.RESOURCE, meta.name, "it has gone, or is about to")
