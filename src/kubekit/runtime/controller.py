"""A controller: it receives changes and brings each object to its desired state, pass by pass.

    sources --> admission --> queue --> worker: one pass --> reconciler --> writes
                    ^                      |
                    '------- requeue ------'

Listening and working are separate. Every process listens, so that its queue is up to date when it
becomes the leader; only `run` works. A pass that fails affects its own request only.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kubekit.api.meta import Object
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.queueing.backoff import RequestBackoff
from kubekit.runtime.queueing.outcomes import CANCELLED, DISENGAGED, PassOutcome, PassOutcomes
from kubekit.runtime.queueing.pass_log import PassLog
from kubekit.runtime.queueing.queue import QueueClosed, WorkQueue
from kubekit.runtime.queueing.queue_admission import QueueAdmission
from kubekit.runtime.queueing.storms import StormDetector
from kubekit.runtime.queueing.worker_pool import TIMED_OUT, WorkerPool
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.reconciling.passes import Leadership, Pass, WriteContext, current
from kubekit.runtime.reconciling.write_conflicts import WriteConflictBreaker
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.reporting.tracing import Tracing
from kubekit.runtime.requests import Reconciler, Request, Result
from kubekit.runtime.settings import ControllerSettings
from kubekit.runtime.source_handlers import SourceHandlers
from kubekit.runtime.sources import Source

__all__ = ["Controller", "ControllerSettings"]

# Seconds until a requeue, if the pass wrote or read live a version that the caches do not show yet.
# Usually a watch event requeues the request earlier. There is no event if an object appears and
# disappears while the watch is interrupted.
_UNSEEN_REQUEUE: Final = 30.0
_TERM_RECHECK: Final = 0.5  # seconds between two checks of a term that does not hold

_DEFAULTS: Final = ControllerSettings()


@dataclass(eq=False)
class Controller:
    """One reconciler over the clusters of a role.

    ``name`` is also the field manager of its writes. Requests name clusters of the role ``clusters``; sources may
    be on other roles too.
    """

    name: str
    reconciler: Reconciler
    clusters: Clusters
    sources: Sequence[Source[Any]]
    environment: ExecutionEnvironment
    metrics: Metrics
    settings: ControllerSettings = _DEFAULTS
    recorder: EventRecorder | None = None
    tracing: Tracing | None = None

    def __post_init__(self) -> None:
        settings, chance = self.settings, self.environment.chance
        workers = settings.workers
        self.queue = WorkQueue(settings.per_cluster or workers - workers // 4)
        self.counters = self.metrics.controller(self.name)
        self.counters.workers = workers
        self.metrics.queue(self.name, self.queue)
        backoff = RequestBackoff(chance, settings.first_backoff, settings.longest_backoff)
        write_conflicts = WriteConflictBreaker(self.name, settings.write_conflicts)
        self._context = WriteContext(
            self.name, write_conflicts, Freshness(), self.counters, self.recorder
        )
        self._outcomes = PassOutcomes(backoff, chance, self.counters)
        self._admission = QueueAdmission(self.name, self.queue, self.counters)
        self._own = self._handlers_of(self.clusters)
        self._others = {
            clusters: self._handlers_of(clusters)
            for clusters in (source.clusters for source in self.sources)
            if clusters is not self.clusters
        }
        busiest = self.counters.busiest
        self._storms = StormDetector(self.name, settings.storm, self._generation, busiest)
        self._log = PassLog(self.name, settings.level)
        self._passes = 0
        self._pool: WorkerPool | None = None

    def join(self) -> None:
        """Join the clusters of every role that has a source. Call it once."""
        for clusters, handlers in self._others.items():
            clusters.join(handlers)
        self.clusters.join(self)

    def engage(self, cluster: Cluster) -> None:
        """Listen to a cluster of the controller's own role, and work there once its caches are synced."""
        self._admission.engage(cluster)
        self._own.engage(cluster)
        self._admission.open_when_ready(cluster, self._own.of(cluster.name))

    def disengage(self, cluster: Cluster) -> None:
        """Drop the waiting requests of a cluster, and stop its running passes."""
        name = cluster.name
        self._own.disengage(cluster)
        self._admission.disengage(name)
        self._outcomes.drop(name)
        self._context.freshness.drop(name)
        if self._pool is not None:
            self._pool.disengaged(name)

    @property
    def synced(self) -> bool:
        """Whether every source is complete in every cluster that is engaged."""
        others = (handlers.ready for handlers in self._others.values())
        return self._own.ready and self._admission.open and all(others)

    async def run(self, term: Leadership | None = None) -> None:
        """Work until `drain`. Cancelling this cancels every running pass at once."""
        limit = self.settings.pass_limit
        pool = WorkerPool(
            self.name, lambda pool: self._run_worker(pool, term), limit, self.queue.done
        )
        self._pool = pool
        await pool.run(self.settings.workers)

    async def drain(self, limit: float) -> None:
        """Start no new pass, and finish the running ones within this many seconds."""
        self.queue.close()
        if self._pool is not None:
            await self._pool.end(limit)

    def _handlers_of(self, clusters: Clusters) -> SourceHandlers:
        sources = [source for source in self.sources if source.clusters is clusters]
        return SourceHandlers(sources, self._admission.add, self._context)

    async def _run_worker(self, pool: WorkerPool, term: Leadership | None) -> None:
        """One worker."""
        task = asyncio.current_task()
        assert task is not None
        while pool.is_current(task) and not task.cancelling():
            try:
                request = await self.queue.take()
            except QueueClosed:
                return
            try:
                await self._process(request, pool, term, task)
            finally:
                if pool.is_current(task):
                    self.queue.done(request)

    async def _process(
        self,
        request: Request,
        pool: WorkerPool,
        term: Leadership | None,
        task: "asyncio.Task[None]",
    ) -> None:
        """Reconcile a request, unless it is too early."""
        now = asyncio.get_running_loop().time()
        if pool.defers(request):
            return
        if term is not None and not term.holds():
            self.queue.add(request)
            await asyncio.sleep(_TERM_RECHECK)
        elif wait := self._outcomes.blocked(request, now):
            self.queue.add_after(request, wait)
        elif wait := self._context.freshness.behind(request, now):
            self.counters.own_write_waits += 1
            self.queue.add_after(request, wait)
        else:
            self._passes += 1
            pass_ = Pass(self._context, request, self._passes, term)
            pass_.started = now
            await self._run_pass(pass_, pool, task)

    async def _run_pass(self, pass_: Pass, pool: WorkerPool, task: "asyncio.Task[None]") -> None:
        """One pass, from its start to the requeue that follows from its outcome."""
        outcome = CANCELLED
        pool.start(pass_, task)
        self.counters.active += 1
        try:
            outcome = await self._outcome_of(pass_, task)
        finally:
            pass_.finished = True
            self.counters.active -= 1
            requested_again = pool.finish(pass_)
            self._conclude(pass_, outcome)
            if requested_again:
                self._admission.add(pass_.request)
        if pass_.stopped:
            await _absorb_cancellation(task)

    async def _outcome_of(self, pass_: Pass, task: "asyncio.Task[None]") -> PassOutcome:
        """The outcome of a pass. Only exceptions that end the worker itself are raised from here."""
        current.set(pass_)
        request = pass_.request
        try:
            result = await self._reconcile(request)
            outcome = self._interrupted(pass_) or self._outcomes.succeeded(request, result)
        except (KeyboardInterrupt, SystemExit):
            raise
        except asyncio.CancelledError as error:
            # This pass was stopped, or the worker is cancelled, or the reconciler raised the error itself.
            if task.cancelling() > bool(pass_.stopped):
                raise
            outcome = self._interrupted(pass_) or self._outcomes.failed_with(request, error)
        except BaseException as error:  # noqa: BLE001 - one failing object must not affect the others
            outcome = self._interrupted(pass_) or self._outcomes.failed_with(request, error)
        return outcome

    def _interrupted(self, pass_: Pass) -> PassOutcome | None:
        """The outcome of a pass that was stopped, else None. An error after the stop does not count."""
        if not pass_.stopped:
            return None
        timed_out = pass_.stopped == TIMED_OUT
        return (
            self._outcomes.timed_out(pass_.request, self.settings.pass_limit)
            if timed_out
            else DISENGAGED
        )

    def _conclude(self, pass_: Pass, outcome: PassOutcome) -> None:
        """Count a pass, log it, and requeue its request if the outcome asks for it."""
        now = asyncio.get_running_loop().time()
        request, seconds = pass_.request, now - pass_.started
        self.counters.ended(outcome.result, seconds)
        self._storms.passed(request, now)
        requeue_after = outcome.requeue_after
        if outcome.error is None and not pass_.stopped and pass_.caches_lag():
            requeue_after = (
                _UNSEEN_REQUEUE if requeue_after is None else min(requeue_after, _UNSEEN_REQUEUE)
            )
        if requeue_after is not None:
            self._admission.add_after(request, requeue_after)
        self._log.ended(pass_, outcome, seconds)

    async def _reconcile(self, request: Request) -> Result:
        """The result of the reconciler, in a span of the trace that the object is annotated with."""
        if self.tracing is None:
            return await self.reconciler.reconcile(request)
        with self.tracing.span_of(self.name, request, self._cached(request)):
            return await self.reconciler.reconcile(request)

    def _generation(self, request: Request) -> int | None:
        obj = self._cached(request)
        return obj.metadata.generation if obj else None

    def _cached(self, request: Request) -> Object | None:
        """The object that a request names, if a cache has it."""
        informer = self._own.primary(request.cluster)
        return None if informer is None else informer.cache.get(request.namespace, request.name)


async def _absorb_cancellation(task: "asyncio.Task[None]") -> None:
    """Undo the cancellation of a pass, so that it does not reach the next pass of the worker."""
    task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.cancelling():
            raise
