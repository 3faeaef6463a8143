"""Time and chance, handed in, so that a plane also runs on a virtual clock with a fixed seed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Environment:
    """What a plane may not find out by itself."""

    now: Callable[[], datetime]
    chance: Random

    def uid(self) -> str:
        """A new identity. It need not be secret, only never the same twice."""
        return str(UUID(int=self.chance.getrandbits(128), version=4))
