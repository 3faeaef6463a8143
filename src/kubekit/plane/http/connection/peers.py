"""Everybody who is connected, and one coarse clock for all their deadlines.

A timer for each connection would be set and dropped with each request. Instead each connection
notes when it began to wait, by a clock that moves once a tick, and one sweep looks at them all.
With nobody connected there is no sweep.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Final, Protocol

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Caller

_BUFFER: Final = 256 * 1024
_PER_TURN: Final = 32  # connections that write before others are heard again


Knows = Callable[[Mapping[str, str], Caller], bool]
"""Whether the headers of a request, or whoever sends them, speak for somebody."""


def _everybody(_headers: Mapping[str, str], _caller: Caller) -> bool:
    """Where nobody has to be known."""
    return True


class Peer(Protocol):
    """A connection, as the sweep sees it."""

    def sweep(self, now: float) -> None:
        """Do what is overdue."""
        ...

    def retire(self) -> None:
        """Answer what is under way, then hang up."""
        ...

    def abort(self) -> None: ...


class BodyBudget:
    """How many bytes of unfinished bodies all connections may hold together."""

    __slots__ = ("_left",)

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, size: int) -> bool:
        """Whether there is room for as much again."""
        self._left -= size
        return self._left >= 0

    def give_back(self, size: int) -> None:
        self._left += size


class Peers:
    """The connections of one server."""

    def __init__(
        self, limits: Limits, environment: ExecutionEnvironment, knows: Knows = _everybody
    ) -> None:
        self.knows = knows
        self._limits = limits
        self._environment = environment
        self._members: set[Peer] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._empty: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop
        self.buffer = memoryview(bytearray(_BUFFER))
        """Where a connection reads to; what is read is used up before the next one reads."""
        self.bodies = BodyBudget(limits.bodies)
        self._due: deque[Callable[[], None]] = deque()
        self.now = 0.0
        self.date = b""
        """The Date header, end of line included, with the end of the head after it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def __len__(self) -> int:
        return len(self._members)

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._read_clocks()

    def soon(self, go_on: Callable[[], None]) -> None:
        """Call it soon, with a few others in each turn of the loop.

        So a crowd that hears of something does not keep those waiting who ask for something else.
        """
        if not self._due:
            self._loop.call_soon(self._go_on)
        self._due.append(go_on)

    def join(self, peer: Peer) -> bool:
        """Whether there is room for one more. Also one too many must `leave`."""
        self._members.add(peer)
        if self._timer is None:
            self._read_clocks()
            self._timer = self._loop.call_later(self._limits.tick, self._sweep)
        return len(self._members) <= self._limits.connections

    def leave(self, peer: Peer) -> None:
        self._members.discard(peer)
        if not self._members and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    async def close(self) -> None:
        """Hang up on everybody, politely for as long as a drain may take."""
        self._empty = self._loop.create_future()
        for peer in list(self._members):
            peer.retire()
        if self._members:
            await asyncio.wait([self._empty], timeout=self._limits.drain_time)
        for peer in list(self._members):
            peer.abort()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_on(self) -> None:
        turn = [self._due.popleft() for _ in range(min(len(self._due), _PER_TURN))]
        if self._due:
            self._loop.call_soon(self._go_on)
        for go_on in turn:
            go_on()

    def _sweep(self) -> None:
        self._timer = None
        if not self._members:
            return
        self._read_clocks()
        for peer in list(self._members):
            peer.sweep(self.now)
        self._timer = self._loop.call_later(self._limits.tick, self._sweep)

    def _read_clocks(self) -> None:
        self.now = self._loop.time()
        moment = self._environment.now().astimezone(UTC)
        self.date = b"date: " + _http_date(moment.timetuple()[:7]) + b"\r\n\r\n"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _http_date(parts: tuple[int, ...]) -> bytes:
    """A date as HTTP writes it, which no locale may change."""
    year, month, day, hour, minute, second, weekday = parts
    text = f"{_DAYS[weekday]}, {day:02} {_MONTHS[month - 1]} {year:04} {hour:02}:{minute:02}:{second:02} GMT"
    return text.encode()
