"""Fair turns between planes when more is asked than can be done at once.

Each plane has a lane. A change is worked on at once while there are seats: so many for the whole
server, and no more than so many for one plane. Otherwise it waits in its plane's own queue, and
whenever a seat is free the planes take turns, so one that asks for a thousand changes delays
another by one turn and not by a thousand. Reads and watches take no seat: they are answered from
memory, and cost less than waiting for a turn would.

Whoever waits for a task waits for somebody else, as for a webhook, and not for this server. He has
no seat meanwhile: webhooks that hang would else stop all planes, and one that writes to the plane
it is asked by would wait for its own end.
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
class Shares:
    """How much may go on at once, and how many may wait for it. Times in seconds."""

    in_work: int = 256  # changes of all planes together
    per_plane: int = 64
    waiting: int = 1024  # changes of one plane
    patience: float = 15.0  # for a turn, before it is refused
    rate: float = 0.0  # requests of one plane in a second; 0 for any number
    burst: int = 100  # requests of one plane at once, where there is a rate
    watches: int = 10_000  # of one plane


_DEFAULTS: Final = Shares()


class Fairness:
    """The seats of one server."""

    def __init__(self, shares: Shares = _DEFAULTS, clock: Clock = time.monotonic) -> None:
        self.shares = shares
        self.clock = clock
        self.free = shares.in_work
        self._turns: deque[Lane] = deque()

    def lane(self) -> "Lane":
        """The lane of one more plane."""
        return Lane(self)

    def line_up(self, lane: "Lane") -> None:
        """Let a lane have its turns. Each is in the line at most once."""
        if not lane.in_line:
            lane.in_line = True
            self._turns.append(lane)

    def go_on(self) -> None:
        """Give free seats away, one lane after the other."""
        while self.free > 0 and self._turns:
            lane = self._turns.popleft()
            lane.in_line = False
            if lane.seat_next() and lane.may_line_up:
                self.line_up(lane)


class Lane:
    """The changes of one plane: those in work, those that wait, and those ``away`` meanwhile."""

    __slots__ = ("_bucket", "_fairness", "_most", "_queue", "away", "in_line", "in_work", "refused")

    def __init__(self, fairness: Fairness) -> None:
        shares = fairness.shares
        self._fairness = fairness
        self._most = shares.per_plane
        self._queue: deque[_Waiter] = deque()
        self._bucket = _Bucket(shares, fairness.clock) if shares.rate else None
        self.away = 0
        self.in_line = False
        self.in_work = 0
        self.refused = 0

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def may_line_up(self) -> bool:
        return bool(self._queue) and self.in_work < self._most

    def check_rate(self) -> None:
        """Refuse a request of a plane that asks more often than it may, where there is a limit."""
        if self._bucket is not None and (seconds := self._bucket.wait()):
            rate = self._fairness.shares.rate
            raise self._refusal(f"this plane answers {rate:g} requests a second", seconds)

    def check_watches(self, open_: int) -> None:
        """Refuse one more watch than a plane may have."""
        most = self._fairness.shares.watches
        if open_ >= most:
            raise self._refusal(f"this plane has {most} watches open already", 1)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work results in, once it has had its turn. `TooManyRequests` if it gets none."""
        fairness = self._fairness
        is_quiet = not self._queue and self.away < fairness.shares.waiting
        if is_quiet and fairness.free > 0 and self.in_work < self._most:
            fairness.free -= 1
            self.in_work += 1
        else:
            try:
                await self._turn()
            except BaseException:
                work.close()
                raise
        try:
            return await _Seated(self, work)
        finally:
            self._leave()

    def step_out(self) -> None:
        """Let others have the seat until `step_in`."""
        self.away += 1
        self._leave()

    def step_in(self) -> None:
        """Go on without waiting for a turn: what is half done is brought to its end first."""
        self.away -= 1
        self.in_work += 1
        self._fairness.free -= 1

    def seat_next(self) -> bool:
        """Whether somebody took a seat. Those who went away or waited too long are passed over."""
        latest = self._fairness.clock() - self._fairness.shares.patience
        while self._queue:
            waiter = self._queue.popleft()
            if waiter.seat.done():
                continue
            if waiter.since < latest:
                waiter.seat.set_exception(self._refusal("the request waited too long", 1))
                continue
            self._fairness.free -= 1
            self.in_work += 1
            waiter.seat.set_result(None)
            return True
        return False

    async def _turn(self) -> None:
        fairness = self._fairness
        waiting = len(self._queue) + self.away
        if waiting >= fairness.shares.waiting:
            raise self._refusal(f"{waiting} requests of this plane wait already", 1)
        seat = asyncio.get_running_loop().create_future()
        waiter = _Waiter(seat, fairness.clock())
        self._queue.append(waiter)
        if self.may_line_up:
            fairness.line_up(self)
        try:
            await seat
        except asyncio.CancelledError:
            # The seat may have been given just as its taker went away.
            if not seat.cancelled() and seat.exception() is None:
                self._leave()
            with suppress(ValueError):
                self._queue.remove(waiter)
            raise

    def _leave(self) -> None:
        fairness = self._fairness
        self.in_work -= 1
        fairness.free += 1
        if self._queue:
            fairness.line_up(self)
        fairness.go_on()

    def _refusal(self, why: str, seconds: int) -> TooManyRequests:
        self.refused += 1
        details = StatusDetails(retry_after_seconds=seconds)
        return TooManyRequests(f"{why}; try again in {seconds} s", details)


class _Seated(Generic[T]):
    """Work that has a seat, but not while it waits for a task."""

    __slots__ = ("_lane", "_work")

    def __init__(self, lane: Lane, work: Coroutine[Any, Any, T]) -> None:
        self._lane = lane
        self._work = work

    def __await__(self) -> Generator[Any, None, T]:
        step: Callable[[Any], Any] = self._work.send
        told: BaseException | None = None
        while True:
            try:
                waits_for = step(told)
            except StopIteration as end:
                result: T = end.value
                return result
            is_away = isinstance(waits_for, asyncio.Task)
            if is_away:
                self._lane.step_out()
            try:
                yield waits_for
            except BaseException as problem:  # noqa: BLE001 - it is the work's to deal with
                step, told = self._work.throw, problem
            else:
                step, told = self._work.send, None
            finally:
                if is_away:
                    self._lane.step_in()


@dataclass(slots=True, eq=False)
class _Waiter:
    seat: asyncio.Future[None]
    since: float


class _Bucket:
    """So many requests at once, and so many more as time goes by."""

    __slots__ = ("_burst", "_clock", "_left", "_rate", "_since")

    def __init__(self, shares: Shares, clock: Clock) -> None:
        self._rate, self._burst = shares.rate, float(shares.burst)
        self._clock = clock
        self._left, self._since = self._burst, clock()

    def wait(self) -> int:
        """0 for a request that may go on, else the seconds until one may."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._since) * self._rate)
        self._since = now
        if self._left >= 1:
            self._left -= 1
            return 0
        return math.ceil((1 - self._left) / self._rate)
