"""Curves as pictures: both axes logarithmic, a line for each curve, written as SVG."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from bench.load.world.growth import Curve

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 150, 40, 50
_COLOURS: Final = ("#1b6ca8", "#c0392b", "#27803b", "#8e5bb5", "#b07a10", "#5a5a5a")
_STYLE: Final = (
    "text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}"
    ".grid{stroke:#ddd}.axis{stroke:#333}.curve{fill:none;stroke-width:2}"
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture's words."""

    title: str
    across: str
    up: str


def drawn(chart: Chart, curves: Sequence[Curve]) -> str:
    """The picture. What is not positive has no place on it."""
    shown = [
        Curve(curve.along, [(x, y) for x, y in curve.points if x > 0 and y > 0]) for curve in curves
    ]
    shown = [curve for curve in shown if curve.points]
    if not shown:
        raise ValueError(f"there is nothing to draw in {chart.title!r}")
    across = _Axis.around([x for curve in shown for x, _ in curve.points])
    up = _Axis.around([y for curve in shown for _, y in curve.points])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="white"/>',
        *_words(chart),
        *_grid(across, up),
        *(part for number, curve in enumerate(shown) for part in _line(curve, across, up, number)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Axis:
    """Whole powers of ten, from the one below all values to the one above."""

    low: int
    high: int

    @classmethod
    def around(cls, values: Sequence[float]) -> "_Axis":
        low = math.floor(math.log10(min(values)))
        return cls(low, max(math.ceil(math.log10(max(values))), low + 1))

    def share(self, value: float) -> float:
        return (math.log10(value) - self.low) / (self.high - self.low)

    @property
    def marks(self) -> Iterator[float]:
        return (10.0**power for power in range(self.low, self.high + 1))


def _place(across: float, up: float) -> tuple[float, float]:
    """Where shares of both axes are in the picture."""
    x = _LEFT + across * (_WIDTH - _LEFT - _RIGHT)
    return x, _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)


def _words(chart: Chart) -> Iterator[str]:
    middle, _ = _place(0.5, 0)
    yield f'<text class="title" x="{_LEFT}" y="22">{escape(chart.title)}</text>'
    yield _text(middle, _HEIGHT - 12, chart.across, "middle")
    height = _place(0, 0.5)[1]
    turned = f'transform="rotate(-90 16 {height:.0f})"'
    yield f'<text x="16" y="{height:.0f}" text-anchor="middle" {turned}>{escape(chart.up)}</text>'


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    for mark in across.marks:
        x, bottom = _place(across.share(mark), 0)
        yield _stroke("grid", (x, bottom), (x, _TOP))
        yield _text(x, bottom + 18, f"{mark:,g}", "middle")
    for mark in up.marks:
        left, y = _place(0, up.share(mark))
        yield _stroke("grid", (left, y), (_WIDTH - _RIGHT, y))
        yield _text(left - 6, y + 4, f"{mark:,g}", "end")
    yield _stroke("axis", _place(0, 0), _place(1, 0))
    yield _stroke("axis", _place(0, 0), _place(0, 1))


def _line(curve: Curve, across: _Axis, up: _Axis, number: int) -> Iterator[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    places = [_place(across.share(x), up.share(y)) for x, y in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="curve" stroke="{colour}" points="{path}"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    x, y = _WIDTH - _RIGHT + 12, _TOP + 18 * (number + 1)
    yield _stroke("curve", (x, y - 4), (x + 18, y - 4), f' stroke="{colour}"')
    yield _text(x + 24, y, curve.along, "start")


def _stroke(kind: str, start: tuple[float, float], end: tuple[float, float], more: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{more}/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>'
