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

Documents of some resources are sealed on their way to the disk and opened on the way back
(`sealing`): SQLite never sees them. Nobody above the log can tell.

A `Log` belongs to one thread at a time. The file belongs to one connection: SQLite then needs no
shared memory, and folds nothing by itself (``wal_autocheckpoint=0``, no checkpoint on close).
Opening folds what an earlier life left in the write-ahead log.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import apsw

from kubekit.plane.store import statements
from kubekit.plane.store.connection import connect, rewrite_wal, shut
from kubekit.plane.store.errors import Compacted, WritesStopped
from kubekit.plane.store.file_location import FileLocation
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.records import ChangeEvent, ChangeType, HistoryChunk, LogRow, Record
from kubekit.plane.store.sealing import MARK, Seals
from kubekit.plane.store.settings import StoreSettings
from kubekit.plane.store.sqlite_errors import out_of_step, reading, stopping

KEYS = "secrets.key"  # beside the database, where nobody names another place

# What is read in one go, so that waiting writes come in between and a reader holds little.
REVISIONS_AT_ONCE = 5000
_BYTES_AT_ONCE = 256 * 1024


class Newest(NamedTuple):
    """The last row of an object's chain. A deleted one comes without its document."""

    revision: int
    resource: str
    key: str
    change: str
    document: bytes


class Log:
    """The file of one store. Only `open` makes one.

    ``stopped`` says why nothing is written any more on this connection. Everybody may read it.
    """

    def __init__(
        self, path: Path, connection: apsw.Connection, settings: StoreSettings, place: FileLocation
    ) -> None:
        self.path = path
        self.stopped: WritesStopped | None = None
        self._connection = connection
        self._settings = settings
        self._place = place
        self._secured = False
        keys = settings.keys or KeyFile(path.with_name(KEYS))
        self._seals = Seals(path, connection, keys, settings.sealed)
        with reading(path):
            self.compacted: int = connection.execute("SELECT revision FROM compaction").get
            newest: int | None = connection.execute("SELECT max(revision) FROM log").get
        self.revision: int = max(newest or 0, self.compacted)

    @classmethod
    def open(cls, path: Path, settings: StoreSettings, vfs: str | None = None) -> "Log":
        """The log at that path, made if there is none, with everything in it safely on disk.

        With the wrong keys nothing in it is touched.
        """
        connection = connect(path, vfs)
        try:
            log = cls(path, connection, settings, FileLocation(path, real=vfs is None))
            log.begin()
        except BaseException:
            shut(connection)
            raise
        return log

    def newest(self) -> Iterator[Newest]:
        """The last row of every object that is there or was deleted within the window, in order."""
        with reading(self.path):
            for row in self._connection.execute(statements.NEWEST):
                newest = Newest._make(row)
                if not isinstance(newest.document, bytes):
                    raise apsw.CorruptError("a row has no document")
                yield self._opened(newest) if newest.document[:1] == MARK else newest

    def append(self, rows: Sequence[LogRow]) -> set[int]:
        """The revisions that were refused, because another row follows the same one.

        When this returns, all others are on disk for good.
        """
        rows = self._seals.sealed(rows)
        with self._writing():
            self._place.check(rows[0].at)
            self._make_room()
            if len(rows) <= statements.ROWS_AT_ONCE:
                inserted = self._insert(rows)
            else:
                with self._connection:
                    inserted = sum(self._insert(part) for part in _parts(rows))
            refused = self._refused(rows) if inserted < len(rows) else set()
            # A number that is used already would look as if its row had just been written.
            if len(refused) != len(rows) - inserted:
                raise out_of_step(self.path)
        self.revision = max(
            (row.revision for row in rows if row.revision not in refused), default=self.revision
        )
        return refused

    def changes(self, resource: str, since: int, until: int) -> HistoryChunk:
        """What happened to a resource after ``since``: some of it, and at most to ``until``."""
        self._check(since)
        until = min(until, since + REVISIONS_AT_ONCE)
        events: list[ChangeEvent] = []
        size = 0
        span = (since, until, resource)
        # Closed before its end, the statement no longer holds back the folding of the log.
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
        """What was there at a revision and is not since a change after ``since`` up to ``until``."""
        self._check(since)
        with reading(self.path):
            span = (since, until, resource, revision)
            rows = self._connection.execute(statements.REPLACED, span)
            return [self._record(resource, *row) for row in rows]

    def older_than(self, at: int) -> int:
        """The last revision before the first one that is younger than that moment.

        Asked for in order to compact, so a failure is one of compaction and stops writes as such.
        """
        query = "SELECT revision FROM log WHERE revision > ? AND at > ? ORDER BY revision LIMIT 1"
        with self._writing():
            younger: int | None = self._connection.execute(query, (self.compacted, at)).get
        return self.revision if younger is None else younger - 1

    def compact(self, until: int) -> int:
        """The new point of compaction: nothing up to it can be asked for any more."""
        if until > self.compacted:
            with self._writing():
                self._make_room()
                with self._connection:
                    self._connection.execute(statements.COMPACT, (self.compacted, until))
                    self._connection.execute("UPDATE compaction SET revision = ?", (until,))
            self.compacted = until
            self.fold()
        return self.compacted

    @property
    def outdated(self) -> bool:
        """Whether rows may have to be sealed anew: there is another key, or are other resources."""
        return self._seals.outdated()

    def renew(self) -> int:
        """The newest generation of data keys, begun now if the last is not as it should be."""
        with self._writing():
            self._make_room()
            return self._seals.renew()

    def reseal(self, after: int) -> int | None:
        """Where to go on after some rows were sealed anew; nothing at the end."""
        with self._writing():
            self._make_room()
            with self._connection:
                further = self._seals.reseal(after)
        self.fold()
        return further

    def retire(self, generation: int) -> None:
        """Forget older data keys, and cut off what the write-ahead log still holds of their rows."""
        with self._writing():
            self._make_room()
            self._seals.retire(generation)
        self.settle()

    @property
    def unfolded(self) -> bool:
        """Whether the write-ahead log is so long that it should be folded."""
        return self._wal_bytes() > self._settings.wal_bytes

    def fold(self) -> None:
        """Move a long write-ahead log into the main file, so that it starts from its beginning.

        The file is not cut: syncing is cheaper where a file need not grow again. A full disk is no
        reason to refuse changes before the log is at its limit.
        """
        if self.unfolded:
            self._if_there_is_room(partial(self._checkpoint, apsw.SQLITE_CHECKPOINT_PASSIVE))

    def settle(self) -> None:
        """Fold everything and cut the write-ahead log. On a full disk that has to wait."""
        self._if_there_is_room(partial(self._checkpoint, apsw.SQLITE_CHECKPOINT_TRUNCATE))

    def begin(self) -> None:
        """Make the file ready: what an earlier life left is folded, and what is plain is sealed."""
        with reading(self.path):
            self._seals.load()
        self.settle()
        if not self._seals.begun:
            self.renew()
        if self._connection.pragma("user_version") == statements.UNSEALED:
            self._seal_everything()

    def close(self) -> None:
        shut(self._connection)

    def _seal_everything(self) -> None:
        """Leave nothing plain of a file from before there was sealing.

        What was deleted then is still in its free pages, so all of it is written anew. Until that
        is done the file keeps its version, and whoever opens it begins here again.
        """
        generation, further = self.renew(), self.reseal(0)
        while further is not None:
            further = self.reseal(further)
        with self._writing():
            self._connection.execute("VACUUM")
            self._connection.pragma("user_version", statements.VERSION)
        self.retire(generation)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What fails for good in here is the last that was written on this connection."""
        if self.stopped is not None:
            raise self.stopped.again()
        try:
            with stopping(self.path, self._connection):
                yield
        except WritesStopped as stopped:
            if stopped.final:
                self.stopped = stopped.again()
            raise

    def _if_there_is_room(self, work: Callable[[], None]) -> None:
        """Do what can wait, unless the disk is full."""
        try:
            with self._writing():
                work()
        except WritesStopped as stopped:
            if stopped.final:
                raise

    def _make_room(self) -> None:
        self._secure()
        if self._wal_bytes() >= self._settings.wal_limit:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _secure(self) -> None:
        """Nothing may rest on what an earlier life wrote before that is on disk for certain."""
        if not self._secured:
            rewrite_wal(self._connection)
            self._secured = True

    def _checkpoint(self, mode: int) -> None:
        self._secure()
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
        there = {row[0] for row in self._connection.execute(query, (rows[0].revision,))}
        return {row.revision for row in rows} - there

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
