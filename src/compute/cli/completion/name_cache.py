"""Names that were read a moment ago, in a file below the user's cache folder.

A shell asks again with every press of Tab. Entries are kept for a few seconds; an empty one stands for
a server that did not answer. The keys are digests, because the flags of a target may hold a token.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

Names = list[tuple[str, str]]
"""Values, each with a description."""

LIFE: Final = 5.0  # seconds
_MOST: Final = 16  # entries


def cache_file(variables: Mapping[str, str] = os.environ) -> Path:
    home = variables.get("HOME")
    folder = variables.get("XDG_CACHE_HOME") or (Path(home) if home else Path.home()) / ".cache"
    return Path(folder) / "compute" / "completion.json"


def key_of(parts: Sequence[str]) -> str:
    """The key of the names that all these parts determine."""
    from hashlib import blake2b  # noqa: PLC0415 -- only while a word is completed

    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def cached(file: Path, key: str, now: float) -> Names | None:
    """The names of a key; None if they are not known or too old."""
    entry = _entries(file).get(key)
    try:
        at, names = entry or (now - 2 * LIFE, [])
        if not 0 <= now - at < LIFE:
            return None
        return [(str(value), str(text)) for value, text in names]
    except (TypeError, ValueError):
        return None


def keep(file: Path, key: str, names: Names, now: float) -> None:
    """Remember the names. A cache that cannot be written is no error."""
    entries = {k: v for k, v in _entries(file).items() if _is_fresh(v, now)}
    entries[key] = [now, names]
    newest = dict(list(entries.items())[-_MOST:])
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(partial, "w", opener=_private, encoding="utf-8") as stream:
            json.dump(newest, stream)
        partial.replace(file)
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _entries(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_fresh(entry: object, now: float) -> bool:
    match entry:
        case [int() | float() as at, list()]:
            return 0 <= now - at < LIFE
        case _:
            return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
