"""Checks that a file is still at the path it was opened from: writes to a deleted file are lost.

On Linux a process can go on writing to a file whose name was removed. It would acknowledge changes
that no later process can read.
"""

from pathlib import Path

from kubekit.plane.store.errors import WritesStopped

_EVERY = 1000  # milliseconds: a check costs a system call, and the interpreter lock


class FileLocation:
    """The paths of one database, and the files they named when it was opened.

    A file that is not ``real`` is on a virtual disk, where it cannot be removed.
    """

    def __init__(self, path: Path, *, real: bool) -> None:
        self._files = {}
        self._path = path
        self._checked = 0
        if real:
            names = (path, path.with_name(f"{path.name}-wal"))
            self._files = {name: _identity(name) for name in names}

    def check(self, at: int) -> None:
        """Raise `WritesStopped` if a path names another file. ``at`` is the time of the rows."""
        if abs(at - self._checked) < _EVERY:
            return
        self._checked = at
        for name, identity in self._files.items():
            if _identity(name) != identity:
                raise _gone(self._path, name)


def _identity(name: Path) -> tuple[int, int] | None:
    try:
        status = name.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _gone(path: Path, name: Path) -> WritesStopped:
    return WritesStopped(
        f"{name} was deleted or replaced while it was in use. What was written to {path} within the "
        "last second may be lost. Reads continue from memory, writes stay stopped: save what "
        "you need, restore a copy to that path, then restart",
        final=True,
    )
