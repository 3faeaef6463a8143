"""Whether a file is still where it was opened: what is written to a deleted one is lost.

Linux lets a process go on with a file that has no name any more. It would acknowledge changes that
nobody finds again.
"""

from pathlib import Path

from kubekit.plane.store.errors import WritesStopped

_EVERY = 1000  # milliseconds: to ask costs a system call, and the interpreter's lock


class FileLocation:
    """The names of one database, and the files that stood behind them when it was opened.

    A file that is not ``real`` is on a disk of its own, where nobody can remove it.
    """

    def __init__(self, path: Path, *, real: bool) -> None:
        self._files = {}
        self._path = path
        self._asked = 0
        if real:
            names = (path, path.with_name(f"{path.name}-wal"))
            self._files = {name: _identity(name) for name in names}

    def check(self, at: int) -> None:
        """Raise `WritesStopped` if a name leads elsewhere. Time is that of the rows: it may jump."""
        if abs(at - self._asked) < _EVERY:
            return
        self._asked = at
        for name, identity in self._files.items():
            if _identity(name) != identity:
                raise _gone(self._path, name)


def _identity(name: Path) -> tuple[int, int] | None:
    try:
        found = name.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _gone(path: Path, name: Path) -> WritesStopped:
    return WritesStopped(
        f"{name} was deleted or replaced while it was in use. What was written to {path} within the "
        "last second may be lost. Reading goes on from memory, writing stays stopped: save what "
        "you need, put a copy in its place, then start again",
        final=True,
    )
