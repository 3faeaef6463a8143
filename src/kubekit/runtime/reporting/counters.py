"""The counters of controllers and informers: plain numbers, which a scrape reads."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import Final, Protocol

from kubekit.runtime.requests import ClusterName, Request

# The bounds of controller-runtime.
PASS_SECONDS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6),
    *(0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0),
    *(8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
_WINDOW: Final = 60.0


class PassResult(StrEnum):
    """The outcome of a pass, as controller-runtime names it."""

    SUCCESS = "success"
    ERROR = "error"
    REQUEUE = "requeue"
    REQUEUE_AFTER = "requeue_after"


class DurationHistogram:
    """A histogram. Plain numbers, because they are counted far more often than read."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # one for each bound, and what is above the last
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """The cumulative counts, each with its bound, as Prometheus expects them."""
        names = (*(f"{bound:g}" for bound in self.bounds), "+Inf")
        return list(zip(names, map(float, accumulate(self.counts)), strict=True))


class BusiestObject:
    """The object with the most passes in a minute, which makes a hot loop visible in a metric.

    A label for each object would be too many. Counts are kept for the running minute only, and
    the largest of the minute before is remembered, so that no scrape misses it.
    """

    __slots__ = ("_before", "_counts", "_most", "started")

    def __init__(self) -> None:
        self.started = 0.0  # the running minute
        self._counts: dict[Request, int] = {}
        self._most: tuple[int, Request | None] = (0, None)
        self._before: tuple[int, Request | None] = (0, None)

    def add(self, request: Request, now: float) -> int:
        """Count one pass at this loop time. Returns the passes of the request in its minute."""
        self._rotate(now)
        count = self._counts[request] = self._counts.get(request, 0) + 1
        if count > self._most[0]:
            self._most = (count, request)
        return count

    def most(self, now: float) -> tuple[int, Request | None]:
        """The count and the object, in the running minute or the one before it."""
        self._rotate(now)
        return self._most if self._most[0] >= self._before[0] else self._before

    def _rotate(self, now: float) -> None:
        if now - self.started < _WINDOW:
            return
        nothing: tuple[int, Request | None] = (0, None)
        self._before = self._most if now - self.started < 2 * _WINDOW else nothing
        self._most = nothing
        self._counts = {}
        self.started = now - now % _WINDOW


@dataclass(slots=True)
class ControllerCounters:
    """The counters of one controller. Its parts count here directly."""

    workers: int = 0
    active: int = 0
    results: dict[PassResult, int] = field(
        default_factory=lambda: dict.fromkeys(PassResult, 0)
    )  # every result from the start: a rate needs a first value
    errors: int = 0
    terminal: int = 0
    panics: int = 0
    timeouts: int = 0
    dropped: int = 0  # requests for a cluster that is not engaged
    own_write_waits: int = 0
    write_conflicts: int = 0
    seconds: DurationHistogram = field(default_factory=lambda: DurationHistogram(PASS_SECONDS))
    busiest: BusiestObject = field(default_factory=BusiestObject)

    def ended(self, result: PassResult, seconds: float) -> None:
        """Count the end of a pass."""
        self.results[result] += 1
        self.seconds.add(seconds)
        if result is PassResult.ERROR:
            self.errors += 1


@dataclass(frozen=True, slots=True)
class InformerCounters:
    """The numbers of one informer at this moment."""

    cluster: ClusterName
    kind: str
    objects: int
    relists: int
    unreadable: int
    synced: bool
    served: bool
    role: str = ""  # the name of a cluster is unique within its role only


class QueueCounters(Protocol):
    """The numbers of a work queue."""

    adds: int
    retries: int
    queued: DurationHistogram
    worked: DurationHistogram

    def __len__(self) -> int: ...
    @property
    def unfinished_seconds(self) -> float: ...
    @property
    def longest_running_seconds(self) -> float: ...
    @property
    def delayed(self) -> int: ...
    @property
    def oldest_age(self) -> float: ...
