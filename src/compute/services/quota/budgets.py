"""Budgets: one reconcile pass at a time for each project answers its claims.

A pass grants waiting claims from the remaining budget, the oldest first, in batches. It first writes
reservations into the project's ledger, bound to the version it read (see `decide.budget.ledger`). So
the same budget is never granted twice, neither by two processes nor after a restart in between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from compute.api.quota import ResourceRegistration
from compute.api.resource_manager import Project
from compute.decide import budget
from compute.decide.budget import Ledger
from compute.services.planes import PLATFORM, ServicePlanes
from compute.services.quota import lookups
from compute.services.quota.buckets import Buckets
from compute.services.quota.context import BudgetContext, Rules, digest
from compute.services.quota.leaks import Leaks
from compute.services.quota.ledger import ClaimEntry, ClaimLedgers
from kubekit.api.kinds.core import ConfigMap
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.requests import DONE, Request, Result

MOST: Final = 200  # claims that are granted in one batch, and as many that are denied
_PACE: Final = timedelta(milliseconds=50)  # between two batches, so that many claims share one
_GRACE: Final = timedelta(seconds=5)  # for another process to fulfil its reservations
_BEHIND: Final = timedelta(seconds=1)


class BudgetKeeper:
    """Answers the claims of a project, and updates its buckets. A request names its cluster."""

    def __init__(
        self,
        planes: ServicePlanes,
        ledgers: ClaimLedgers,
        leaks: Leaks,
        environment: ExecutionEnvironment,
    ) -> None:
        self._planes = planes
        self._ledgers = ledgers
        self._leaks = leaks
        self._environment = environment
        self._holder = environment.uid()
        self._buckets = Buckets()
        self._batched: dict[str, datetime] = {}  # the time of the last batch, by project
        self._rules: dict[str, Rules] = {}  # by which the refused claims were checked, by project

    async def reconcile(self, request: Request) -> Result:
        context = self._context(request)
        if context is None:
            return DONE
        if not await context.is_fresh():
            return Result(requeue_after=_BEHIND)
        reserved = context.claims.unfulfilled(context.ledger.reserved)
        if reserved:
            return await self._fulfil(context, reserved)
        pause = self._batched.get(context.name, context.now - _PACE) + _PACE - context.now
        if pause > timedelta():
            return Result(requeue_after=pause)
        return await self._serve(context)

    def _context(self, request: Request) -> BudgetContext | None:
        """The context of a pass; None for a project that no longer exists."""
        core = self._planes.core.sole()
        project = core.informers.of(Project).cache.get("", request.cluster)
        if project is None:
            self._forget(request.cluster)
            return None
        name = lookups.ledger_name(request.cluster)
        stored = core.informers.of(ConfigMap).cache.get(PLATFORM, name)
        ledger = Ledger.read(stored.data if stored else {}, project.metadata.uid)
        cluster = self._planes.projects.get(request.cluster)
        claims, now = self._ledgers.of(request.cluster), self._environment.now()
        return BudgetContext(project, cluster, core, claims, stored, ledger, now)

    async def _fulfil(self, context: BudgetContext, reserved: Sequence[ClaimEntry]) -> Result:
        """Grant the claims that have a reservation.

        If another process made the reservations, it gets a grace period to grant them itself. Nothing
        new is reserved meanwhile.
        """
        waited = context.now - context.ledger.written
        if context.ledger.holder != self._holder and waited < _GRACE:
            return Result(requeue_after=_GRACE - waited)
        answered = await context.grant(reserved)
        return Result(requeue_after=_PACE if answered else _BEHIND)

    async def _serve(self, context: BudgetContext) -> Result:
        """One batch: grant the first claims in order, and deny the other new claims."""
        limit, registered = context.limits(), context.registered()
        left = budget.left(limit, context.claims.used)
        positions = budget.choose(context.claims.queues(), left, MOST)
        if positions:  # a grant must rest on limits that are read live
            limit = await context.live_limits()
            left = budget.left(limit, context.claims.used)
            positions = budget.choose(context.claims.queues(), left, MOST)
        chosen = list(_entries(context, ((each.namespace, each.name) for each in positions)))
        valid = [entry for entry in chosen if not context.faults(entry, registered)]
        rest = _remaining(left, valid)
        others = _denied(context, chosen, valid, rest)
        answered = False
        if valid:
            await context.reserve(valid, self._holder)
            self._batched[context.name] = context.now
            answered = await context.grant(valid)
        for entry in others:
            answered |= await self._deny(context, entry, (limit, rest), registered)
        await self._check_refused(context, registered)
        due = await self._buckets.update(context, valid, registered)
        await self._leaks.check(context.cluster, context.claims)
        if not (valid or others):
            return Result(requeue_after=due)
        return Result(requeue_after=_PACE if answered else _BEHIND)

    async def _deny(
        self,
        context: BudgetContext,
        entry: ClaimEntry,
        sums: tuple[Mapping[str, int], Mapping[str, int]],
        registered: dict[str, ResourceRegistration],
    ) -> bool:
        """Refuse a claim that breaks the rules, or deny one for which the budget is too small."""
        faults = context.faults(entry, registered)
        if faults:
            return await context.answer(
                entry, lambda claim: budget.refused(claim, faults, context.now)
            )
        return await context.answer(entry, lambda claim: budget.denied(claim, *sums, context.now))

    async def _check_refused(
        self, context: BudgetContext, registered: dict[str, ResourceRegistration]
    ) -> None:
        """Reopen the claims that were refused by rules which have changed since."""
        rules = digest(registered)
        if self._rules.get(context.name) == rules:
            return
        for entry in list(_entries(context, context.claims.refused)):
            if not context.faults(entry, registered):
                await context.answer(entry, lambda claim: budget.reopened(claim, context.now))
        self._rules[context.name] = rules

    def _forget(self, project: str) -> None:
        self._batched.pop(project, None)
        self._rules.pop(project, None)
        self._buckets.forget(project)


def _entries(context: BudgetContext, keys: Iterable[tuple[str, str]]) -> Iterator[ClaimEntry]:
    return (entry for key in keys if (entry := context.claims.get(key)))


def _denied(
    context: BudgetContext,
    chosen: Sequence[ClaimEntry],
    valid: Sequence[ClaimEntry],
    rest: Mapping[str, int],
) -> list[ClaimEntry]:
    """The claims to deny: those that break the rules, and new ones that do not fit the remaining budget.

    While batches are full a waiting claim may fit into the next one, so none is denied yet.
    """
    granted = {entry.key: None for entry in valid}
    against = [entry for entry in chosen if entry.key not in granted]
    if len(chosen) == MOST:
        return against
    known = granted | {entry.key: None for entry in against}
    lacking = (
        entry
        for entry in _entries(context, context.claims.unanswered)
        if entry.key not in known and not budget.fits(entry.need, rest)
    )
    return [*against, *islice(lacking, MOST)]


def _remaining(left: Mapping[str, int], entries: Iterable[ClaimEntry]) -> dict[str, int]:
    """What is left of the budget once these claims are granted."""
    rest = dict(left)
    for entry in entries:
        for kind, amount in entry.need:
            rest[kind] -= amount
    return rest
