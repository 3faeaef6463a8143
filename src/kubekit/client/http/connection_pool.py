"""Connections that are used again, and never more than so many at once."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from kubekit.client.http.connections import HttpConnection
from kubekit.client.http.failures import NotSent

_GOODBYE: Final = 1.0  # seconds that connections have to close properly


class Pool:
    """Wires to one server. Who takes one gives it back, in whatever state it is."""

    def __init__(
        self, dial: Callable[[], Awaitable[HttpConnection]], most: int, kept: float
    ) -> None:
        self._dial = dial
        self._most = most
        self._kept = kept
        self._places = asyncio.Semaphore(most)
        self._idle: deque[HttpConnection] = deque()
        self._all: dict[HttpConnection, int] = {}  # until they are gone, each with its edition
        self._edition = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._is_closed = False

    async def take(self, until: float) -> HttpConnection:
        """A wire that can be used; a new one if none is idle. It raises `NotSent`."""
        await self._place(until)
        try:
            return self._found() or await self._new()
        except BaseException:
            self._places.release()
            raise

    def give(self, wire: HttpConnection) -> None:
        self._places.release()
        if wire.is_idle and not self._is_closed and self._all.get(wire) == self._edition:
            self._keep(wire)
        else:
            wire.abort()

    def renew(self) -> None:
        """Let all requests from now on have new connections; those in use are not kept."""
        self._edition += 1
        self.drop_idle()

    def drop_idle(self) -> None:
        """Let the next requests have new connections."""
        while self._idle:
            self._idle.pop().close()

    async def close(self) -> None:
        """Close all, also those in use, and wait until they are."""
        self._is_closed = True
        if self._sweeping:
            self._sweeping.cancel()
        idle = dict.fromkeys(self._idle)
        self.drop_idle()
        for wire in list(self._all):
            if wire not in idle:
                wire.abort()
        await self._gone(_GOODBYE)
        for wire in list(self._all):
            wire.abort()
        await self._gone()

    async def _gone(self, seconds: float | None = None) -> None:
        if self._all:
            await asyncio.wait([wire.gone for wire in self._all], timeout=seconds)

    async def _new(self) -> HttpConnection:
        edition = self._edition  # of what is dialled with now
        wire = await self._dial()
        self._all[wire] = edition
        wire.gone.add_done_callback(lambda _: self._all.pop(wire))
        if self._is_closed:
            wire.abort()
        return wire

    async def _place(self, until: float) -> None:
        if self._is_closed:
            raise NotSent("the client was closed", hopeless=True)
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout_at(until):
                await self._places.acquire()
        except TimeoutError:
            why = f"all {self._most} connections were in use all the time"
            advice = "allow more connections, or ask less at once"
            raise NotSent(why, advice, hopeless=True) from None

    def _keep(self, wire: HttpConnection) -> None:
        loop = asyncio.get_running_loop()
        wire.idle_since = loop.time()
        self._idle.append(wire)
        if self._sweeping is None:
            self._sweeping = loop.call_later(self._kept, self._sweep)

    def _sweep(self) -> None:
        """Close what nobody needed for long, and look again when the next is due."""
        loop = asyncio.get_running_loop()
        expired = loop.time() - self._kept
        while self._idle and self._idle[0].idle_since <= expired:
            self._idle.popleft().close()
        due = self._idle[0].idle_since + self._kept if self._idle else None
        self._sweeping = None if due is None else loop.call_at(due, self._sweep)

    def _found(self) -> HttpConnection | None:
        """The wire that was used last, if it still can be."""
        while self._idle:
            wire = self._idle.pop()
            if wire.is_usable:
                return wire
            wire.abort()
        return None
