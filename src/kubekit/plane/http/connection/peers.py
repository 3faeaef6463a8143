"""The connections of a server, and one coarse clock for all their deadlines.

A timer per connection would be set and cancelled with each request. Instead each connection stores
the time when it started to wait, on a clock that advances once per tick. One sweep per tick checks
all connections. Without connections there is no sweep.
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
_PER_TURN: Final = 32  # connections that write before other events are handled


IsAuthenticated = Callable[[Mapping[str, str], Caller], bool]
"""Whether the headers of a request, or its connection, authenticate it."""


def _accept_all(_headers: Mapping[str, str], _caller: Caller) -> bool:
    """Without authentication."""
    return True


class Peer(Protocol):
    """A connection, as the sweep sees it."""

    def sweep(self, now: float) -> None:
        """Enforce the deadlines."""
        ...

    def retire(self) -> None:
        """Finish the requests in flight, then close."""
        ...

    def abort(self) -> None: ...


class BodyBudget:
    """The limit on the bytes of incomplete bodies of all connections together."""

    __slots__ = ("_left",)

    def __init__(self, most: int) -> None:
        self._left = most

    def reserve(self, size: int) -> bool:
        """Reserve some bytes. Returns whether the limit holds."""
        self._left -= size
        return self._left >= 0

    def release(self, size: int) -> None:
        self._left += size


class Peers:
    """The connections of one server."""

    def __init__(
        self,
        limits: Limits,
        environment: ExecutionEnvironment,
        is_authenticated: IsAuthenticated = _accept_all,
    ) -> None:
        self.is_authenticated = is_authenticated
        self._limits = limits
        self._environment = environment
        self._members: set[Peer] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._empty: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop
        self.buffer = memoryview(bytearray(_BUFFER))
        """The shared read buffer: a connection consumes what it reads before the next one reads."""
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

    def soon(self, callback: Callable[[], None]) -> None:
        """Call it soon, together with a limited number of others per iteration of the loop.

        So an event for thousands of watches does not delay other requests.
        """
        if not self._due:
            self._loop.call_soon(self._call_due)
        self._due.append(callback)

    def join(self, peer: Peer) -> bool:
        """Add a connection. Returns whether it is accepted; a refused one must `leave` too."""
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
        """Close all connections, and abort those that take longer than the drain time."""
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

    def _call_due(self) -> None:
        turn = [self._due.popleft() for _ in range(min(len(self._due), _PER_TURN))]
        if self._due:
            self._loop.call_soon(self._call_due)
        for callback in turn:
            callback()

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
    """A date in HTTP's format, independent of the locale."""
    year, month, day, hour, minute, second, weekday = parts
    text = f"{_DAYS[weekday]}, {day:02} {_MONTHS[month - 1]} {year:04} {hour:02}:{minute:02}:{second:02} GMT"
    return text.encode()
