"""The workers of a controller, and the passes they run."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from kubekit.runtime.reconciling.passes import Pass
from kubekit.runtime.requests import ClusterName, Enqueue, Request
from kubekit.runtime.scope import Scope

_log: Final = logging.getLogger(__name__)

TIMED_OUT: Final = "timed out"
CLUSTER_GONE: Final = "cluster disengaged"
_GRACE: Final = 1.0  # seconds to end after a cancellation
_EARLY: Final = 0.001  # seconds by which a loop may be early

Work = Callable[["WorkerPool"], Coroutine[Any, Any, None]]


class WorkerPool:
    """Workers that start and end together, each with at most one pass at a time.

    A pass that is cancelled and does not end is stuck: it keeps its worker, and another worker
    replaces it, so that such passes cannot stop the controller. ``release`` is called with its
    request, which stays reserved until the pass has ended.

    One timer serves all passes: a timer for each pass would often cost more than the pass itself.
    """

    def __init__(self, name: str, work: Work, limit: float, release: Enqueue) -> None:
        self._name = name
        self._work = work
        self._limit = limit
        self._release = release
        self._scope = Scope(name, self._failed)
        self._workers: dict[asyncio.Task[None], None] = {}
        self._passes: dict[Pass, asyncio.Task[None]] = {}  # in the order of their start
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: dict[Request, bool] = {}  # whether it was requested again meanwhile
        self._replaced: dict[asyncio.Task[None], None] = {}
        self._all_ended = asyncio.Event()
        self._stopping = False
        self._failure: BaseException | None = None

    async def run(self, workers: int) -> None:
        """Work until every worker has ended by itself. Cancelling this cancels all at once."""
        try:
            for _ in range(workers):
                self._start()
            await self._all_ended.wait()
        finally:
            await self._stop()
        if self._failure is not None:
            raise self._failure

    async def end(self, limit: float) -> None:
        """Wait for the workers to end, and cancel those that need longer than this."""
        try:
            async with asyncio.timeout(limit):
                await self._all_ended.wait()
        except TimeoutError:
            for pass_ in self._passes:
                self._warn("the running pass is cancelled because the process ends", pass_)
            await self._stop()

    def start(self, pass_: Pass, task: asyncio.Task[None]) -> None:
        """Register a running pass. It is cancelled when it exceeds its time limit."""
        self._passes[pass_] = task
        if self._timer is None:
            self._set_timer(pass_)

    def finish(self, pass_: Pass) -> bool:
        """Remove a pass. Returns whether its request was added again while it was stuck."""
        task = self._passes.pop(pass_)
        return task in self._replaced and self._stuck.pop(pass_.request)

    def is_current(self, task: asyncio.Task[None]) -> bool:
        """Whether a worker is still part of the pool. A worker with a stuck pass is not."""
        return task not in self._replaced

    def defers(self, request: Request) -> bool:
        """Whether a request must wait for the end of a stuck pass, after which it is queued."""
        if request not in self._stuck:
            return False
        self._stuck[request] = True
        return True

    def disengaged(self, cluster: ClusterName) -> None:
        """Cancel the passes of a cluster that was disengaged."""
        for pass_ in list(self._passes):
            if pass_.request.cluster == cluster:
                self._stop_pass(pass_, CLUSTER_GONE)

    def _start(self) -> None:
        task = self._scope.spawn(self._work(self), "worker")
        self._workers[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._workers[task]
        self._replaced.pop(task, None)
        if not self._workers:
            self._all_ended.set()

    def _failed(self, task: str, why: BaseException) -> None:
        """End all workers: a worker that fails outside of a pass affects every request."""
        self._failure = why
        self._all_ended.set()

    def _set_timer(self, first: Pass) -> None:
        when = first.started + self._limit
        self._timer = asyncio.get_running_loop().call_at(when, self._expire)

    def _expire(self) -> None:
        """Cancel the passes that exceed their time limit, and set the timer for the next."""
        self._timer = None
        started = asyncio.get_running_loop().time() - self._limit + _EARLY
        for pass_ in [pass_ for pass_ in self._passes if not pass_.stopped]:
            if pass_.started > started:
                self._set_timer(pass_)
                return
            self._stop_pass(pass_, TIMED_OUT)

    def _stop_pass(self, pass_: Pass, why: str) -> None:
        if not pass_.stopped:
            pass_.stopped = why
            self._passes[pass_].cancel()
            asyncio.get_running_loop().call_later(_GRACE, self._replace, pass_)

    def _replace(self, pass_: Pass) -> None:
        if pass_ in self._passes and not self._stopping:
            self._warn("the pass does not end: another worker replaces its own", pass_)
            self._replaced[self._passes[pass_]] = None
            self._stuck[pass_.request] = False
            self._release(pass_.request)
            self._start()

    async def _stop(self) -> None:
        """Cancel all remaining workers at once, and give them a moment."""
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        remaining = list(reversed(self._workers))
        for task in remaining:
            task.cancel()
        if remaining:
            await asyncio.wait(remaining, timeout=_GRACE)
        for pass_ in self._passes:
            pass_.finished = True
            self._warn(
                "the pass does not end after its cancellation; it cannot write any more", pass_
            )

    def _warn(self, message: str, pass_: Pass) -> None:
        seconds = asyncio.get_running_loop().time() - pass_.started
        about = {"controller": self._name, "request": str(pass_.request), "pass": pass_.number}
        _log.warning(message, extra=about | {"seconds": round(seconds, 3)})
