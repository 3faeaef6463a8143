"""Fair queuing between planes under load, like Kubernetes' API Priority and Fairness.

Each plane has a queue. The seats of the server are limited, and so are the seats of each plane. A
change runs at once while there is a free seat. Otherwise it waits in the queue of its plane, and free
seats go to the queues in round-robin order. So a plane with a thousand changes delays another plane
by one change, not by a thousand. Reads and watches take no seat: they are answered from memory, and
cost less than queuing would.

A change that awaits a task waits for another server, such as a webhook. It releases its seat
meanwhile. Otherwise webhooks that hang would stop all planes, and a webhook that writes to the plane
that called it could deadlock.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kubekit.api.errors import TooManyRequests
from kubekit.api.status import StatusDetails

T = TypeVar("T")

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessLimits:
    """The limits on concurrent and on queued requests. Times in seconds."""

    in_flight: int = 256  # changes of all planes together
    per_plane: int = 64
    queue_length: int = 1024  # changes of one plane
    queue_timeout: float = 15.0  # before a queued change is refused
    rate: float = 0.0  # requests of one plane in a second; 0 for no limit
    burst: int = 100  # requests of one plane at once, if there is a rate
    watches: int = 10_000  # of one plane


_DEFAULTS: Final = FairnessLimits()


class Fairness:
    """The seats of one server."""

    def __init__(self, limits: FairnessLimits = _DEFAULTS, clock: Clock = time.monotonic) -> None:
        self.limits = limits
        self.clock = clock
        self.free = limits.in_flight
        self._order: deque[PlaneQueue] = deque()

    def queue(self) -> "PlaneQueue":
        """A queue for one more plane."""
        return PlaneQueue(self)

    def enqueue(self, queue: "PlaneQueue") -> None:
        """Add a queue to the round-robin order, unless it is in it."""
        if not queue.scheduled:
            queue.scheduled = True
            self._order.append(queue)

    def dispatch(self) -> None:
        """Give the free seats to the queues, in round-robin order."""
        while self.free > 0 and self._order:
            queue = self._order.popleft()
            queue.scheduled = False
            if queue.seat_next() and queue.can_dispatch:
                self.enqueue(queue)


class PlaneQueue:
    """The changes of one plane: in flight, queued, or ``suspended`` while they wait for a task."""

    __slots__ = (
        "_bucket",
        "_fairness",
        "_max_seats",
        "_queue",
        "in_flight",
        "refused",
        "scheduled",
        "suspended",
    )

    def __init__(self, fairness: Fairness) -> None:
        limits = fairness.limits
        self._fairness = fairness
        self._max_seats = limits.per_plane
        self._queue: deque[_Waiter] = deque()
        self._bucket = _TokenBucket(limits, fairness.clock) if limits.rate else None
        self.suspended = 0
        self.scheduled = False
        self.in_flight = 0
        self.refused = 0

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def can_dispatch(self) -> bool:
        return bool(self._queue) and self.in_flight < self._max_seats

    def check_rate(self) -> None:
        """Refuse a request that exceeds the rate limit of the plane, if it has one."""
        if self._bucket is not None and (seconds := self._bucket.wait()):
            rate = self._fairness.limits.rate
            raise self._refusal(f"this plane answers {rate:g} requests a second", seconds)

    def check_watches(self, open_: int) -> None:
        """Refuse a watch that exceeds the limit of the plane."""
        most = self._fairness.limits.watches
        if open_ >= most:
            raise self._refusal(f"this plane has {most} watches open already", 1)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the work, which runs once it has a seat. `TooManyRequests` without one."""
        fairness = self._fairness
        is_idle = not self._queue and self.suspended < fairness.limits.queue_length
        if is_idle and fairness.free > 0 and self.in_flight < self._max_seats:
            fairness.free -= 1
            self.in_flight += 1
        else:
            try:
                await self._wait_for_seat()
            except BaseException:
                work.close()
                raise
        try:
            return await _Seated(self, work)
        finally:
            self._release()

    def release_seat(self) -> None:
        """Give the seat to others until `take_seat_back`."""
        self.suspended += 1
        self._release()

    def take_seat_back(self) -> None:
        """Continue without queuing: a change that has started comes before new ones."""
        self.suspended -= 1
        self.in_flight += 1
        self._fairness.free -= 1

    def seat_next(self) -> bool:
        """Whether a queued change got a seat. Cancelled and timed out ones are skipped."""
        deadline = self._fairness.clock() - self._fairness.limits.queue_timeout
        while self._queue:
            waiter = self._queue.popleft()
            if waiter.seat.done():
                continue
            if waiter.since < deadline:
                waiter.seat.set_exception(self._refusal("the request waited too long", 1))
                continue
            self._fairness.free -= 1
            self.in_flight += 1
            waiter.seat.set_result(None)
            return True
        return False

    async def _wait_for_seat(self) -> None:
        fairness = self._fairness
        waiting = len(self._queue) + self.suspended
        if waiting >= fairness.limits.queue_length:
            raise self._refusal(f"{waiting} requests of this plane wait already", 1)
        seat = asyncio.get_running_loop().create_future()
        waiter = _Waiter(seat, fairness.clock())
        self._queue.append(waiter)
        if self.can_dispatch:
            fairness.enqueue(self)
        try:
            await seat
        except asyncio.CancelledError:
            # The change may have got its seat just before the cancellation.
            if not seat.cancelled() and seat.exception() is None:
                self._release()
            with suppress(ValueError):
                self._queue.remove(waiter)
            raise

    def _release(self) -> None:
        fairness = self._fairness
        self.in_flight -= 1
        fairness.free += 1
        if self._queue:
            fairness.enqueue(self)
        fairness.dispatch()

    def _refusal(self, why: str, seconds: int) -> TooManyRequests:
        self.refused += 1
        details = StatusDetails(retry_after_seconds=seconds)
        return TooManyRequests(f"{why}; try again in {seconds} s", details)


class _Seated(Generic[T]):
    """Work that has a seat, except while it waits for a task."""

    __slots__ = ("_queue", "_work")

    def __init__(self, queue: PlaneQueue, work: Coroutine[Any, Any, T]) -> None:
        self._queue = queue
        self._work = work

    def __await__(self) -> Generator[Any, None, T]:
        step: Callable[[Any], Any] = self._work.send
        value: BaseException | None = None
        while True:
            try:
                waits_for = step(value)
            except StopIteration as end:
                result: T = end.value
                return result
            is_suspended = isinstance(waits_for, asyncio.Task)
            if is_suspended:
                self._queue.release_seat()
            try:
                yield waits_for
            except BaseException as problem:  # noqa: BLE001 - the work handles it
                step, value = self._work.throw, problem
            else:
                step, value = self._work.send, None
            finally:
                if is_suspended:
                    self._queue.take_seat_back()


@dataclass(slots=True, eq=False)
class _Waiter:
    seat: asyncio.Future[None]
    since: float


class _TokenBucket:
    """A token bucket: a burst, refilled at a rate."""

    __slots__ = ("_burst", "_clock", "_left", "_rate", "_since")

    def __init__(self, limits: FairnessLimits, clock: Clock) -> None:
        self._rate, self._burst = limits.rate, float(limits.burst)
        self._clock = clock
        self._left, self._since = self._burst, clock()

    def wait(self) -> int:
        """Take a token: 0, or the seconds until there is one."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._since) * self._rate)
        self._since = now
        if self._left >= 1:
            self._left -= 1
            return 0
        return math.ceil((1 - self._left) / self._rate)
