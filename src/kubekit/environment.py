"""The clock and the random numbers of a program, passed in, so that tests run on a virtual clock."""

from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import Final

import msgspec

# Version 4 and variant 1 of RFC 9562, at their positions in the 128 bits.
_RANDOM_UUID: Final = 0x4 << 76 | 0x2 << 62
_RANDOM_BITS: Final = ~(0xF << 76 | 0x3 << 62)


class ExecutionEnvironment(msgspec.Struct, frozen=True):
    """The sources of nondeterminism, which no other code may use directly."""

    now: Callable[[], datetime]
    chance: Random

    def uid(self) -> str:
        """A new identity, a random UUID. It must be unique, not secret."""
        bits = self.chance.getrandbits(128) & _RANDOM_BITS | _RANDOM_UUID
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
