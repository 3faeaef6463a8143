"""The keeper of budgets: one pass at a time for each project answers its claims.

A pass serves those who wait from what is left, the oldest first, many at once. What it gives it
writes into the project's ledger first, bound to the version it read (see `decide.budget.ledger`):
two keepers at once, or one that starts again in the middle, never give the same budget twice.
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

MOST: Final = 200  # claims that are granted in one go, and as many that are turned down
_PACE: Final = timedelta(milliseconds=50)  # between two batches, so that many claims share one
_PATIENCE: Final = timedelta(seconds=5)  # until another keeper's promises are kept for him
_BEHIND: Final = timedelta(seconds=1)


class BudgetKeeper:
    """Answers the claims of a project, and keeps its buckets. A request names its cluster."""

    def __init__(
        self,
        planes: ServicePlanes,
        books: ClaimLedgers,
        leaks: Leaks,
        environment: ExecutionEnvironment,
    ) -> None:
        self._planes = planes
        self._books = books
        self._leaks = leaks
        self._environment = environment
        self._holder = environment.uid()
        self._buckets = Buckets()
        self._promised: dict[str, datetime] = {}  # when the last batch was, by project
        self._rules: dict[str, Rules] = {}  # by which the refused were judged, by project

    async def reconcile(self, request: Request) -> Result:
        desk = self._desk(request)
        if desk is None:
            return DONE
        if not await desk.is_fresh():
            return Result(requeue_after=_BEHIND)
        owed = desk.book.owed(desk.ledger.reserved)
        if owed:
            return await self._keep_promises(desk, owed)
        pause = self._promised.get(desk.name, desk.now - _PACE) + _PACE - desk.now
        if pause > timedelta():
            return Result(requeue_after=pause)
        return await self._serve(desk)

    def _desk(self, request: Request) -> BudgetContext | None:
        """What there is to work on; None for a project that nobody knows of any more."""
        core = self._planes.core.sole()
        project = core.informers.of(Project).cache.get("", request.cluster)
        if project is None:
            self._forget(request.cluster)
            return None
        name = lookups.ledger_name(request.cluster)
        kept = core.informers.of(ConfigMap).cache.get(PLATFORM, name)
        ledger = Ledger.read(kept.data if kept else {}, project.metadata.uid)
        cluster = self._planes.projects.get(request.cluster)
        book, now = self._books.of(request.cluster), self._environment.now()
        return BudgetContext(project, cluster, core, book, kept, ledger, now)

    async def _keep_promises(self, desk: BudgetContext, owed: Sequence[ClaimEntry]) -> Result:
        """Tell those who were promised something and were not told.

        Another keeper is about to do so, and is given the time. Nothing new is promised meanwhile.
        """
        waited = desk.now - desk.ledger.written
        if desk.ledger.holder != self._holder and waited < _PATIENCE:
            return Result(requeue_after=_PATIENCE - waited)
        told = await desk.grant(owed)
        return Result(requeue_after=_PACE if told else _BEHIND)

    async def _serve(self, desk: BudgetContext) -> Result:
        """One batch: those whose turn it is get theirs, the others who are new are told no."""
        limit, registered = desk.limits(), desk.registered()
        left = budget.left(limit, desk.book.used)
        places_ = budget.choose(desk.book.lines(), left, MOST)
        if places_:  # something is to be given, and only of what there is for sure
            limit = await desk.sure_limits()
            left = budget.left(limit, desk.book.used)
            places_ = budget.choose(desk.book.lines(), left, MOST)
        chosen = list(_entries(desk, ((each.namespace, each.name) for each in places_)))
        valid = [entry for entry in chosen if not desk.faults(entry, registered)]
        rest = _less(left, valid)
        others = _turned_down(desk, chosen, valid, rest)
        told = False
        if valid:
            await desk.promise(valid, self._holder)
            self._promised[desk.name] = desk.now
            told = await desk.grant(valid)
        for entry in others:
            told |= await self._turn_down(desk, entry, (limit, rest), registered)
        await self._judge_again(desk, registered)
        due = await self._buckets.keep(desk, valid, registered)
        await self._leaks.look(desk.cluster, desk.book)
        if not (valid or others):
            return Result(requeue_after=due)
        return Result(requeue_after=_PACE if told else _BEHIND)

    async def _turn_down(
        self,
        desk: BudgetContext,
        entry: ClaimEntry,
        sums: tuple[Mapping[str, int], Mapping[str, int]],
        registered: dict[str, ResourceRegistration],
    ) -> bool:
        """Tell a claim that it gets nothing: it breaks the rules, or there is too little."""
        faults = desk.faults(entry, registered)
        if faults:
            return await desk.tell(entry, lambda claim: budget.refused(claim, faults, desk.now))
        return await desk.tell(entry, lambda claim: budget.denied(claim, *sums, desk.now))

    async def _judge_again(
        self, desk: BudgetContext, registered: dict[str, ResourceRegistration]
    ) -> None:
        """Reopen the claims that were refused by rules which are no more."""
        rules = digest(registered)
        if self._rules.get(desk.name) == rules:
            return
        for entry in list(_entries(desk, desk.book.refused)):
            if not desk.faults(entry, registered):
                await desk.tell(entry, lambda claim: budget.reopened(claim, desk.now))
        self._rules[desk.name] = rules

    def _forget(self, project: str) -> None:
        self._promised.pop(project, None)
        self._rules.pop(project, None)
        self._buckets.forget(project)


def _entries(desk: BudgetContext, keys: Iterable[tuple[str, str]]) -> Iterator[ClaimEntry]:
    return (entry for key in keys if (entry := desk.book.get(key)))


def _turned_down(
    desk: BudgetContext,
    chosen: Sequence[ClaimEntry],
    valid: Sequence[ClaimEntry],
    rest: Mapping[str, int],
) -> list[ClaimEntry]:
    """Those to be told no: chosen against the rules, or new and too much for what is left.

    While batches are full those who wait may fit into the next one, so nobody is told no yet.
    """
    granted = {entry.key: None for entry in valid}
    against = [entry for entry in chosen if entry.key not in granted]
    if len(chosen) == MOST:
        return against
    known = granted | {entry.key: None for entry in against}
    lacking = (
        entry
        for entry in _entries(desk, desk.book.unheard)
        if entry.key not in known and not budget.fits(entry.need, rest)
    )
    return [*against, *islice(lacking, MOST)]


def _less(left: Mapping[str, int], entries: Iterable[ClaimEntry]) -> dict[str, int]:
    """What is left once these have theirs."""
    rest = dict(left)
    for entry in entries:
        for kind, amount in entry.need:
            rest[kind] -= amount
    return rest
