"""The outcome of a pass, and the requeue that follows from it.

    Result                   done, or requeued after the time it names
    Conflict, AlreadyExists  a race: requeued quickly; no error until it happens many times in a row
    NotEngaged               dropped if it is the cluster of the request; for another cluster, which
                             may still be engaged, requeued with backoff
    TerminalError            an error that is not retried
    WriteConflictLoop        requeued for the time when the object may be written again; until then
                             watch events start a pass only now and then
    NotLeading               requeued for the next leader
    NamespaceTerminating     a refused creation where nothing can be created any more: requeued with
                             backoff, and no error
    anything else            an error: requeued with backoff

For an exception group, the member with the greatest need of a retry decides.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from kubekit.api.errors import (
    NAMESPACE_TERMINATING,
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
)
from kubekit.runtime.queueing.backoff import RequestBackoff
from kubekit.runtime.reconciling.passes import NotLeading
from kubekit.runtime.reconciling.write_conflicts import WriteConflictLoop
from kubekit.runtime.reporting.counters import ControllerCounters, PassResult
from kubekit.runtime.requests import ClusterName, NotEngaged, Request, Result, TerminalError

_SOONEST: Final = 0.001  # seconds; a requeue "now", over and over, must not stop the clock
_FIRST_RACE: Final = 0.02  # seconds
_RACES: Final = 5  # in a row; more losses than this are not chance
# Seconds between two passes that are stopped by a write conflict loop: the first, and the most. Each
# reads live up to the write that is not sent, and a competing writer may cause ten a second.
_BLOCKED_PAUSES: Final = (1.0, 15.0)
# Failures of the environment; every other exception is a fault of the program.
_EXPECTED: Final = (ApiError, OSError)


@dataclass(frozen=True, slots=True)
class PassOutcome:
    """The outcome of a pass. ``requeue_after`` are the seconds until the next one, if any."""

    label: str
    result: PassResult
    requeue_after: float | None = None
    error: BaseException | None = None

    @property
    def failed(self) -> bool:
        return self.result is PassResult.ERROR


DONE: Final = PassOutcome("done", PassResult.SUCCESS)
CANCELLED: Final = PassOutcome("cancelled", PassResult.REQUEUE, requeue_after=0.0)
DISENGAGED: Final = PassOutcome("not engaged", PassResult.SUCCESS)


class PassOutcomes:
    """Judges the passes of one controller, and counts the failures of each request."""

    def __init__(
        self, backoff: RequestBackoff, chance: Random, counters: ControllerCounters
    ) -> None:
        self._backoff = backoff
        self._counters = counters
        self._races = RequestBackoff(chance, _FIRST_RACE)  # counts those in a row
        self._blocked = RequestBackoff(chance, *_BLOCKED_PAUSES)
        self._blocked_until: dict[Request, float] = {}

    def blocked(self, request: Request, now: float) -> float:
        """Seconds until the next pass of a request that a write conflict loop stopped; else 0."""
        until = self._blocked_until.get(request) if self._blocked_until else None
        return 0.0 if until is None else max(until - now, 0.0)

    def succeeded(self, request: Request, result: Result) -> PassOutcome:
        """The outcome of a pass that returned."""
        if not isinstance(result, Result):  # a type checker would have found it
            raise TypeError(f"reconcile returned {result!r}; return DONE or a Result")
        after = result.requeue_after
        self._forget(request)
        if after is None:
            return DONE
        seconds = max(after.total_seconds(), _SOONEST)
        return PassOutcome("requeue after", PassResult.REQUEUE_AFTER, seconds)

    def failed_with(self, request: Request, error: BaseException) -> PassOutcome:
        """The outcome of a pass that raised."""
        match max(_leaves(error), key=_urgency):
            case NotEngaged() as leaf:
                outcome = self._not_engaged(request, leaf)
            case TerminalError() as leaf:
                self._forget(request)
                self._counters.terminal += 1
                outcome = PassOutcome("terminal error", PassResult.ERROR, None, leaf)
            case WriteConflictLoop() as leaf:
                outcome = self._stopped_by_conflicts(request, leaf)
            case NotLeading() as leaf:
                outcome = PassOutcome("not leading", PassResult.REQUEUE, 0.0, leaf)
            case (Conflict() | AlreadyExists()) as leaf if self._races.failures(request) < _RACES:
                outcome = PassOutcome("race", PassResult.REQUEUE, self._races.next(request), leaf)
            case leaf if _is_terminating(leaf):
                after = self._backoff.next(request)
                outcome = PassOutcome("namespace terminating", PassResult.REQUEUE, after, leaf)
            case leaf:
                self._counters.panics += not isinstance(leaf, _EXPECTED)
                outcome = PassOutcome("error", PassResult.ERROR, self._backoff.next(request), error)
        return outcome

    def timed_out(self, request: Request, limit: float) -> PassOutcome:
        """The outcome of a pass that exceeded its time limit."""
        self._counters.timeouts += 1
        error = TimeoutError(f"the pass took longer than {limit:g} s")
        return PassOutcome("timeout", PassResult.ERROR, self._backoff.next(request), error)

    def drop(self, cluster: ClusterName) -> None:
        """Forget the requests of a cluster."""
        self._backoff.drop(cluster)
        self._races.drop(cluster)
        self._blocked.drop(cluster)
        for request in [blocked for blocked in self._blocked_until if blocked.cluster == cluster]:
            del self._blocked_until[request]

    def _stopped_by_conflicts(self, request: Request, error: WriteConflictLoop) -> PassOutcome:
        """The outcome of a pass that a write conflict loop stopped."""
        remaining = max(error.seconds_left, _SOONEST)
        pause = min(self._blocked.next(request), remaining)
        self._blocked_until[request] = asyncio.get_running_loop().time() + pause
        return PassOutcome("write conflict loop", PassResult.REQUEUE_AFTER, remaining, error)

    def _not_engaged(self, request: Request, error: NotEngaged) -> PassOutcome:
        """The outcome of a pass without its cluster: its own is gone; another may still be engaged."""
        if error.cluster != request.cluster:
            requeue_after = self._backoff.next(request)
            return PassOutcome("not engaged yet", PassResult.REQUEUE, requeue_after, error)
        self._forget(request)
        return DISENGAGED

    def _forget(self, request: Request) -> None:
        self._backoff.forget(request)
        self._races.forget(request)
        if self._blocked_until.pop(request, None) is not None:
            self._blocked.forget(request)


# From the least need of a retry to the greatest; every other error ranks above these.
_URGENCY: Final[tuple[tuple[type[BaseException], ...], ...]] = (
    (NotEngaged,),
    (TerminalError,),
    (WriteConflictLoop,),
    (Conflict, AlreadyExists),
)


def _urgency(error: BaseException) -> int:
    """The rank of an exception by its need of a retry. A lost lease ranks highest."""
    if isinstance(error, NotLeading):
        return len(_URGENCY) + 2
    for rank, kinds in enumerate(_URGENCY):
        if isinstance(error, kinds):
            return rank
    return len(_URGENCY) + (not _is_terminating(error))


def _is_terminating(error: BaseException) -> bool:
    """Whether something was to be created in a namespace that is being deleted."""
    return isinstance(error, Forbidden) and error.has_cause(NAMESPACE_TERMINATING)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    pending = [error]
    while pending:
        exception = pending.pop()
        if isinstance(exception, BaseExceptionGroup):
            pending.extend(reversed(exception.exceptions))
        else:
            yield exception
