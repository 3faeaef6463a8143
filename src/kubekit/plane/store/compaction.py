"""Compaction: removes the history that is older than the window, one piece at a time.

A piece is one short transaction, so waiting writes run between two pieces. The timer runs only
while there is history to remove: an idle plane does no work.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial

from kubekit.plane.store.errors import WritesStopped
from kubekit.plane.store.log import Log
from kubekit.plane.store.records import milliseconds
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.store.state import StoreState
from kubekit.plane.store.writer import Writer, run_job

_PIECE = 1000  # revisions
_TICKS = 5  # per window


class Compaction:
    """Keeps the log of one store within its window."""

    def __init__(
        self,
        log: Log,
        state: StoreState,
        writer: Writer,
        settings: StoreSettings,
        now: Callable[[], datetime],
    ) -> None:
        self._log = log
        self._state = state
        self._writer = writer
        self._settings = settings
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._refused = False
        self._limit = settings.window_revisions + settings.window_revisions // 10

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def consider(self) -> None:
        """Start a compaction if one is due. Called after every publication."""
        if self._task is not None or self._stopped or self._log.stopped is not None:
            return
        kept = self._state.revision - self._state.compacted
        if kept > self._limit and not self._refused:
            self._start()
        elif kept and self._timer is None:
            delay = self._settings.window.total_seconds() / _TICKS
            self._timer = self._loop.call_later(delay, self._start)

    async def run(self, until: int | None = None) -> None:
        """Remove the history up to that revision, or the history that is older than the window."""
        if until is None:
            until = await run_job(self._writer, partial(self._due, milliseconds(self._now())))
        while self._state.compacted < until and not self._stopped:
            piece = min(until, self._state.compacted + _PIECE)
            self._state.compact(await run_job(self._writer, partial(self._log.compact, piece)))

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._refused = False
        self._task = self._loop.create_task(self._in_background())

    async def _in_background(self) -> None:
        """Run once. If writes fail, the next tick retries."""
        try:
            await self.run()
        except WritesStopped:
            self._refused = True
        finally:
            self._task = None
        self.consider()

    def _due(self, now: int) -> int:
        window = round(self._settings.window.total_seconds() * 1000)
        return max(
            self._log.older_than(now - window), self._log.revision - self._settings.window_revisions
        )
