"""How long a deleted project stays, and what it reports meanwhile.

The rule is that of a Workload's deletion: a cell that is not Ready is not waited for, since it
removes its part when it answers again; a cell that is Ready is waited for five minutes. Workloads
and their deployments follow that rule themselves, so the project always waits for those.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import Network
from compute.api.reasons import NeighbourReason
from compute.decide.ranking import Candidate
from kubekit.api import times

CELL_TIMEOUT: Final = timedelta(minutes=5)
STARTED: Final = Candidate("", NeighbourReason.CLEANUP_STARTED, "Everything in it is removed")
COMPLETE: Final = Candidate(
    "", NeighbourReason.CLEANUP_COMPLETE, "Everything in it is gone", "True"
)
_OWN_LIMIT: Final = frozenset({Workload.RESOURCE.plural, WorkloadDeployment.RESOURCE.plural})
_POLL: Final = timedelta(seconds=1)  # for Instances, which are too many to be watched


@dataclass(frozen=True, slots=True)
class HoldingCell:
    """A cell that still has objects of a project. ``unready`` is why it is not Ready; empty if it is."""

    name: str
    unready: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of a project, as observed: the kinds that are left in it, and the cells."""

    started: datetime
    left: Sequence[str] = ()
    cells: Sequence[HoldingCell] = ()

    @property
    def deadline(self) -> datetime:
        return self.started + CELL_TIMEOUT

    def awaits(self, cell: HoldingCell, now: datetime) -> bool:
        """Whether the project stays because of this cell."""
        return not cell.unready and now < self.deadline

    def is_over(self, now: datetime) -> bool:
        """Whether the project may be removed. What is left is then deleted by its cells."""
        if not self.left:
            return True
        if not _OWN_LIMIT.isdisjoint(self.left):
            return False
        if now >= self.deadline:
            return True
        only_networks = tuple(self.left) == (Network.RESOURCE.plural,)
        return only_networks and bool(self.cells) and all(c.unready for c in self.cells)

    def requeue_after(self, now: datetime) -> timedelta | None:
        """When to reconcile again if nothing that is watched changes until then."""
        if tuple(self.left) == (Instance.RESOURCE.plural,):
            return _POLL
        return self.deadline - now if now < self.deadline else None

    def report(self, now: datetime) -> Candidate:
        """The condition of a project that is being removed. It changes only when the facts do."""
        since = times.format_time(self.started)
        parts = [
            f"Waiting since {since} until these are gone: {', '.join(self.left)}",
            *self._awaited(now),
            *(_not_awaited(cell) for cell in self.cells if cell.unready),
        ]
        return Candidate("", NeighbourReason.CLEANUP_AWAITING_COMPLETION, "; ".join(parts))

    def note(self) -> str:
        """The note of the event when the project is removed."""
        names = ", ".join(cell.name for cell in self.cells)
        if not names:
            return "Everything in it is gone"
        return f"The project is gone; what is left in {names} is removed when that can be reached"

    def _awaited(self, now: datetime) -> list[str]:
        cells = [cell.name for cell in self.cells if not cell.unready]
        if not cells:
            return []
        limit = times.format_time(self.deadline)
        verb = "is" if now < self.deadline else "was"
        return [
            f"cell {name} has not released its part; it {verb} waited for until {limit}"
            for name in cells
        ]


def _not_awaited(cell: HoldingCell) -> str:
    return (
        f"cell {cell.name} is not waited for ({cell.unready}); "
        "it removes its part when it answers again"
    )
