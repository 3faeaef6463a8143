"""The lines in which two texts differ, as `diff -u` prints them."""

import sys
from typing import Final

from compute.cli.output.tables import plain
from compute.cli.output.terminal import styled

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


def line_diff(old: str, new: str, old_name: str, new_name: str) -> list[str]:
    """The differences with three lines around each, coloured on a terminal; none if they are equal."""
    from difflib import unified_diff  # noqa: PLC0415 -- only where there is something to compare

    lines = unified_diff(old.split("\n"), new.split("\n"), old_name, new_name, lineterm="")
    return [_styled(plain(line)) for line in lines]


def _styled(line: str) -> str:
    colour = _COLOURS.get(line[:1])
    return styled(line, colour, sys.stdout) if colour else line
