"""How soon an object that sums up many others is looked at again.

A look goes through all of them, and each of them changes many times on its way up. One look per
change would cost the square of their number, and a write of the sum for each. So the next look waits
for a time that grows with their number, and sees all changes of it. Where there is nothing left to do,
and a look can but count, it waits longer.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zlib import crc32

from kubekit.runtime.requests import Request

_FEW: Final = 10  # with fewer a look is cheap, and a pass that finds it too early comes on top
_EACH: Final = 0.001  # seconds for each of the many
_MOST: Final = 0.25  # four looks a second at a thousand Instances: a rollout takes two for each
# To decide takes 5 us for each of a thousand (bench/decide.py).
_EACH_TO_COUNT: Final = 0.005
_MOST_TO_COUNT: Final = 2.0
_SPREAD: Final = 4  # one part in so many of a wait is the object's own
_EACH_AT_FIRST: Final = 0.0005
_MOST_AT_FIRST: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Turn:
    """From when on a look may be had, and how long it is put off if nobody asked until then."""

    at: float
    first: float = 0.0


class ReconcileThrottle:
    """When each object may be looked at next. What failed is not held back by it.

    If the looks are ``staggered``, the first to count after a rest is put off by a time of the
    object's own: what wakes one of many cities tends to wake them all.
    """

    def __init__(self, *, staggered: bool = False) -> None:
        self._staggered = staggered
        self._turns: dict[Request, _Turn] = {}

    def wait(self, request: Request) -> timedelta | None:
        """How much too early a look would be; None when it is time."""
        turn = self._turns.get(request)
        if turn is None:
            return None
        now = asyncio.get_running_loop().time()
        if now - turn.at > turn.first > 0.0:
            turn = self._turns[request] = _Turn(now + turn.first)
        left = turn.at - now
        return timedelta(seconds=left) if left > 0 else None

    def reconciled(self, request: Request, children: int, *, to_count: bool) -> None:
        """A look has ended well and went through so many; all that the next can do is ``to_count``."""
        if children < _FEW:
            self.forget(request)
            return
        each, most = (_EACH_TO_COUNT, _MOST_TO_COUNT) if to_count else (_EACH, _MOST)
        now, share = asyncio.get_running_loop().time(), _share(request)
        first = (
            min(children * _EACH_AT_FIRST, _MOST_AT_FIRST) if to_count and self._staggered else 0.0
        )
        at = now + min(children * each, most) * (1.0 - share / _SPREAD)
        self._turns[request] = _Turn(at, first * share)

    def forget(self, request: Request) -> None:
        """The object has gone, or may be looked at whenever it changes."""
        self._turns.pop(request, None)


def _share(request: Request) -> float:
    """A number from 0 to 1 that is the object's own.

    Objects that began together would be looked at together for ever, and whoever comes just then
    would wait for all of those looks.
    """
    return crc32(str(request).encode()) / (1 << 32)
