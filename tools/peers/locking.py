"""One build at a time in one folder: two would write the same files, and share the same cores."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PAUSE = 0.5  # seconds between two tries
_REMIND = 30  # seconds between two lines


class Lock:
    """A lock that is held. The system frees it when the process ends, however it ends."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def note(self, work: str) -> None:
        """Write which process holds the lock and what for. Waiting processes print it."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"process {os.getpid()}, which is at {work}")
        self._file.flush()


@contextmanager
def locked(path: Path, say: Callable[[str], None]) -> Iterator[Lock]:
    """The lock of this file. While another process holds it, a line now and then says which."""
    with path.open("a+", encoding="utf-8") as file:
        last_line = float("-inf")
        while not _taken(file):
            if time.monotonic() - last_line >= _REMIND:
                last_line = time.monotonic()
                say(f"waiting for {path.read_text(encoding='utf-8') or 'another build'}")
            time.sleep(_PAUSE)  # noqa: TID251 - a script of its own, with no clock to inject
        yield Lock(file)


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
