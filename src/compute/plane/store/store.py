"""The store of one plane: the log on disk, the present in memory.

Reading the present is a plain call and touches memory only. Writing gives a future. The past is
read from the ring of latest changes while they are there, else from the disk.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path

from compute.plane.environment import Environment
from compute.plane.store.batches import Batches, Figures, Heard
from compute.plane.store.collection import Collection
from compute.plane.store.compaction import Compaction
from compute.plane.store.failures import (
    Busy,
    Forgotten,
    FutureRevision,
    Moved,
    Unreadable,
    WritesStopped,
)
from compute.plane.store.faults import closed
from compute.plane.store.lock import FileLock
from compute.plane.store.log import Log
from compute.plane.store.records import Draft, Event, Record
from compute.plane.store.ring import Subscription
from compute.plane.store.settings import Settings
from compute.plane.store.state import State
from compute.plane.store.writer import LoopWriter, ThreadWriter, Writer, done

__all__ = [
    "Busy",
    "Collection",
    "Figures",
    "Forgotten",
    "FutureRevision",
    "Moved",
    "Settings",
    "Store",
    "Subscription",
    "Unreadable",
    "WritesStopped",
]

_DEFAULTS = Settings()
_HISTORY_STEP = 5000  # revisions read in one job, so that waiting writes come in between


class Store:
    """Only `open` makes one. Every method is for the loop that opened it."""

    def __init__(
        self,
        parts: tuple[Log, State],
        lock: FileLock,
        writer: Writer,
        compaction: Compaction,
        batches: Batches,
    ) -> None:
        self._log, self._state = parts
        self._lock = lock
        self._writer = writer
        self._compaction = compaction
        self._batches = batches
        batches.published = compaction.consider
        compaction.consider()

    @classmethod
    async def open(
        cls,
        path: Path,
        environment: Environment,
        settings: Settings = _DEFAULTS,
        *,
        threaded: bool = True,
        vfs: str | None = None,
    ) -> "Store":
        """The store in that file, made if there is none. Raises `Busy` or `Unreadable`."""
        lock = _claim(path, vfs)
        loop = asyncio.get_running_loop()
        writer = ThreadWriter(loop) if threaded else LoopWriter(loop)
        try:
            log, state = await done(writer, partial(_load, path, settings, vfs))
        except BaseException:
            writer.stop()
            lock.release()
            raise
        compaction = Compaction(log, state, writer, settings, environment.now)
        batches = Batches(log, state, writer, settings.wal_bytes, environment.now)
        return cls((log, state), lock, writer, compaction, batches)

    @property
    def revision(self) -> int:
        """The newest one that is published."""
        return self._state.revision

    @property
    def compacted(self) -> int:
        """Changes up to and including this one are forgotten."""
        return self._state.compacted

    @property
    def figures(self) -> Figures:
        return self._batches.figures

    @property
    def stopped(self) -> WritesStopped | None:
        """Why nothing can be written until the store is opened again."""
        return self._batches.stopped

    def find(self, resource: str, key: str) -> Record | None:
        return self._state.collection(resource).find(key)

    def collection(self, resource: str) -> Collection:
        return self._state.collection(resource)

    def write(self, draft: Draft) -> asyncio.Future[Record]:
        """The record, once it is on disk and published. Fails with `Moved` or `WritesStopped`."""
        return self._batches.write(draft)

    def subscribe(self, resource: str, since: int, ready: Callable[[], None]) -> Subscription:
        """A place in the stream of changes after ``since``.

        Raises `Forgotten` when they are not in memory: `history` may still know them, and the
        last of what it gives is the place to subscribe from.
        """
        self._check(since)
        return self._state.ring(resource).subscribe(since, ready)

    async def history(self, resource: str, since: int) -> list[Event]:
        """The changes after ``since`` up to the present, from disk."""
        events: list[Event] = []
        self._check(since)
        while since < self.revision:
            self._check(since)
            until = min(since + _HISTORY_STEP, self.revision)
            job = partial(self._log.changes, resource, since, until)
            events += await done(self._writer, job)
            since = until
        return events

    async def collection_at(self, resource: str, revision: int) -> list[Record]:
        """What was there at that revision, by key: the present with later changes taken back."""
        self._check(revision)
        ring = self._state.ring(resource)
        if revision < ring.floor:
            events = await self.history(resource, revision)
        else:
            events = ring.since(revision)
        return _undone(self._state.collection(resource).range(), events)

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Hear every committed change of every resource, in order, until the answer is called."""
        listeners = self._batches.listeners
        listeners.append(heard)

        def leave() -> None:
            if heard in listeners:
                listeners.remove(heard)

        return leave

    async def compact(self, revision: int | None = None) -> None:
        """Forget what happened up to that revision, or what has left the window."""
        self._check(self.revision if revision is None else max(revision, self.compacted))
        await self._compaction.run(revision)

    async def close(self) -> None:
        """Finish the writes that were accepted, and let go of the file."""
        if self._batches.closing:
            return
        self._batches.closing = True
        self._compaction.stop()
        while self._batches.busy:
            await done(self._writer, _nothing)
        sound = self._batches.stopped is None
        self._batches.stop(closed(self._log.path))
        try:
            await done(self._writer, partial(_leave, self._log, sound=sound))
        finally:
            self._writer.stop()
            self._lock.release()

    def _check(self, revision: int) -> None:
        if self._batches.closing:
            raise closed(self._log.path)
        if revision > self.revision:
            raise FutureRevision(
                f"revision {revision} is not there yet, the newest is {self.revision}"
            )
        if revision < self.compacted:
            raise Forgotten(f"revision {revision} is compacted, the oldest is {self.compacted}")


def _claim(path: Path, vfs: str | None) -> FileLock:
    """The lock of a file that nobody else can read, in a directory that is made at need."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700)
        lock = FileLock(path.with_name(path.name + ".lock"))
    except OSError as error:
        raise Unreadable(f"cannot use {path.parent} for {path.name}: {error.strerror}") from error
    if vfs is None:
        try:
            _make(path)
        except OSError as error:
            lock.release()
            raise Unreadable(f"cannot open {path}: {error.strerror}") from error
    return lock


def _make(path: Path) -> None:
    """A file of ours alone. Its name in the directory has to last as well."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)


def _load(path: Path, settings: Settings, vfs: str | None) -> tuple[Log, State]:
    log = Log.open(path, settings.wal_limit, vfs)
    state = State(settings, log.revision, log.compacted)
    state.load(log.newest())
    return log, state


def _leave(log: Log, *, sound: bool) -> None:
    """After a disk error nothing is written any more, not even to tidy up."""
    if sound:
        with suppress(WritesStopped):
            log.settle()
    log.close()


def _undone(records: list[Record], events: list[Event]) -> list[Record]:
    """The records before those events. The earliest event of an object knows how it was."""
    if not events:
        return records
    before = {event.record.key: event.previous for event in reversed(events)}
    kept = [record for record in records if record.key not in before]
    kept.extend(record for record in before.values() if record is not None)
    kept.sort(key=attrgetter("key"))
    return kept


def _nothing() -> None:
    """A job that is done when everything before it is."""
