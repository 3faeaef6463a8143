"""Tables as text. They are pure, so a test compares the lines that a user sees."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

_GAP: Final = "   "
_CUT: Final = "…"
_ENOUGH: Final = 30  # characters of a text that is cut

Style = Callable[[int, str], str]
"""A cell as it is printed, given its column and its padded text."""


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    width: int = 0,
    style: Style | None = None,
    no_headers: bool = False,
) -> str:
    """Columns padded with spaces, three between them, none at the end of a line.

    If ``width`` is not 0, lines that are longer are cut at the last column that has room.
    """
    shown = rows if no_headers else (headers, *rows)
    lines = [[plain(cell) for cell in row] for row in shown]
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        _line(line, widths, width, style if no_headers or i else None)
        for i, line in enumerate(lines)
    )


def _line(line: Sequence[str], widths: Sequence[int], most: int, style: Style | None) -> str:
    padded = [cell.ljust(size) for cell, size in zip(line, widths, strict=True)]
    padded[-1] = line[-1]
    text = _GAP.join(padded).rstrip()
    if most and len(text) > most:
        return text[: most - 1] + _CUT
    if style is None:
        return text
    return _GAP.join(style(i, cell) for i, cell in enumerate(padded)).rstrip()


def fitting(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int,
    drop: Sequence[str],
    last: int = 0,
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The columns that fit into ``most`` characters; 0 is no limit. Those to ``drop`` go first to last.

    The last column may be cut: `_ENOUGH` characters of it are visible if possible. It has ``last`` at
    least, so that the columns of a table that is redrawn stay the same.
    """
    kept = list(range(len(headers)))
    sizes = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    sizes[-1] = min(max(sizes[-1], last), _ENOUGH)
    for header in drop:
        if not most or sum(sizes[i] for i in kept) + len(_GAP) * (len(kept) - 1) <= most:
            break
        kept = [i for i in kept if headers[i] != header]
    return [headers[i] for i in kept], [[row[i] for i in kept] for row in rows]


def plain(text: str) -> str:
    """The text with control characters escaped: text of a manifest must not move the cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def block(text: str) -> str:
    """Several lines, each with control characters escaped."""
    return "\n".join(plain(line) for line in text.split("\n"))


def indented(lines: Iterable[str], by: int = 2) -> list[str]:
    """The lines, each with spaces before it."""
    return [f"{' ' * by}{line}".rstrip() for line in lines]
