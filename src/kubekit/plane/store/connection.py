"""The file, opened: one connection that has it alone, in a state that promises can rest on."""

from contextlib import suppress
from pathlib import Path

import apsw

from kubekit.plane.store import statements
from kubekit.plane.store.errors import Busy, UnreadableStore, WritesStopped
from kubekit.plane.store.sqlite_errors import reading, stopping

_PORTION = 64 * 1024  # SQLite's own file system writes less than 128 KiB at once, and else nothing


def connect(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection to the file, which is made if there is none."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    try:
        connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=128)
    except apsw.CantOpenError as error:
        raise UnreadableStore(f"cannot open {path}: is it a file, and may you write it?") from error
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _prepare(path, connection)
    except BaseException:
        shut(connection)
        raise
    return connection


def rewrite_wal(connection: apsw.Connection) -> None:
    """Write the write-ahead log over itself, and sync it.

    After a failed sync the kernel may hold pages as clean that never reached the disk: syncing
    alone would not write them. But folding changes the main file on the strength of this log, and
    would leave a ruin if the power failed meanwhile and the log were not there.
    """
    flags = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READWRITE
    log = apsw.VFSFile(connection.open_vfs, connection.filename_wal, [flags, 0])
    try:
        for offset in range(0, size := log.xFileSize(), _PORTION):
            log.xWrite(log.xRead(min(_PORTION, size - offset), offset), offset)
        log.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        log.xClose()


def shut(connection: apsw.Connection) -> None:
    """Close. What a broken disk says to that changes nothing: all that counts was said before."""
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
    """Raise what an error means while opening, if that is more than an error of the disk."""
    if isinstance(error, apsw.BusyError):
        raise Busy(f"another program has {path} open: close it first") from error
    if isinstance(error, (apsw.NotADBError, apsw.CorruptError)):
        with reading(path):
            raise error
