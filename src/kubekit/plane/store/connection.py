"""Opens the database file: one exclusive connection, with settings that make commits durable."""

from contextlib import suppress
from pathlib import Path

import apsw

from kubekit.plane.store import statements
from kubekit.plane.store.errors import Busy, UnreadableStore, WritesStopped
from kubekit.plane.store.sqlite_errors import reading, stopping

_PORTION = 64 * 1024  # SQLite's own VFS writes less than 128 KiB at once, or nothing at all


def connect(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection to the file, which is created when it is missing."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    try:
        connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=128)
    except apsw.CantOpenError as error:
        raise UnreadableStore(
            f"cannot open {path}: check that it is a file and that you may write it"
        ) from error
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _prepare(path, connection)
    except BaseException:
        close_connection(connection)
        raise
    return connection


def rewrite_wal(connection: apsw.Connection) -> None:
    """Write the write-ahead log over itself, and sync it.

    After a failed sync the kernel may mark pages as clean that never reached the disk: another sync
    would not write them. A checkpoint changes the main file and relies on this log: if the power
    failed meanwhile and the log were incomplete, the main file would be corrupt.
    """
    flags = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READWRITE
    log = apsw.VFSFile(connection.open_vfs, connection.filename_wal, [flags, 0])
    try:
        for offset in range(0, size := log.xFileSize(), _PORTION):
            log.xWrite(log.xRead(min(_PORTION, size - offset), offset), offset)
        log.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        log.xClose()


def close_connection(connection: apsw.Connection) -> None:
    """Close, and ignore disk errors: every failed write was reported before."""
    with suppress(apsw.Error):
        connection.close()


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
    if version not in ((statements.UNSEALED, statements.VERSION) if tables else (0,)):
        raise UnreadableStore(
            f"{path} has format {version}, not {statements.VERSION}: use another program or file"
        )


def _explain(path: Path, error: BaseException | None) -> None:
    """Raise `Busy` or `UnreadableStore` if that is the cause, not the disk."""
    if isinstance(error, apsw.BusyError):
        raise Busy(f"another program has {path} open: close it first") from error
    if isinstance(error, (apsw.NotADBError, apsw.CorruptError)):
        with reading(path):
            raise error
