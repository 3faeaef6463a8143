"""Files with secrets: readable by their owner alone, and replaced atomically."""

import os
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600
OTHERS: Final = 0o077


def write_private(path: Path, content: bytes) -> None:
    """Replace a file atomically by one that only its owner may read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def open_to_others(path: Path) -> bool:
    """Whether other users than its owner have any access to a file."""
    return bool(path.stat().st_mode & OTHERS)
