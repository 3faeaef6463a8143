"""Lines on a terminal that are drawn over themselves."""

import shutil
import sys
from collections.abc import Sequence
from typing import Final

_REST: Final = 3  # lines of the terminal that stay free
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[2K", "\x1b[J"
# A line that is too long is cut by the terminal. If it continued on the next line, the height would be wrong.
_CUT_LINES, _WRAP_LINES = "\x1b[?7l", "\x1b[?7h"


class RedrawnLines:
    """Draws lines over those that it drew before. Lines that do not fit on the terminal are counted."""

    def __init__(self) -> None:
        self._height = 0

    def draw(self, lines: Sequence[str]) -> None:
        most = max(shutil.get_terminal_size((80, 24)).lines - _REST, 1)
        shown = list(lines)
        if len(shown) > most:
            shown = [*shown[: most - 1], f"... and {len(shown) - most + 1} more"]
        up = f"\x1b[{self._height}A" if self._height else ""
        self._height = len(shown)
        drawn = "".join(f"{_CLEAR_LINE}{line}\r\n" for line in shown)
        sys.stdout.write(f"{_HIDE_CURSOR}{_CUT_LINES}{up}{drawn}{_CLEAR_BELOW}{_WRAP_LINES}")
        sys.stdout.flush()

    def restart(self) -> None:
        """Draw below from now on: something else was printed meanwhile."""
        self._height = 0

    def close(self) -> None:
        """Show the cursor again."""
        sys.stdout.write(_SHOW_CURSOR)
        sys.stdout.flush()
