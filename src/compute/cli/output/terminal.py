"""The terminal: whether there is one, how wide it is, and colours on it.

Without a terminal there are no colours, nothing is redrawn and nothing is asked.
"""

import os
import shutil
import sys
from typing import Final, TextIO

_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def is_terminal(stream: TextIO) -> bool:
    """Whether a person reads the stream, on a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_interactive() -> bool:
    """Whether a question can be asked and answered."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def has_colours(stream: TextIO) -> bool:
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def width(stream: TextIO) -> int:
    """Columns of the terminal; 0, which means no limit, where there is none."""
    return shutil.get_terminal_size((80, 24)).columns if is_terminal(stream) else 0


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in a colour or in bold, where the stream shows colours."""
    if not text or not has_colours(stream or sys.stdout):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
