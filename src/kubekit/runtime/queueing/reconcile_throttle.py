"""The minimum interval between two passes of an object that aggregates many children.

A pass reads all children, and each child changes several times until it is ready. One pass for each
change would cost the square of their number, and one write of the aggregate each. So the next pass
waits for a time that grows with the number of children, and handles all changes of that time. When
there is nothing left to do but to count, it waits longer.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zlib import crc32

from kubekit.runtime.requests import Request

# With fewer children, a pass costs less than one that only finds out that it is too early.
_FEW: Final = 10
_EACH: Final = 0.001  # seconds for each child
_MOST: Final = 0.25  # four passes a second at a thousand Instances
# A decision takes 5 us for each of a thousand (bench/decide.py).
_EACH_TO_COUNT: Final = 0.005
_MOST_TO_COUNT: Final = 2.0
_SPREAD: Final = 4  # a quarter of each wait differs between objects
_EACH_AT_FIRST: Final = 0.0005
_MOST_AT_FIRST: Final = 0.5


@dataclass(frozen=True, slots=True)
class _NextPass:
    """The time of the next pass, and the extra delay if there was no request until then."""

    at: float
    first: float = 0.0


class ReconcileThrottle:
    """The time of the next pass of each object. It does not delay retries of failed passes.

    With ``staggered`` the first counting pass after a quiet time is delayed by a time that differs
    between objects: a change that requests one of many cities tends to request them all.
    """

    def __init__(self, *, staggered: bool = False) -> None:
        self._staggered = staggered
        self._next: dict[Request, _NextPass] = {}

    def wait(self, request: Request) -> timedelta | None:
        """The time until the next pass may run; None when it may run now."""
        next_pass = self._next.get(request)
        if next_pass is None:
            return None
        now = asyncio.get_running_loop().time()
        if now - next_pass.at > next_pass.first > 0.0:
            next_pass = self._next[request] = _NextPass(now + next_pass.first)
        remaining = next_pass.at - now
        return timedelta(seconds=remaining) if remaining > 0 else None

    def reconciled(self, request: Request, children: int, *, to_count: bool) -> None:
        """Note a successful pass over so many children. ``to_count``: the next pass need only count."""
        if children < _FEW:
            self.forget(request)
            return
        each, most = (_EACH_TO_COUNT, _MOST_TO_COUNT) if to_count else (_EACH, _MOST)
        now, share = asyncio.get_running_loop().time(), _share(request)
        first = (
            min(children * _EACH_AT_FIRST, _MOST_AT_FIRST) if to_count and self._staggered else 0.0
        )
        at = now + min(children * each, most) * (1.0 - share / _SPREAD)
        self._next[request] = _NextPass(at, first * share)

    def forget(self, request: Request) -> None:
        """Remove the limit of an object that is deleted, or has few children."""
        self._next.pop(request, None)


def _share(request: Request) -> float:
    """A number from 0 to 1 that depends on the request.

    Objects that started together would otherwise be reconciled together indefinitely, and every
    other request would have to wait for all of them.
    """
    return crc32(str(request).encode()) / (1 << 32)
