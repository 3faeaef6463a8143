"""How long things took, counted cheaply and told as a Prometheus histogram."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate


class DurationHistogram:
    """How many took how long. Plain numbers, since they are counted far more often than read."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # one for each bound, and what is above the last
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """The cumulative counts, each with its bound, as Prometheus wants them."""
        names = (*(f"{bound:g}" for bound in self.bounds), "+Inf")
        return list(zip(names, map(float, accumulate(self.counts)), strict=True))
