"""The store of one plane: the log on disk, the current state in memory.

Reading the current state is a plain call and touches memory only. A write returns a future. History
is read from the ring of latest changes, or from disk when it is older.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.store.batches import Batches, CommitStats, Listener
from kubekit.plane.store.collection import Collection
from kubekit.plane.store.compaction import Compaction
from kubekit.plane.store.errors import (
    Busy,
    Compacted,
    FutureRevision,
    KeysRefused,
    RevisionConflict,
    UnreadableStore,
    WritesStopped,
)
from kubekit.plane.store.lock import FileLock, claim
from kubekit.plane.store.log import REVISIONS_AT_ONCE, Log
from kubekit.plane.store.records import ChangeEvent, Draft, HistoryChunk, Record
from kubekit.plane.store.resealing import Resealing
from kubekit.plane.store.ring import Subscription
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.store.sqlite_errors import closed
from kubekit.plane.store.state import StoreState
from kubekit.plane.store.writer import LoopWriter, ThreadWriter, Writer, run_job

__all__ = [
    "Busy",
    "Collection",
    "CommitStats",
    "Compacted",
    "FutureRevision",
    "HistoryChunk",
    "KeysRefused",
    "RevisionConflict",
    "Store",
    "StoreSettings",
    "Subscription",
    "UnreadableStore",
    "WritesStopped",
]

Result = TypeVar("Result")

_DEFAULTS = StoreSettings()


class Store:
    """Created by `open` only. Every method runs in the loop that opened it."""

    def __init__(
        self,
        loaded: tuple[Log, StoreState, bool],
        lock: FileLock,
        writer: Writer,
        settings: StoreSettings,
        environment: ExecutionEnvironment,
    ) -> None:
        log, state, outdated = loaded
        self._log, self._state = log, state
        self._lock = lock
        self._writer = writer
        self._compaction = Compaction(log, state, writer, settings, environment.now)
        self._batches = Batches(log, state, writer, environment.now)
        self._batches.published = self._compaction.consider
        self._resealing = Resealing(log, writer)
        self._reading = asyncio.Lock()
        self._closing: asyncio.Future[None] | None = None
        self._compaction.consider()
        if outdated:
            self._resealing.start()

    @classmethod
    async def open(
        cls,
        path: Path,
        environment: ExecutionEnvironment,
        settings: StoreSettings = _DEFAULTS,
        *,
        threaded: bool = True,
        vfs: str | None = None,
    ) -> "Store":
        """Open the store in that file, or create it.

        Raises `Busy`, `UnreadableStore`, or, if the secrets cannot be decrypted, `KeysRefused`.
        """
        lock = claim(path, virtual=vfs is not None)
        loop = asyncio.get_running_loop()
        writer = ThreadWriter(loop) if threaded else LoopWriter(loop)
        try:
            loaded = await run_job(writer, partial(_load, path, settings, vfs))
        except BaseException:
            writer.stop()
            lock.release()
            raise
        return cls(loaded, lock, writer, settings, environment)

    @property
    def revision(self) -> int:
        """The newest published revision."""
        return self._state.revision

    @property
    def compacted(self) -> int:
        """Changes up to and including this revision are compacted."""
        return self._state.compacted

    @property
    def size(self) -> int:
        """Bytes on disk."""
        path = self._log.path
        files = (path, path.with_name(f"{path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @property
    def stats(self) -> CommitStats:
        return self._batches.stats

    @property
    def stopped(self) -> WritesStopped | None:
        """Why nothing can be written until the store is opened again."""
        return self._batches.stopped

    def find(self, resource: str, key: str) -> Record | None:
        return self._state.collection(resource).find(key)

    def collection(self, resource: str) -> Collection:
        return self._state.collection(resource)

    def write(self, draft: Draft) -> asyncio.Future[Record]:
        """The record, once it is on disk and published.

        Fails with `RevisionConflict` or `WritesStopped`.
        """
        return self._batches.write(draft)

    def subscribe(
        self, resource: str, since: int, ready: Callable[[], None], scope: str = ""
    ) -> Subscription:
        """A position in the stream of changes after ``since``.

        Raises `Compacted` when they are no longer in memory. They may still be on disk: then the
        caller reads them with `history_chunk`, and subscribes from the end of the last chunk.
        """
        self._check(since)
        return self._state.ring(resource).subscribe(since, ready, scope)

    async def history_chunk(self, resource: str, since: int) -> HistoryChunk:
        """Some of the changes after ``since``, from disk.

        A chunk is small, so that every reader can hold one. It may be empty although changes follow.
        """
        job = partial(self._log.changes, resource, since, self.revision)
        return await self._read(since, job)

    async def history(self, resource: str, since: int) -> list[ChangeEvent]:
        """All changes after ``since``. That may be the whole window, in memory at once."""
        self._check(since)
        ring = self._state.ring(resource)
        events: list[ChangeEvent] = []
        # The newest changes come from memory: under steady writes, disk reads would never catch up.
        while since < ring.floor:
            chunk = await self.history_chunk(resource, since)
            events += chunk.events
            since = chunk.until
        return events + ring.since(since)

    async def collection_at(self, resource: str, revision: int) -> list[Record]:
        """The objects as of that revision, ordered by key.

        They are the current objects that have not changed since, and the replaced versions.
        """
        self._check(revision)
        ring = self._state.ring(resource)
        present = self._state.collection(resource).range()
        if revision < ring.floor:
            replaced = await self._replaced(resource, revision)
        else:
            previous = (event.previous for event in ring.since(revision))
            replaced = [old for old in previous if old is not None and old.revision <= revision]
        records = [record for record in present if record.revision <= revision] + replaced
        records.sort(key=attrgetter("key"))
        return records

    def listen(self, listener: Listener, resources: Iterable[str] = ()) -> Callable[[], None]:
        """Call ``listener`` with every committed change of these resources, or of all resources.

        The result is a function that stops it.
        """
        return self._batches.listen(listener, frozenset(resources))

    async def compact(self, revision: int | None = None) -> None:
        """Remove the history up to that revision, or the history that is older than the window."""
        self._check(self.revision if revision is None else max(revision, self.compacted))
        await self._compaction.run(revision)

    async def reseal(self) -> None:
        """Encrypt everything with the key that is now the first one. Writes continue."""
        self._check(self.revision)
        await self._resealing.run()

    async def close(self) -> None:
        """Finish the accepted writes and release the file. Closing twice is fine."""
        if self._closing is None:
            self._compaction.stop()
            self._resealing.stop()
            self._batches.close()
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            while self._batches.busy:
                await run_job(self._writer, _nothing)
            await run_job(self._writer, partial(_close_log, self._log))
        finally:
            self._writer.stop()
            self._lock.release()

    async def _replaced(self, resource: str, revision: int) -> list[Record]:
        """The objects at that revision that were replaced since, read from disk."""
        records: list[Record] = []
        newest = self.revision
        for since in range(revision, newest, REVISIONS_AT_ONCE):
            until = min(since + REVISIONS_AT_ONCE, newest)
            job = partial(self._log.replaced, resource, revision, since, until)
            records += await self._read(since, job)
        return records

    async def _read(self, since: int, job: Callable[[], Result]) -> Result:
        """Read from disk, one read at a time, so that a write waits for at most one read."""
        async with self._reading:
            self._check(since)
            return await run_job(self._writer, job)

    def _check(self, revision: int) -> None:
        if self._closing is not None:
            raise closed(self._log.path)
        if revision > self.revision:
            raise FutureRevision(
                f"revision {revision} does not exist yet, the newest is {self.revision}"
            )
        if revision < self.compacted:
            raise Compacted(f"revision {revision} is compacted, the oldest is {self.compacted}")


def _load(path: Path, settings: StoreSettings, vfs: str | None) -> tuple[Log, StoreState, bool]:
    """The log, its current state, and whether it has to be resealed."""
    log = Log.open(path, settings, vfs)
    state = StoreState(settings, log.revision, log.compacted)
    try:
        state.load(log.newest())
        outdated = log.outdated
    except BaseException:
        log.close()
        raise
    return log, state, outdated


def _close_log(log: Log) -> None:
    with suppress(WritesStopped):
        log.truncate_wal()
    log.close()


def _nothing() -> None:
    """An empty job: its completion means that all earlier jobs are done."""
