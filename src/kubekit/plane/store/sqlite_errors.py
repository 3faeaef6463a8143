"""Translates errors of SQLite into errors of the store.

A write on a full disk is rolled back as a whole, and the next one may succeed. After a failed fsync
the content of the disk is unknown: the kernel may drop the pages and report success the next time.
So after such an error nothing more is written on that connection.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from kubekit.plane.store.errors import UnreadableStore, WritesStopped

_FULL = "the disk is full"
_READ_ONLY = "the file or its file system is read-only"
_BY_ERRNO = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: _READ_ONLY,
}


@contextmanager
def stopping(path: Path, connection: apsw.Connection) -> Iterator[None]:
    """Translate SQLite errors of the block into `WritesStopped`."""
    try:
        yield
    except apsw.Error as error:
        reason = _transient(error, connection)
        raise (_retriable(path, reason) if reason else _final(path, error)) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Translate SQLite errors of the block into `UnreadableStore`."""
    try:
        yield
    except apsw.Error as error:
        raise UnreadableStore(
            f"{path} is not a readable store ({error}): check the disk, or restore a copy"
        ) from error


def closed(path: Path) -> WritesStopped:
    return WritesStopped(f"{path} is closed; nothing more is written", final=True)


def out_of_step(path: Path) -> WritesStopped:
    return WritesStopped(
        f"{path} holds changes that were never reported. Reads continue, writes stay stopped: "
        "restart to see them",
        final=True,
    )


def _transient(error: apsw.Error, connection: apsw.Connection) -> str:
    """The cause, if it can pass and the next write may succeed; otherwise empty."""
    if isinstance(error, apsw.FullError):
        return _FULL
    if isinstance(error, apsw.ReadOnlyError):
        return _READ_ONLY
    if _extended(error) == apsw.SQLITE_IOERR_WRITE:
        return _BY_ERRNO.get(connection.system_errno, "")
    return ""


def _retriable(path: Path, reason: str) -> WritesStopped:
    return WritesStopped(
        f"cannot write {path}: {reason}. Nothing of this change was kept. Reads continue; "
        "once the cause is removed the next write succeeds"
    )


def _final(path: Path, error: apsw.Error) -> WritesStopped:
    code = apsw.mapping_extended_result_codes.get(_extended(error), type(error).__name__)
    return WritesStopped(
        f"writing {path} failed with {code}. Whether the last changes were kept is unknown. Reads "
        "continue, writes stay stopped: check the disk, then restart",
        final=True,
    )


def _extended(error: apsw.Error) -> int:
    """SQLite's exact code. The stubs of apsw lack the attribute."""
    code: int = getattr(error, "extendedresult", 0)
    return code
