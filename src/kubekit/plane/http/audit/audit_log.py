"""The audit log: one line for each request that may change something, or was refused.

    audit = Audit(AuditFile(data / "audit.log"), asyncio.get_running_loop())
    audit.record(AuditEntry(...))
    await audit.close()

Recording costs a request almost nothing: every tenth of a second a thread encodes and writes the
new entries in one batch. If the file cannot be written, requests continue, and lost entries are
counted and logged. A server that requires the log passes ``required`` and calls `Audit.check` first.
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
    """Whether a request is recorded: it may change something, was refused, or impersonates."""
    return verb in _MUTATING or code in _REFUSED or impersonated


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """How many entries were written since the start, and how many were lost."""

    written: int = 0
    lost: int = 0


class Audit:
    """The audit log of one server. `record` is for the event loop that it was created in."""

    def __init__(
        self, file: AuditFile, loop: asyncio.AbstractEventLoop, *, required: bool = False
    ) -> None:
        self._file = file
        self._loop = loop
        self._required = required
        self._waiting: list[AuditEntry] = []
        self._timer: asyncio.TimerHandle | None = None
        self._handed = 0  # entries given to the thread, in total
        self._overrun = 0  # entries that it was too slow for
        self._problem = ""  # only the thread changes this and the next two
        self._written = 0
        self._failed = 0
        self._id_prefix, self._numbers = _uuid_prefix(), count()
        self._jobs: SimpleQueue[list[AuditEntry] | asyncio.Future[None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="audit", daemon=True)
        self._thread.start()

    @property
    def counts(self) -> AuditCounts:
        return AuditCounts(self._written, self._failed + self._overrun)

    def identify(self) -> str:
        """An id for a request: a UUID, of which only the end differs within a process."""
        return f"{self._id_prefix}{next(self._numbers):012x}"

    def record(self, entry: AuditEntry) -> None:
        waiting = self._waiting
        waiting.append(entry)
        if self._timer is None:
            self._timer = self._loop.call_later(_SOON, self._hand_over)
        elif len(waiting) >= _AT_ONCE:
            self._hand_over()

    def check(self) -> None:
        """Raise `Unavailable` if the log is ``required`` and cannot be written."""
        if self._required and self._problem:
            raise Unavailable(f"the audit log cannot be written: {self._problem}")

    async def flush(self) -> None:
        """Wait until every recorded entry is written or lost."""
        self._hand_over()
        written: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put(written)
        await written

    async def close(self) -> None:
        """Write the remaining entries, and close the file."""
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
            _log.warning("the audit log is written again", extra={"lost": self.counts.lost})

    def _fail(self, problem: str) -> None:
        """Log a problem once, not for each batch."""
        if problem != self._problem:
            extra = {"path": str(self._file.path), "why": problem, "lost": self.counts.lost}
            _log.error("the audit log cannot be written: entries are lost", extra=extra)
        self._problem = problem


def _done(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


def _uuid_prefix() -> str:
    """A random UUID without its last twelve digits."""
    chance = os.urandom(9).hex()
    return f"{chance[:8]}-{chance[8:12]}-4{chance[12:15]}-8{chance[15:18]}-"
