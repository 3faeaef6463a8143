"""How long a world waits before it gives something up."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from compute.decide.deployment.drains import DEFAULT_GRACE, Grace
from compute.federation.heartbeat import CELL_TIMEOUT, SHORTEST_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldTiming:
    """The times that `compute up` lets a user set."""

    grace: Grace = DEFAULT_GRACE
    cell_timeout: timedelta = CELL_TIMEOUT  # of silence, until a cell counts as unreachable


SHORTEST_CELL_TIMEOUT: Final = SHORTEST_TIMEOUT
DEFAULT_TIMING: Final = WorldTiming()
