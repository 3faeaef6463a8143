"""One process per file: an advisory lock that ends with its process, and holds its process id.

It also creates the file and its directory: private to the owner, and durable.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from kubekit.plane.store.errors import Busy, UnreadableStore


class FileLock:
    """The lock on one store, held until `release`."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = _process_in(self._file)
            os.close(self._file)
            raise Busy(
                f"process {process} already uses {path.with_suffix('')}: "
                "stop it first, or choose another directory"
            ) from None
        # The lock works without the number, so a full disk must not prevent the start.
        with suppress(OSError):
            os.ftruncate(self._file, os.pwrite(self._file, b"%d" % os.getpid(), 0))

    def release(self) -> None:
        """Release the lock. The file stays: otherwise two processes could lock two files of one name."""
        os.close(self._file)


def holder(path: Path) -> str:
    """The process that uses a store; empty when there is none."""
    try:
        file = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _process_in(file)
    else:
        return ""
    finally:
        os.close(file)


def claim(path: Path, *, virtual: bool) -> FileLock:
    """The lock on a private file, in a directory that is created when it is missing.

    A virtual file is on a virtual disk, where only SQLite creates files.
    """
    try:
        _make_directory(path.parent)
        lock = FileLock(path.with_name(path.name + ".lock"))
    except OSError as error:
        raise UnreadableStore(
            f"cannot use {path.parent} for {path.name}: {error.strerror}"
        ) from error
    if not virtual:
        try:
            _make_file(path)
        except OSError as error:
            lock.release()
            raise UnreadableStore(f"cannot open {path}: {error.strerror}") from error
    return lock


def sync_names(directory: Path) -> None:
    """Sync a directory, so that the names of new files in it survive a crash."""
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _process_in(lock: int) -> str:
    return os.read(lock, 20).decode(errors="replace").strip() or "unknown"


def _make_directory(path: Path) -> None:
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    for folder in missing:
        sync_names(folder.parent)


def _make_file(path: Path) -> None:
    """A private file, whose name in the directory is durable as well."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    sync_names(path.parent)
