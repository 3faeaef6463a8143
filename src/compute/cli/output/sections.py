"""The parts of a description: a title, and indented lines that fit on the terminal."""

import sys
import textwrap
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import Final

from compute.cli.output import phrases
from compute.cli.output.tables import indented, plain, table
from compute.cli.output.terminal import styled, width
from compute.views.details.conditions import ConditionView

_INDENT: Final = 2
_ANSWERS: Final = {"True": "yes", "False": "no", "Unknown": "unknown"}
_GAP: Final = "   "
_LABEL: Final = 10  # columns
_LEAST_ROOM: Final = 30


def section(title: str, lines: Sequence[str]) -> list[str]:
    """A part with its title, after an empty line; nothing without lines."""
    return ["", styled(plain(title), "bold"), *indented(lines, _INDENT)] if lines else []


def header(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Labels with their values, below each other. A label without a value is left out."""
    known = [(label, text) for label, text in pairs if text]
    return [line for label, text in known for line in beside(f"{label:<{_LABEL}} ", text)]


def beside(label: str, text: str) -> list[str]:
    """A text beside a label. On a terminal it is continued in further lines, below its own start."""
    return _continued(plain(label), plain(" ".join(text.split())), room_less=0)


def words(texts: Iterable[str]) -> list[str]:
    """A line for each text."""
    return [plain(text) for text in texts]


def rows(cells: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, without headers."""
    return table([""] * len(cells[0]), cells, no_headers=True).split("\n") if cells else []


def wrapped_rows(cells: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, of which the last is continued below itself."""
    if not cells:
        return []
    sizes = [max(len(plain(cell)) for cell in column) for column in zip(*cells, strict=True)]
    lines = []
    for *first, last in cells:
        padded = [plain(cell).ljust(size) for cell, size in zip(first, sizes, strict=False)]
        prefix = "".join(f"{cell}{_GAP}" for cell in padded)
        lines += _continued(prefix, plain(" ".join(last.split())), room_less=_INDENT)
    return lines


def condition_lines(conditions: Iterable[ConditionView], now: datetime) -> list[str]:
    """Conditions in words: whether each holds, since when, and what its reason means."""
    known: set[str] = set()
    cells = []
    for each in conditions:
        text = _explained(each, known)
        cells.append((each.type, _ANSWERS[each.status], phrases.age(each.since, now), text))
        known |= {each.message, each.explains}
    return wrapped_rows(cells)


def _explained(condition: ConditionView, known: Container[str]) -> str:
    """The reason, the message, and what the reason means; each sentence once in a list."""
    adds = condition.explains if condition.status != "True" or not condition.message else ""
    sentences = [text for text in (condition.message, adds) if text]
    new = [text for text in sentences if text not in known]
    if sentences and not new:
        return f"{condition.reason}, as above"
    ended = [*(f"{text.rstrip('.')}." for text in new[:-1]), *new[-1:]]
    return f"{condition.reason}: {' '.join(ended)}" if new else condition.reason


def _continued(prefix: str, text: str, *, room_less: int) -> list[str]:
    most = width(sys.stdout)
    room = most - room_less - len(prefix)
    if not most or len(text) <= room:
        return [f"{prefix}{text}".rstrip()]
    if room < _LEAST_ROOM:
        return [
            prefix.rstrip(),
            *(f"    {line}" for line in textwrap.wrap(text, max(most - 6, _LEAST_ROOM))),
        ]
    first, *more = textwrap.wrap(text, room, break_on_hyphens=False)
    return [f"{prefix}{first}", *(" " * len(prefix) + line for line in more)]
