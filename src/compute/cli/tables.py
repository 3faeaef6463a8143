"""Tables as text. They are pure, so a test compares the lines that a user sees."""

from collections.abc import Iterable, Sequence

_GAP = "   "


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns padded with spaces, three between them, none at the end of a line."""
    lines = [list(headers), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def plain(text: str) -> str:
    """The text with control characters escaped: text of a manifest must not move the cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
