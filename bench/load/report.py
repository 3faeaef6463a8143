"""The results, as rows with goals, as a table and as JSON."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, Final, Literal

import msgspec

Better = Literal["higher", "lower"]


# measure -> how many times better than the peer it must be
HOLDS: Final = {"create": 5, "get": 10, "status": 5, "list": 5, "list.gz": 5, "watch": 5}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure: what each server reached in each of its rounds.

    ``hold`` says how many times better than the peer ours must be; ``bound`` what it must reach
    whatever a peer does.
    """

    name: str
    unit: str
    better: Better
    rounds: dict[str, list[float]]
    clients: int = 0
    hold: float | None = None
    bound: float | None = None
    notes: str = ""

    @property
    def ours(self) -> float:
        return median(self.rounds["ours"])

    @property
    def peer(self) -> float | None:
        return median(self.rounds["peer"]) if "peer" in self.rounds else None

    @property
    def factor(self) -> float | None:
        """How many times better ours is."""
        if not self.peer or not self.ours:
            return None
        return self.ours / self.peer if self.better == "higher" else self.peer / self.ours

    @property
    def verdict(self) -> str:
        if self.bound is not None:
            within = self.ours >= self.bound if self.better == "higher" else self.ours <= self.bound
            return "holds" if within else "MISSES"
        if self.hold is None or self.factor is None:
            return ""
        return "holds" if self.factor >= self.hold else "MISSES"


def table(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    headers = ("measure", "clients", "unit", "ours", "peer", "factor", "goal", "verdict", "notes")
    lines = [headers, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths) for cells in lines)


def data(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows as JSON data."""
    found = ("ours", "peer", "factor", "verdict")
    return [
        {**msgspec.to_builtins(row), **{name: getattr(row, name) for name in found}} for row in rows
    ]


def percentile(values: Sequence[int], share: float) -> float:
    """Milliseconds below which this share of durations in nanoseconds lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] / 1e6


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        str(row.clients or ""),
        row.unit,
        _number(row.ours),
        _number(row.peer),
        "" if row.factor is None else f"{row.factor:.1f}x",
        _goal(row),
        row.verdict,
        row.notes,
    )


def _goal(row: Row) -> str:
    if row.bound is not None:
        return f"{'>=' if row.better == 'higher' else '<='} {_number(row.bound)}"
    return "" if row.hold is None else f">= {row.hold:g}x"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, numbers to the right."""
    shown = [
        cell.rjust(width) if 3 <= at <= 5 or at == 1 else cell.ljust(width)  # noqa: PLR2004 - columns
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()
