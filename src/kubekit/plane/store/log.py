"""The log on disk: one row per change, and the row's number is the revision.

    log(revision, resource, key, previous, change, at, document)

Each row names its predecessor, and the database accepts one successor of each row. This is
optimistic concurrency, and it makes the rows of an object a chain. The current state is the rows
without a successor. The state before a change is its predecessor. Compaction removes the
predecessor of each compacted row.

The caller assigns the revisions, which only increase. The highest one in use is that of the last
row. If that row was compacted, it is the compaction revision, which is updated in the same
transaction.

A batch is one SQL statement. Each call into SQLite releases the interpreter lock and has to acquire
it again from a busy event loop, which costs more than the inserts themselves.

Documents of some resources are encrypted before they are written and decrypted when they are read
(`sealing`). SQLite never sees the plain form; callers of the log see only the plain form.

A `Log` belongs to one thread at a time. The file belongs to one connection: SQLite then needs no
shared memory, and runs no checkpoint by itself (``wal_autocheckpoint=0``, none on close).
Opening checkpoints the write-ahead log of an earlier process into the main file.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import apsw

from kubekit.plane.store import statements
from kubekit.plane.store.connection import close_connection, connect, rewrite_wal
from kubekit.plane.store.errors import Compacted, WritesStopped
from kubekit.plane.store.file_location import FileLocation
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.records import ChangeEvent, ChangeType, HistoryChunk, LogRow, Record
from kubekit.plane.store.sealing import MARK, Seals
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.store.sqlite_errors import out_of_step, reading, stopping

KEYS = "secrets.key"  # beside the database, unless the settings name other keys

# The limits of one read, so that waiting writes run in between and a reader holds little memory.
REVISIONS_AT_ONCE = 5000
_BYTES_AT_ONCE = 256 * 1024


class Newest(NamedTuple):
    """The last row of an object's chain. A deleted object comes without its document."""

    revision: int
    resource: str
    key: str
    change: str
    document: bytes


class Log:
    """The file of one store. Created by `open` only.

    ``stopped`` says why nothing more is written on this connection. Every thread may read it.
    """

    def __init__(
        self,
        path: Path,
        connection: apsw.Connection,
        settings: StoreSettings,
        location: FileLocation,
    ) -> None:
        self.path = path
        self.stopped: WritesStopped | None = None
        self._connection = connection
        self._settings = settings
        self._location = location
        self._wal_synced = False
        keys = settings.keys or KeyFile(path.with_name(KEYS))
        self._seals = Seals(path, connection, keys, settings.sealed)
        with reading(path):
            self.compacted: int = connection.execute("SELECT revision FROM compaction").get
            newest: int | None = connection.execute("SELECT max(revision) FROM log").get
        self.revision: int = max(newest or 0, self.compacted)

    @classmethod
    def open(cls, path: Path, settings: StoreSettings, vfs: str | None = None) -> "Log":
        """Open the log at that path, or create it. Everything in it is then safely on disk.

        With the wrong keys nothing is written.
        """
        connection = connect(path, vfs)
        try:
            log = cls(path, connection, settings, FileLocation(path, real=vfs is None))
            log.prepare()
        except BaseException:
            close_connection(connection)
            raise
        return log

    def newest(self) -> Iterator[Newest]:
        """The last row of every object that exists or was deleted within the window, by revision."""
        with reading(self.path):
            for row in self._connection.execute(statements.NEWEST):
                newest = Newest._make(row)
                if not isinstance(newest.document, bytes):
                    raise apsw.CorruptError("a row has no document")
                yield self._opened(newest) if newest.document[:1] == MARK else newest

    def append(self, rows: Sequence[LogRow]) -> set[int]:
        """Write the rows; returns the revisions whose predecessor already has a successor.

        When this returns, all others are durable.
        """
        rows = self._seals.sealed(rows)
        with self._writing():
            self._location.check(rows[0].at)
            self._prepare_write()
            if len(rows) <= statements.ROWS_AT_ONCE:
                inserted = self._insert(rows)
            else:
                with self._connection:
                    inserted = sum(self._insert(part) for part in _parts(rows))
            refused = self._refused(rows) if inserted < len(rows) else set()
            # Otherwise a row of an earlier write with the same revision would count as just written.
            if len(refused) != len(rows) - inserted:
                raise out_of_step(self.path)
        self.revision = max(
            (row.revision for row in rows if row.revision not in refused), default=self.revision
        )
        return refused

    def changes(self, resource: str, since: int, until: int) -> HistoryChunk:
        """The changes of a resource after ``since``: some of them, and at most up to ``until``."""
        self._check(since)
        until = min(until, since + REVISIONS_AT_ONCE)
        events: list[ChangeEvent] = []
        size = 0
        span = (since, until, resource)
        # A statement that is closed early no longer blocks the checkpoint.
        with (
            reading(self.path),
            closing(self._connection.execute(statements.CHANGES, span)) as rows,
        ):
            for row in rows:
                event = self._event(resource, row)
                events.append(event)
                size += event.size()
                if size >= _BYTES_AT_ONCE:
                    return HistoryChunk(events, event.record.revision)
        return HistoryChunk(events, until)

    def replaced(self, resource: str, revision: int, since: int, until: int) -> list[Record]:
        """The records at a revision that a change after ``since`` up to ``until`` replaced."""
        self._check(since)
        with reading(self.path):
            span = (since, until, resource, revision)
            rows = self._connection.execute(statements.REPLACED, span)
            return [self._record(resource, *row) for row in rows]

    def older_than(self, at: int) -> int:
        """The last revision before the first one that is newer than that time.

        Only compaction calls it, so a failure counts as a failure of compaction and stops writes.
        """
        query = "SELECT revision FROM log WHERE revision > ? AND at > ? ORDER BY revision LIMIT 1"
        with self._writing():
            younger: int | None = self._connection.execute(query, (self.compacted, at)).get
        return self.revision if younger is None else younger - 1

    def compact(self, until: int) -> int:
        """Remove the history up to that revision; returns the new compaction revision."""
        if until > self.compacted:
            with self._writing():
                self._prepare_write()
                with self._connection:
                    self._connection.execute(statements.COMPACT, (self.compacted, until))
                    self._connection.execute("UPDATE compaction SET revision = ?", (until,))
            self.compacted = until
            self.checkpoint()
        return self.compacted

    @property
    def outdated(self) -> bool:
        """Whether rows may have to be resealed: the key or the sealed resources changed."""
        return self._seals.outdated()

    def renew(self) -> int:
        """The newest generation of data keys; a new one if the last is not as configured."""
        with self._writing():
            self._prepare_write()
            return self._seals.renew()

    def reseal(self, after: int) -> int | None:
        """Reseal some rows; the position to continue from, or None at the end."""
        with self._writing():
            self._prepare_write()
            with self._connection:
                position = self._seals.reseal(after)
        self.checkpoint()
        return position

    def retire(self, generation: int) -> None:
        """Remove older data keys, and truncate the write-ahead log, which may hold their rows."""
        with self._writing():
            self._prepare_write()
            self._seals.retire(generation)
        self.truncate_wal()

    @property
    def needs_checkpoint(self) -> bool:
        """Whether the write-ahead log is long enough for a checkpoint."""
        return self._wal_bytes() > self._settings.wal_bytes

    def checkpoint(self) -> None:
        """Checkpoint a long write-ahead log into the main file, so that its space is reused.

        The file is not truncated: syncing is cheaper when a file need not grow again. On a full
        disk the checkpoint is skipped, and writes continue until the log is at its limit.
        """
        if self.needs_checkpoint:
            self._unless_disk_full(partial(self._run_checkpoint, apsw.SQLITE_CHECKPOINT_PASSIVE))

    def truncate_wal(self) -> None:
        """Checkpoint everything and truncate the write-ahead log. On a full disk this is skipped."""
        self._unless_disk_full(partial(self._run_checkpoint, apsw.SQLITE_CHECKPOINT_TRUNCATE))

    def prepare(self) -> None:
        """Checkpoint the write-ahead log of an earlier process, and seal rows that are still plain."""
        with reading(self.path):
            self._seals.load()
        self.truncate_wal()
        if not self._seals.has_data_key:
            self.renew()
        if self._connection.pragma("user_version") == statements.UNSEALED:
            self._seal_everything()

    def close(self) -> None:
        close_connection(self._connection)

    def _seal_everything(self) -> None:
        """Rewrite a file from before sealing existed, so that it contains no plain data.

        Deleted data is still in its free pages, so the whole file is rewritten. Until that is done
        the file keeps its version, and the next open starts here again.
        """
        generation, position = self.renew(), self.reseal(0)
        while position is not None:
            position = self.reseal(position)
        with self._writing():
            self._connection.execute("VACUUM")
            self._connection.pragma("user_version", statements.VERSION)
        self.retire(generation)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A final failure in this block stops all writes on this connection."""
        if self.stopped is not None:
            raise self.stopped.copy()
        try:
            with stopping(self.path, self._connection):
                yield
        except WritesStopped as stopped:
            if stopped.final:
                self.stopped = stopped.copy()
            raise

    def _unless_disk_full(self, work: Callable[[], None]) -> None:
        """Do work that can be postponed; it is skipped if the disk is full."""
        try:
            with self._writing():
                work()
        except WritesStopped as stopped:
            if stopped.final:
                raise

    def _prepare_write(self) -> None:
        self._sync_wal()
        if self._wal_bytes() >= self._settings.wal_limit:
            self._run_checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _sync_wal(self) -> None:
        """Sync the writes of an earlier process before anything relies on them."""
        if not self._wal_synced:
            rewrite_wal(self._connection)
            self._wal_synced = True

    def _run_checkpoint(self, mode: int) -> None:
        self._sync_wal()
        self._connection.wal_checkpoint(mode=mode)
        self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)  # noqa: FBT003 - its reset

    def _wal_bytes(self) -> int:
        """How much of the write-ahead log is in use."""
        return statements.PAGE * self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]

    def _insert(self, rows: Sequence[LogRow]) -> int:
        self._connection.execute(statements.INSERTS[len(rows)], tuple(chain.from_iterable(rows)))
        return self._connection.changes()

    def _refused(self, rows: Sequence[LogRow]) -> set[int]:
        query = "SELECT revision FROM log WHERE revision >= ?"
        present = {row[0] for row in self._connection.execute(query, (rows[0].revision,))}
        return {row.revision for row in rows} - present

    def _opened(self, row: Newest) -> Newest:
        document = self._seals.opened(row.resource, row.key, row.revision, row.document)
        return row._replace(document=document)

    def _record(self, resource: str, key: str, revision: int, document: bytes) -> Record:
        return Record(key, revision, self._seals.opened(resource, key, revision, document))

    def _event(
        self, resource: str, row: tuple[int, str, str, bytes, int | None, bytes]
    ) -> ChangeEvent:
        revision, key, change, document, before, old = row
        previous = None if before is None else self._record(resource, key, before, old)
        return ChangeEvent(
            ChangeType(change), self._record(resource, key, revision, document), previous
        )

    def _check(self, since: int) -> None:
        if since < self.compacted:
            raise Compacted(f"changes up to revision {self.compacted} are compacted")


def _parts(rows: Sequence[LogRow]) -> Iterator[Sequence[LogRow]]:
    return (
        rows[i : i + statements.ROWS_AT_ONCE] for i in range(0, len(rows), statements.ROWS_AT_ONCE)
    )
