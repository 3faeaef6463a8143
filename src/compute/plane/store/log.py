"""The log on disk: one row per change, and the row's number is the revision.

    log(revision, resource, key, previous, change, at, document)

Each row names the row that it follows, and the database takes one successor of each: that is the
whole of optimistic concurrency, and it makes the rows of an object a chain. The present state is
the rows without a successor; what stood before a change is the row it names; to compact means to
remove, for each row passed, the row before it.

Numbers are given by the caller and go up for ever: the highest ever used is the last row or, if
that row was compacted away, the point of compaction, which rises in the same transaction.

A batch goes to SQLite as one statement. Each call into SQLite gives up the interpreter lock and
has to win it back from a busy event loop, which costs more than the inserts themselves.

A `Log` belongs to one thread at a time. The file belongs to one connection: SQLite then needs no
shared memory, and folds nothing by itself (``wal_autocheckpoint=0``, no checkpoint on close).
Opening folds what an earlier life left into the main file and syncs that. So after a failed fsync,
when the kernel may hold pages as clean that never reached the disk, they are written once more.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import apsw

from compute.plane.store import statements
from compute.plane.store.failures import Busy, Forgotten, Unreadable, WritesStopped
from compute.plane.store.faults import stopping
from compute.plane.store.records import ChangeType, Event, Record


class Row(NamedTuple):
    """One change on its way to the disk. ``at`` is in milliseconds since 1970."""

    revision: int
    resource: str
    key: str
    previous: int
    change: ChangeType
    at: int
    document: bytes


class Newest(NamedTuple):
    """The last row of an object's chain. A deleted one comes without its document."""

    revision: int
    resource: str
    key: str
    change: str
    document: bytes


class Log:
    """The file of one store. Only `open` makes one."""

    def __init__(self, path: Path, connection: apsw.Connection, wal_limit: int) -> None:
        self.path = path
        self._connection = connection
        self._wal_limit = wal_limit
        self._folded = 0
        self._unsettled = True
        self.compacted: int = connection.execute("SELECT revision FROM compaction").get
        newest: int | None = connection.execute("SELECT max(revision) FROM log").get
        self.revision: int = max(newest or 0, self.compacted)

    @classmethod
    def open(cls, path: Path, wal_limit: int, vfs: str | None = None) -> "Log":
        """The log at that path, made if there is none, with everything in it safely on disk."""
        connection = _connect(path, vfs)
        try:
            _prepare(path, connection)
            log = cls(path, connection, wal_limit)
            log.settle()
        except BaseException:
            _shut(connection)
            raise
        return log

    def newest(self) -> Iterator[Newest]:
        """The last row of every object that is there or was deleted within the window."""
        return map(Newest._make, self._connection.execute(statements.NEWEST))

    def append(self, rows: Sequence[Row]) -> set[int]:
        """The revisions that were refused, because another row follows the same one.

        When this returns, all others are on disk for good.
        """
        if self._unsettled or self.unfolded_bytes() >= self._wal_limit:
            self.fold()
        with stopping(self.path, self._connection):
            if len(rows) <= statements.ROWS_AT_ONCE:
                inserted = self._insert(rows)
            else:
                with self._connection:
                    inserted = sum(self._insert(part) for part in _parts(rows))
            refused = self._refused(rows) if inserted < len(rows) else set()
        self.revision = max(
            (row.revision for row in rows if row.revision not in refused), default=self.revision
        )
        return refused

    def changes(self, resource: str, since: int, until: int) -> list[Event]:
        """What happened to a resource after ``since``, up to and including ``until``."""
        if since < self.compacted:
            raise Forgotten(f"changes up to revision {self.compacted} are compacted")
        rows = self._connection.execute(statements.CHANGES, (since, until, resource))
        return [_event(row) for row in rows]

    def older_than(self, at: int) -> int:
        """The last revision before the first one that is younger than that moment."""
        query = "SELECT revision FROM log WHERE revision > ? AND at > ? ORDER BY revision LIMIT 1"
        younger: int | None = self._connection.execute(query, (self.compacted, at)).get
        return self.revision if younger is None else younger - 1

    def compact(self, until: int) -> int:
        """The new point of compaction: nothing up to it can be asked for any more."""
        if until > self.compacted:
            with stopping(self.path, self._connection), self._connection:
                self._connection.execute(statements.COMPACT, (self.compacted, until))
                self._connection.execute("UPDATE compaction SET revision = ?", (until,))
            self.compacted = until
        return self.compacted

    def unfolded_bytes(self) -> int:
        """How much of the write-ahead log is in use."""
        return statements.PAGE * (self._pages_written() - self._folded)

    def settle(self) -> None:
        """Fold and cut the write-ahead log. On a full disk that has to wait for the next write."""
        try:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except WritesStopped as stopped:
            if stopped.final:
                raise

    def fold(self) -> None:
        """Move the write-ahead log into the main file, so that it starts from its beginning.

        The file is not cut: syncing is cheaper where a file need not grow again.
        """
        self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def close(self) -> None:
        _shut(self._connection)

    def _checkpoint(self, mode: int) -> None:
        with stopping(self.path, self._connection):
            self._connection.wal_checkpoint(mode=mode)
        self._folded = self._pages_written()
        self._unsettled = False

    def _insert(self, rows: Sequence[Row]) -> int:
        self._connection.execute(statements.INSERTS[len(rows)], tuple(chain.from_iterable(rows)))
        return self._connection.changes()

    def _refused(self, rows: Sequence[Row]) -> set[int]:
        query = "SELECT revision FROM log WHERE revision >= ?"
        there = {row[0] for row in self._connection.execute(query, (rows[0].revision,))}
        return {row.revision for row in rows} - there

    def _pages_written(self) -> int:
        return self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]


def _connect(path: Path, vfs: str | None) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    try:
        connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=128)
    except apsw.CantOpenError as error:
        raise Unreadable(f"cannot open {path}: is it a file, and may you write it?") from error
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _prepare(path: Path, connection: apsw.Connection) -> None:
    try:
        with stopping(path, connection):
            for pragma in statements.PRAGMAS:
                connection.pragma(*pragma)
            version = connection.pragma("user_version")
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
            if version == tables == 0:
                connection.execute(statements.SCHEMA)
    except WritesStopped as stopped:
        _explain(path, stopped.__cause__)
        raise
    if version != (statements.VERSION if tables else 0):
        raise Unreadable(
            f"{path} has format {version}, not {statements.VERSION}: use another program or file"
        )


def _explain(path: Path, error: BaseException | None) -> None:
    """Raise what an error means while opening, if that is more than an error of the disk."""
    if isinstance(error, apsw.BusyError):
        raise Busy(f"another program has {path} open: close it first") from error
    if isinstance(error, (apsw.NotADBError, apsw.CorruptError)):
        raise Unreadable(f"{path} is not a readable store ({error}): restore a copy") from error


def _shut(connection: apsw.Connection) -> None:
    """Close. What a broken disk says to that changes nothing: all that counts was said before."""
    with suppress(apsw.Error):
        connection.close()


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (
        rows[i : i + statements.ROWS_AT_ONCE] for i in range(0, len(rows), statements.ROWS_AT_ONCE)
    )


def _event(row: tuple[int, str, str, bytes, int | None, bytes]) -> Event:
    revision, key, change, document, before, before_document = row
    previous = None if before is None else Record(key, before, before_document)
    return Event(ChangeType(change), Record(key, revision, document), previous)
