"""A file that only grows, for its owner alone, in generations: ``audit.log``, ``audit.log.1``, ...

Whole lines are written, or nothing. A file that was moved away is made anew at the next writing, so
whoever moves or removes it need not tell us.
"""

import os
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


class AuditFile:
    """The newest generation, open. ``kept`` older ones of ``size`` bytes stay beside it."""

    def __init__(self, path: Path, size: int = 100 << 20, kept: int = 4) -> None:
        self.path = path
        self._most = size
        self._kept = kept
        self._handle = _opened(path)

    def append(self, lines: bytes) -> None:
        """Write some lines. Raises OSError, and then nothing of them is there."""
        if not self._in_place():
            self._reopen()
        size = os.fstat(self._handle).st_size
        if size and size + len(lines) > self._most:
            self._turn()
            size = 0
        try:
            _write(self._handle, lines)
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    def close(self) -> None:
        """Let the file go, with what was written on the disk."""
        try:
            os.fsync(self._handle)
        finally:
            os.close(self._handle)

    def _in_place(self) -> bool:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self._handle))

    def _turn(self) -> None:
        """Begin the next generation; the oldest one goes."""
        names = [self.path, *(self._older(number) for number in range(1, self._kept + 1))]
        for older, newer in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
            if newer.exists():
                newer.replace(older)
        if not self._kept:
            self.path.unlink()
        self._reopen()

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def _reopen(self) -> None:
        fresh = _opened(self.path)
        os.close(self._handle)
        self._handle = fresh


def _opened(path: Path) -> int:
    handle = os.open(path, _FLAGS, _OWNER_ONLY)
    try:
        os.fchmod(handle, _OWNER_ONLY)  # one that was there may be open to others
    except OSError:
        os.close(handle)
        raise
    return handle


def _write(handle: int, lines: bytes) -> None:
    rest = memoryview(lines)
    while rest:
        rest = rest[os.write(handle, rest) :]
