"""Who did what: one line for each request that may change something, or was refused.

    audit = Audit(AuditFile(data / "audit.log"), asyncio.get_running_loop())
    audit.record(Entry(...))
    await audit.close()

To record costs the request next to nothing: what gathers within a tenth of a second is encoded and
written together by a thread. Where it cannot be written, requests go on, and what is lost is counted
and told; a server that must not go on so says ``required`` and asks `Audit.check` first.
"""

import asyncio
import logging
import os
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from threading import Thread
from typing import Final

from kubekit.api.errors import Unavailable
from kubekit.plane.http.audit.audit_file import AuditFile
from kubekit.plane.http.audit.audit_lines import AuditEntry, line

__all__ = ["HEADER", "Audit", "AuditCounts", "AuditEntry", "AuditFile", "is_due"]

HEADER: Final = "audit-id"
_MUTATING: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_REFUSED: Final = frozenset({401, 403})
_SOON: Final = 0.1  # seconds
_AT_ONCE: Final = 1000  # entries
_MOST: Final = 100_000  # entries that wait for a slow disk
_log: Final = logging.getLogger(__name__)


def is_due(verb: str, code: int, *, impersonated: bool = False) -> bool:
    """Whether a request is recorded: it may change something, was refused, or in another's name."""
    return verb in _MUTATING or code in _REFUSED or impersonated


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """How many entries were written since the start, and how many were lost."""

    written: int = 0
    lost: int = 0


class Audit:
    """The audit log of one server. `record` is for the loop that it was made in."""

    def __init__(
        self, file: AuditFile, loop: asyncio.AbstractEventLoop, *, required: bool = False
    ) -> None:
        self._file = file
        self._loop = loop
        self._required = required
        self._waiting: list[AuditEntry] = []
        self._timer: asyncio.TimerHandle | None = None
        self._handed = 0  # entries given to the thread, in all
        self._overrun = 0  # entries that it was too slow for
        self._problem = ""  # this and the next two are changed by the thread alone
        self._written = 0
        self._failed = 0
        self._begin, self._numbers = _beginning(), count()
        self._jobs: SimpleQueue[list[AuditEntry] | asyncio.Future[None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="audit", daemon=True)
        self._thread.start()

    @property
    def figures(self) -> AuditCounts:
        return AuditCounts(self._written, self._failed + self._overrun)

    def identify(self) -> str:
        """An id for a request: a UUID, of which only the end differs within one process."""
        return f"{self._begin}{next(self._numbers):012x}"

    def record(self, entry: AuditEntry) -> None:
        waiting = self._waiting
        waiting.append(entry)
        if self._timer is None:
            self._timer = self._loop.call_later(_SOON, self._hand_over)
        elif len(waiting) >= _AT_ONCE:
            self._hand_over()

    def check(self) -> None:
        """Raise `Unavailable` while nothing can be recorded and that is ``required``."""
        if self._required and self._problem:
            raise Unavailable(f"the audit log cannot be written: {self._problem}")

    async def flush(self) -> None:
        """Wait until all that was recorded is written, or lost."""
        self._hand_over()
        written: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put(written)
        await written

    async def close(self) -> None:
        """Write what is left, and let the file go."""
        await self.flush()
        self._jobs.put(None)
        self._thread.join()

    def _hand_over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        entries, self._waiting = self._waiting, []
        if self._handed - self._written - self._failed > _MOST:
            self._overrun += len(entries)
        elif entries:
            self._handed += len(entries)
            self._jobs.put(entries)

    # In the thread

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if isinstance(job, asyncio.Future):
                self._loop.call_soon_threadsafe(_done, job)
            else:
                self._write(job)
        try:
            self._file.close()
        except OSError as problem:
            _log.error("the audit log was not synced", extra={"why": problem.strerror})

    def _write(self, entries: list[AuditEntry]) -> None:
        lines = bytearray()
        for entry in entries:
            lines += line(entry)
            lines += b"\n"
        try:
            self._file.append(bytes(lines))
        except OSError as problem:
            self._failed += len(entries)
            self._fail(problem.strerror or str(problem))
            return
        self._written += len(entries)
        if self._problem:
            self._problem = ""
            _log.warning("the audit log is written again", extra={"lost": self.figures.lost})

    def _fail(self, problem: str) -> None:
        """Say it once, not for each batch."""
        if problem != self._problem:
            extra = {"path": str(self._file.path), "why": problem, "lost": self.figures.lost}
            _log.error("the audit log cannot be written: entries are lost", extra=extra)
        self._problem = problem


def _done(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


def _beginning() -> str:
    """All of a random UUID but its last twelve digits."""
    chance = os.urandom(9).hex()
    return f"{chance[:8]}-{chance[8:12]}-4{chance[12:15]}-8{chance[15:18]}-"
