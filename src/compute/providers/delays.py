"""Delays of simulated machines: fixed, uniformly distributed, or exponentially distributed.

A random value is a hash of what it is for. So it is the same in every reconcile pass, in every
process, and after a restart.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Final

_MOST: Final = 86_400.0  # seconds; the longest delay that makes sense in a test
_TAIL: Final = 10.0  # an exponential delay is cut off at this multiple of its mean
_BYTES: Final = 7  # enough for the 53 bits of a float


def drawn(*about: str) -> float:
    """A number from 0 up to 1 that depends only on the arguments."""
    digest = hashlib.sha256("\0".join(about).encode()).digest()
    return int.from_bytes(digest[:_BYTES]) / (1 << 8 * _BYTES)


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from ``low`` to ``high``; with ``mean``, exponentially distributed instead."""

    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0

    def seconds(self, *about: str) -> float:
        """The delay for this case, in seconds."""
        if self.mean:
            return min(-self.mean * math.log(1 - drawn(*about)), _TAIL * self.mean)
        if self.low == self.high:
            return self.low
        return self.low + (self.high - self.low) * drawn(*about)


def parse_delay(text: str) -> Delay:
    """The delay that a text names: ``2``, ``1-5`` or ``exp:3``, all in seconds."""
    if text.startswith("exp:"):
        return Delay(mean=parse_number(text.removeprefix("exp:"), _MOST))
    low, dash, high = text.partition("-")
    least = parse_number(low, _MOST)
    most = parse_number(high, _MOST) if dash else least
    if most < least:
        raise ValueError(f"{text} ends before it starts")
    return Delay(least, most)


def parse_number(text: str, most: float = _MOST) -> float:
    """The number that a text names, from 0 to ``most``."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise ValueError(f"{text!r} is not a number from 0 to {most:g}")
    return number
