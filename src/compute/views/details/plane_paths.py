"""The same Instance on every plane that it passes: the project, the hub, and the cell.

The cell runs it and reports to the hub, from which the project has its copy. So a difference between
two planes is news on its way, or news that does not arrive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from compute.api.compute import Instance
from compute.decide.deployment.rollup import same
from compute.decide.instance_state import standing
from compute.views.view import View
from kubekit.api.meta import EPOCH

PROJECT: Final = "project"
HUB: Final = "hub"
CELL: Final = "cell"


class PlaneReadState(StrEnum):
    """Whether an Instance could be read on a plane."""

    FOUND = "found"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class PlaneCopyView(View, frozen=True, kw_only=True):
    """An Instance on one plane.

    ``differs`` has the parts in which it differs from the Instance in the project; it is empty where they
    agree. ``written_at`` is the last write that the plane has of it, so the age of its data.
    """

    plane: str
    name: str  # of the plane
    state: PlaneReadState
    problem: str = ""
    status: str = ""
    differs: tuple[str, ...] = ()
    written_at: datetime | None = None
    written_by: str = ""


@dataclass(frozen=True, slots=True)
class PlaneReading:
    """What reading an Instance on a plane gave: the object, None if it is not there, or a problem."""

    plane: str
    name: str
    instance: Instance | None = None
    problem: str = ""


def plane_path(
    project: PlaneReading, others: Sequence[PlaneReading], now: datetime
) -> tuple[PlaneCopyView, ...]:
    """The Instance on each plane, from the project to the cell."""
    return tuple(_copy(each, project.instance, now) for each in (project, *others))


def _copy(reading: PlaneReading, own: Instance | None, now: datetime) -> PlaneCopyView:
    found = reading.instance
    if found is None:
        state = PlaneReadState.UNREADABLE if reading.problem else PlaneReadState.MISSING
        return PlaneCopyView(
            plane=reading.plane, name=reading.name, state=state, problem=reading.problem
        )
    at, by = _last_write(found)
    return PlaneCopyView(
        plane=reading.plane,
        name=reading.name,
        state=PlaneReadState.FOUND,
        status=standing(found, now=now).text,
        differs=_differences(own, found) if own else (),
        written_at=at,
        written_by=by,
    )


def _differences(own: Instance, other: Instance) -> tuple[str, ...]:
    parts: Mapping[str, bool] = {
        "spec": own.spec == other.spec,
        "status": same(own.status, other.status),
        "deletion": own.deleting == other.deleting,
    }
    return tuple(name for name, agrees in parts.items() if not agrees)


def _last_write(instance: Instance) -> tuple[datetime | None, str]:
    """When and by what it was last written; without that record, its last transition."""
    # Of writes in one second, the later in the list is more often that of the status.
    writes = [entry for entry in reversed(instance.metadata.managed_fields) if entry.time]
    if writes:
        last = max(writes, key=lambda entry: entry.time or EPOCH)
        return last.time, last.manager
    times = [c.last_transition_time for c in instance.status.conditions]
    latest = max(times, default=EPOCH)
    return (latest if latest > EPOCH else instance.metadata.creation_timestamp), ""
