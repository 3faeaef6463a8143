"""From the hub back to the project: how a deployment is doing in its city."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

import msgspec

from compute.api import times
from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.conditions import ConditionType
from compute.api.meta import Condition
from compute.api.reasons import Reason
from compute.decide import drains
from compute.decide.conditions import find, is_true, put
from compute.decide.generations import is_reported, translated
from compute.decide.ranking import Candidate
from compute.decide.rollup import same

_SAID_BY_THE_PROJECT: Final = (
    ConditionType.DRAIN_SCHEDULED,
    ConditionType.REFERENCED_DATA_READY,
)


@dataclass(frozen=True, slots=True)
class Silent:
    """The cell's lease has run out. It was last heard of at this instant."""

    cell: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The hub has found no cell for the deployment, and says why."""

    why: str


@dataclass(frozen=True, slots=True)
class Held:
    """An operator of the hub has suspended dispatching to the cell."""

    cell: str


@dataclass(frozen=True, slots=True)
class NotTaken:
    """The cell does not take the deployment, and says why."""

    cell: str
    why: str


Trouble = Silent | Unplaced | Held | NotTaken


def silence(cell: str, last_report: datetime, lease: timedelta, now: datetime) -> Silent | None:
    """The trouble of a cell that was last heard of longer ago than its lease lasts, if it was."""
    return Silent(cell, last_report) if now - last_report > lease else None


def project_status(
    deployment: WorkloadDeployment,
    hub: WorkloadDeployment | None,
    trouble: Trouble | None,
    now: datetime,
) -> WorkloadDeploymentStatus | None:
    """The status that the project's deployment should have; None when nothing need be written.

    It is the hub's, except for what the project says itself of referenced data and of a drain, and
    for what the hub knows and the cell cannot say: that it is silent, or that there is none.
    """
    if hub is None:
        return None
    current = is_reported(hub) and hub.spec == deployment.spec
    report = translated(hub.status, deployment, current=current)
    own = find(deployment.status.conditions, ConditionType.REFERENCED_DATA_READY)
    told = [c for c in report.conditions if c.type not in _SAID_BY_THE_PROJECT]
    if own:
        told.append(own)
    drain = drains.condition(deployment, now)
    if drain:
        told.append(_since_then(deployment, drain, now))
    overlay = _overlay(deployment, told, trouble)
    if overlay:
        told = _overlaid(deployment, told, ConditionType.AVAILABLE, overlay, now)
    if isinstance(trouble, Held):
        told = _overlaid(deployment, told, ConditionType.PAUSED, _paused(deployment), now)
    status = msgspec.structs.replace(report, conditions=tuple(told))
    return None if same(deployment.status, status) else status


def _overlay(
    deployment: WorkloadDeployment, told: list[Condition], trouble: Trouble | None
) -> Candidate | None:
    match trouble:
        case None:
            return None
        case Silent(cell, since):
            # The instant and not the age, which would be another status on every pass.
            message = (
                f"Cell {cell} has not reported since {times.format_time(since)}; "
                "what runs there goes on unseen"
            )
            return Candidate("", Reason.CELL_UNREACHABLE, message, "Unknown")
        case Unplaced(why):
            served = is_true(told, ConditionType.AVAILABLE)
            message = f"No cell serves {deployment.spec.city_code}: {why}"
            return None if served else Candidate("", Reason.NO_CELL_FOR_CITY, message)
        case Held():
            waiting = Candidate("", Reason.PROPAGATION_SUSPENDED, _held(deployment))
            return None if find(told, ConditionType.AVAILABLE) else waiting
        case NotTaken(cell, why):
            refused = Candidate("", Reason.REFUSED_BY_CELL, f"Cell {cell} does not take it: {why}")
            return None if find(told, ConditionType.AVAILABLE) else refused
    assert_never(trouble)


def _paused(deployment: WorkloadDeployment) -> Candidate:
    """That changes are held back; true of what runs too, which is not unavailable because of it."""
    return Candidate("", Reason.PROPAGATION_SUSPENDED, _held(deployment), "True")


def _held(deployment: WorkloadDeployment) -> str:
    return (
        f"Changes for {deployment.spec.city_code} are held back by an operator of the hub "
        "(suspension of the policy); what runs there keeps running"
    )


def _overlaid(
    deployment: WorkloadDeployment,
    told: list[Condition],
    kind: ConditionType,
    overlay: Candidate,
    now: datetime,
) -> list[Condition]:
    """The conditions with the overlay as one of this type, since the time the project has it."""
    reported = find(told, kind)
    news = overlay.condition(kind, reported.observed_generation if reported else 0, now)
    return [*(c for c in told if c.type != kind), _since_then(deployment, news, now)]


def _since_then(deployment: WorkloadDeployment, news: Condition, now: datetime) -> Condition:
    """The condition, since the time the project has it."""
    earlier = find(deployment.status.conditions, news.type)
    (told,) = put((earlier,) if earlier else (), (news,), now)
    return told
