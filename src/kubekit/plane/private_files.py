"""Files with secrets: only the owner may read them, and they are replaced atomically."""

import os
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600
OTHERS: Final = 0o077


def write_private(path: Path, content: bytes) -> None:
    """Replace a file atomically by one that only its owner may read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def open_to_others(path: Path) -> bool:
    """Whether any user other than the owner has access to a file."""
    return bool(path.stat().st_mode & OTHERS)
