"""Connections that are reused, with a limit on their number."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.failures import NotSent

_GOODBYE: Final = 1.0  # seconds that connections have to close properly


class Pool:
    """Connections to one server. Each connection that is taken must be given back, even a broken one."""

    def __init__(
        self, dial: Callable[[], Awaitable[HttpConnection]], most: int, idle_timeout: float
    ) -> None:
        self._dial = dial
        self._most = most
        self._idle_timeout = idle_timeout
        self._slots = asyncio.Semaphore(most)
        self._idle: deque[HttpConnection] = deque()
        self._all: dict[HttpConnection, int] = {}  # until they are closed, each with its generation
        self._taken = 0  # connections in use, and callers that wait for one
        self._generation = 0
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def is_unused(self) -> bool:
        """Whether it has no connections, and no caller waits for one."""
        return not (self._all or self._taken)

    async def take(self, until: float) -> HttpConnection:
        """A usable connection; a new one if none is idle. It raises `NotSent`."""
        self._taken += 1
        try:
            await self._acquire_slot(until)
            try:
                return self._usable_idle() or await self._open()
            except BaseException:
                self._slots.release()
                raise
        except BaseException:
            self._taken -= 1
            raise

    def give(self, connection: HttpConnection) -> None:
        self._taken -= 1
        self._slots.release()
        if (
            connection.is_idle
            and not self._is_closed
            and self._all.get(connection) == self._generation
        ):
            self._keep(connection)
        else:
            connection.abort()

    def renew(self) -> None:
        """Give all later requests new connections. Connections in use are closed after their request."""
        self._generation += 1
        self.drop_idle()

    def drop_idle(self) -> None:
        """Give the next requests new connections."""
        while self._idle:
            self._idle.pop().close()

    async def close(self) -> None:
        """Close all connections, also those in use, and wait until they are closed."""
        self._is_closed = True
        if self._sweep_timer:
            self._sweep_timer.cancel()
        idle = dict.fromkeys(self._idle)
        self.drop_idle()
        for connection in list(self._all):
            if connection not in idle:
                connection.abort()
        await self._wait_closed(_GOODBYE)
        for connection in list(self._all):
            connection.abort()
        await self._wait_closed()

    async def _wait_closed(self, seconds: float | None = None) -> None:
        if self._all:
            await asyncio.wait([connection.gone for connection in self._all], timeout=seconds)

    async def _open(self) -> HttpConnection:
        generation = self._generation  # of the credentials that this connection uses
        connection = await self._dial()
        self._all[connection] = generation
        connection.gone.add_done_callback(lambda _: self._all.pop(connection))
        if self._is_closed:
            connection.abort()
        return connection

    async def _acquire_slot(self, until: float) -> None:
        if self._is_closed:
            raise NotSent("the client was closed", hopeless=True)
        if not self._slots.locked():
            await self._slots.acquire()
            return
        try:
            async with asyncio.timeout_at(until):
                await self._slots.acquire()
        except TimeoutError:
            why = f"all {self._most} connections were in use all the time"
            advice = "allow more connections, or send fewer requests at once"
            raise NotSent(why, advice, hopeless=True) from None

    def _keep(self, connection: HttpConnection) -> None:
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.append(connection)
        if self._sweep_timer is None:
            self._sweep_timer = loop.call_later(self._idle_timeout, self._sweep)

    def _sweep(self) -> None:
        """Close connections that were idle for too long, and schedule the next sweep."""
        loop = asyncio.get_running_loop()
        expired = loop.time() - self._idle_timeout
        while self._idle and self._idle[0].idle_since <= expired:
            self._idle.popleft().close()
        due = self._idle[0].idle_since + self._idle_timeout if self._idle else None
        self._sweep_timer = None if due is None else loop.call_at(due, self._sweep)

    def _usable_idle(self) -> HttpConnection | None:
        """The connection that was used last, if it is still usable."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
            connection.abort()
        return None
