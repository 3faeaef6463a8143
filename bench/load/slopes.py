"""A straight line through points, and how sure its slope is."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple


class Slope(NamedTuple):
    """By how much a line rises per unit, and the standard error of that."""

    rise: float
    error: float


def slope(points: Sequence[tuple[float, float]]) -> Slope:
    """The line of least squares. Three points are the least that tell anything of its error."""
    if len(points) < 3:  # noqa: PLR2004 - two points lie on a line whatever they say
        return Slope(0.0, float("inf"))
    middle, level = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    rise = sum((x - middle) * (y - level) for x, y in points) / spread
    missed = sum((y - level - rise * (x - middle)) ** 2 for x, y in points)
    return Slope(rise, (missed / (len(points) - 2) / spread) ** 0.5)
