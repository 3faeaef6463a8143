"""A disk in memory that distinguishes written from synced data, and that can fail.

It is an SQLite VFS, so the shipped code runs on it. A power cut keeps the synced data, and any part
of the data written since; a torn write ends at a boundary of 512 bytes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import Random

import apsw

SECTOR = 512
_numbers = count()


class FaultyDisk(apsw.VFS):
    """Pass its ``name`` to ``Store.open`` as the VFS. Files are identified by their absolute path."""

    def __init__(self) -> None:
        self.name = f"faulty-disk-{next(_numbers)}"
        self.files: dict[str, _Blocks] = {}
        self.operations = 0  # writes, truncations and syncs so far
        self.refusals = 0  # writes, reads and syncs that were answered with an error
        self.dies_at: int | None = None
        self.before_sync: Callable[[], None] = _nothing
        self.on_read: int | None = None
        self.on_write: int | None = None
        self.on_sync: int | None = None
        self.only = ""
        super().__init__(self.name, base="", iVersion=1)

    def power_cut(self, chance: Random) -> None:
        """Cut the power and restore it. Open files become unusable."""
        self.dies_at = None
        for blocks in self.files.values():
            blocks.cut(chance)

    @contextmanager
    def failing(
        self,
        *,
        on_read: int | None = None,
        on_write: int | None = None,
        on_sync: int | None = None,
        only: str = "",
    ) -> Iterator[None]:
        """Return these SQLite error codes within the context, for files whose path ends like this."""
        self.on_read, self.on_write, self.on_sync, self.only = on_read, on_write, on_sync, only
        try:
            yield
        finally:
            self.on_read = self.on_write = self.on_sync = None

    def refuse(self, code: int | None, path: str) -> None:
        """Raise the current error, if there is one for this file."""
        if code is not None and path.endswith(self.only):
            self.refusals += 1
            raise apsw.exception_for(code)

    def step(self) -> None:
        """Count an operation. It is the last one if the power fails now."""
        self.operations += 1
        if self.dies_at is not None and self.operations >= self.dies_at:
            raise apsw.exception_for(apsw.SQLITE_IOERR)

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return _File(self, path)

    def xDelete(self, filename, syncdir):  # noqa: N802 - SQLite's name and signature
        self.step()
        self.files.pop(filename, None)

    def xAccess(self, pathname, flags):  # noqa: N802 - SQLite's name and signature
        return pathname in self.files

    def xFullPathname(self, name):  # noqa: N802 - SQLite's name
        return name


class _Blocks:
    """The content of a file: as readers see it, as it was synced, and the writes since."""

    def __init__(self) -> None:
        self.seen = bytearray()
        self.durable = bytearray()
        self.between: list[tuple[int, bytes | None]] = []

    def write(self, offset: int, data: bytes | None) -> None:
        """Put data at an offset. No data means that the file ends there."""
        _apply(self.seen, offset, data)
        self.between.append((offset, data))

    def sync(self) -> None:
        for offset, data in self.between:
            _apply(self.durable, offset, data)
        self.between.clear()

    def lose(self) -> None:
        """The effect of a failed sync: readers still see the pages, but they are never synced."""
        self.between.clear()

    def cut(self, chance: Random) -> None:
        for offset, data in self.between:
            if chance.random() < 0.5:
                continue
            if data is not None and chance.random() < 0.3:
                data = data[: SECTOR * chance.randrange(len(data) // SECTOR + 1)]  # noqa: PLW2901 - torn
            _apply(self.durable, offset, data)
        self.between.clear()
        self.seen = bytearray(self.durable)


class _File:
    """An open file. It has no locks: the store has its own."""

    def __init__(self, disk: FaultyDisk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._blocks = disk.files.setdefault(path, _Blocks())

    def xRead(self, amount, offset):  # noqa: N802 - SQLite's name
        self._disk.refuse(self._disk.on_read, self._path)
        return bytes(self._blocks.seen[offset : offset + amount])

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        self._disk.refuse(self._disk.on_write, self._path)
        self._disk.step()
        self._blocks.write(offset, bytes(data))

    def xTruncate(self, size):  # noqa: N802 - SQLite's name
        self._disk.step()
        self._blocks.write(size, None)

    def xSync(self, flags):  # noqa: N802 - SQLite's name and signature
        self._disk.before_sync()
        try:
            self._disk.refuse(self._disk.on_sync, self._path)
        except apsw.Error:
            self._blocks.lose()
            raise
        self._disk.step()
        self._blocks.sync()

    def xFileSize(self):  # noqa: N802 - SQLite's name
        return len(self._blocks.seen)

    def xLock(self, level):  # noqa: N802 - SQLite's name
        """Allow it."""

    def xUnlock(self, level):  # noqa: N802 - SQLite's name
        """Allow it."""

    def xCheckReservedLock(self):  # noqa: N802 - SQLite's name
        return False

    def xFileControl(self, op, pointer):  # noqa: N802 - SQLite's name and signature
        return False

    def xSectorSize(self):  # noqa: N802 - SQLite's name
        return SECTOR

    def xDeviceCharacteristics(self):  # noqa: N802 - SQLite's name
        return 0

    def xClose(self):  # noqa: N802 - SQLite's name
        """There is nothing to release."""


def _nothing() -> None:
    """Until a test wants to look."""


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data
