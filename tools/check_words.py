"""Check the words: no banned word in code, comments, tests, docs, manifests or help texts.

A word counts wherever it stands by itself, in the parts of an identifier too: ``told_to_stop`` and
``WhoeverAsks`` are complaints. A line with a reason to keep one ends with ``words: WHY`` in a
comment; a whole file is listed in `EXEMPT`.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

INSTEAD: Final = {
    "he": "it, or the user",
    "his": "its, or the user's",
    "him": "it, or the user",
    "whom": "name the thing: the user, the client",
    "whoever": "name the thing: the user, the client, the caller",
    "somebody": "a user, a client, an operator",
    "everybody": "all users, all clients",
    "nobody": "no user, no client, none",
    "told": "reported, notified, passed",
    "heed": "observe, respect",
    "heard": "received, observed",
    "those who": "the users that, the callers that",
    "with a say": "admission plugin, admission webhook",
    "for good": "permanently",
    "for ever": "indefinitely",
}
"""Each banned word or phrase, and what to write."""

EXEMPT: Final = frozenset({"LICENSE", "tools/check_words.py", "tests/unit/test_check_words.py"})
"""Files that need the words themselves."""

_SUFFIXES: Final = frozenset({".py", ".md", ".yaml", ".toml", ".sh", ".json", ""})
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BANNED: Final = re.compile(
    rf"\b({'|'.join(sorted(INSTEAD, key=len, reverse=True))})s?\b"  # "nobodys" too, of a test
)


def main() -> int:
    """Print every complaint; the answer is the exit code."""
    complaints = [complaint for file in _files() for complaint in _complaints(file)]
    print("\n".join(complaints) or "words: none that is banned")
    return 1 if complaints else 0


def banned(line: str) -> list[str]:
    """The banned words of a line, in its order."""
    return _BANNED.findall(" ".join(_PARTS.findall(line)).lower())


def _files() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        file = ROOT / name
        if name not in EXEMPT and file.suffix in _SUFFIXES and file.is_file():
            yield file


def _complaints(file: Path) -> Iterator[str]:
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        for word in [] if "words: " in line else banned(line):
            where = f"{file.relative_to(ROOT)}:{number}"
            yield f'{where}: "{word}" is banned; write: {INSTEAD[word]}'


if __name__ == "__main__":
    sys.exit(main())
