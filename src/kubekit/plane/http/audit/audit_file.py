"""An append-only file with rotation, readable by its owner alone: ``audit.log``, ``audit.log.1``, ...

A write adds whole lines or nothing. A file that was moved or removed is created again at the next
write, so log rotation by other programs needs no signal.
"""

import os
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


class AuditFile:
    """The current file. ``kept`` older ones of ``size`` bytes stay beside it."""

    def __init__(self, path: Path, size: int = 100 << 20, kept: int = 4) -> None:
        self.path = path
        self._most = size
        self._kept = kept
        self._handle = _opened(path)

    def append(self, lines: bytes) -> None:
        """Write some lines. After an OSError none of them is written."""
        if not self._in_place():
            self._reopen()
        size = os.fstat(self._handle).st_size
        if size and size + len(lines) > self._most:
            self._rotate()
            size = 0
        try:
            _write(self._handle, lines)
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    def close(self) -> None:
        """Sync the file and close it."""
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

    def _rotate(self) -> None:
        """Start a new file, and delete the oldest one."""
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
        handle = _opened(self.path)
        os.close(self._handle)
        self._handle = handle


def _opened(path: Path) -> int:
    handle = os.open(path, _FLAGS, _OWNER_ONLY)
    try:
        os.fchmod(handle, _OWNER_ONLY)  # an existing file may be readable by others
    except OSError:
        os.close(handle)
        raise
    return handle


def _write(handle: int, lines: bytes) -> None:
    rest = memoryview(lines)
    while rest:
        rest = rest[os.write(handle, rest) :]
