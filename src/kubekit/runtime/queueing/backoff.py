"""The delay of a request that fails: doubled after each failure, with jitter.

Without jitter, requests that failed together, as when a server was unreachable, would all be retried
together.
"""

from random import Random
from typing import Final

from kubekit.runtime.requests import ClusterName, Request

FIRST: Final = 0.005
MOST: Final = 1000.0
JITTER: Final = 0.5
_ENOUGH: Final = 1000  # doublings: beyond any limit, and still a float


class RequestBackoff:
    """Counts the failures of each request since its last success.

    ``jitter`` is the random share of each delay. With a half or less no delay is shorter than the
    one before it, until the longest is reached.
    """

    def __init__(
        self, chance: Random, first: float = FIRST, most: float = MOST, jitter: float = JITTER
    ) -> None:
        self._chance = chance
        self._first = first
        self._most = most
        self._jitter = jitter
        self._failures: dict[ClusterName, dict[Request, int]] = {}

    def next(self, request: Request) -> float:
        """Count one more failure. Returns the seconds until the retry."""
        failures = self._failures.setdefault(request.cluster, {})
        before = failures.get(request, 0)
        failures[request] = before + 1
        longest = min(self._most, self._first * 2.0 ** min(before, _ENOUGH))
        return longest * (1.0 - self._jitter * self._chance.random())

    def failures(self, request: Request) -> int:
        """How often a request has failed since its last success."""
        return self._failures.get(request.cluster, {}).get(request, 0)

    def forget(self, request: Request) -> None:
        """Reset the count: the request succeeded, or is not retried any more."""
        failures = self._failures.get(request.cluster)
        if failures is None or failures.pop(request, None) is None:
            return
        if not failures:
            del self._failures[request.cluster]

    def drop(self, cluster: ClusterName) -> None:
        """Forget every request of a cluster."""
        self._failures.pop(cluster, None)

    def __len__(self) -> int:
        """How many requests are failing."""
        return sum(map(len, self._failures.values()))
