"""One process per file: an advisory lock that dies with its holder, and says who that is."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from compute.plane.store.failures import Busy


class FileLock:
    """The right to use one store, held until `release`."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 20).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise Busy(
                f"process {holder} already uses {path.with_suffix('')}: "
                "stop it first, or choose another directory"
            ) from None
        # The lock holds without the number, so a full disk is no reason to give up.
        with suppress(OSError):
            os.ftruncate(self._file, os.pwrite(self._file, b"%d" % os.getpid(), 0))

    def release(self) -> None:
        """The file stays: removing it would let two processes lock two files of one name."""
        os.close(self._file)
