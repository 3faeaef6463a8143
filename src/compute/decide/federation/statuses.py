"""From the hub back to the project: the status of a deployment in its city."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

import msgspec

from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find, is_true, put
from compute.decide.deployment import drains
from compute.decide.deployment.rollup import same
from compute.decide.generations import is_reported, translated
from compute.decide.ranking import Candidate
from kubekit.api import times
from kubekit.api.meta import Condition

_PROJECT_CONDITIONS: Final = (
    ConditionType.DRAIN_SCHEDULED,
    ConditionType.REFERENCED_DATA_READY,
)


@dataclass(frozen=True, slots=True)
class CellUnreachable:
    """The cell is unreachable. It last reported at this instant.

    Without ``reported`` it renews no lease, as the hub's engine connects to it: then it is only known
    when the hub found it unreachable, which is later.
    """

    cell: str
    since: datetime
    reported: bool = True


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The hub has found no cell for the deployment, and reports why.

    ``unreachable`` are the cells of its city if all are unreachable: it is scheduled when one is reachable.
    """

    why: str
    unreachable: tuple[CellUnreachable, ...] = ()


@dataclass(frozen=True, slots=True)
class DispatchingSuspended:
    """An operator of the hub has suspended dispatching to the cell."""

    cell: str


@dataclass(frozen=True, slots=True)
class RefusedByCell:
    """The cell does not apply the deployment, and reports why."""

    cell: str
    why: str


DeploymentProblem = CellUnreachable | Unplaced | DispatchingSuspended | RefusedByCell


def unreachable_cell(
    cell: str, last_report: datetime, lease: timedelta, now: datetime
) -> CellUnreachable | None:
    """A cell whose last report is older than its lease; None when it is not."""
    return CellUnreachable(cell, last_report) if now - last_report > lease else None


def project_status(
    deployment: WorkloadDeployment,
    hub: WorkloadDeployment | None,
    trouble: DeploymentProblem | None,
    now: datetime,
) -> WorkloadDeploymentStatus | None:
    """The status that the project's deployment should have; None when nothing need be written.

    It is the status of the hub's copy, with two changes. The conditions of referenced data and of a
    drain are the project's own. And the hub adds what only it knows, such as an unreachable cell.
    """
    if hub is None:
        return None
    current = is_reported(hub) and hub.spec == deployment.spec
    report = translated(_counted(hub.status, current=current), deployment, current=current)
    own = find(deployment.status.conditions, ConditionType.REFERENCED_DATA_READY)
    conditions = [c for c in report.conditions if c.type not in _PROJECT_CONDITIONS]
    if own:
        conditions.append(own)
    drain = drains.condition(deployment, now)
    if drain:
        conditions.append(_since_then(deployment, drain, now))
    overlay = _overlay(deployment, report, trouble, current=current)
    if overlay:
        conditions = _overlaid(deployment, conditions, ConditionType.AVAILABLE, overlay, now)
    silent_since = _silent_since(trouble)
    if silent_since:
        conditions = _dated(conditions, silent_since)
    if isinstance(trouble, DispatchingSuspended):
        conditions = _overlaid(
            deployment, conditions, ConditionType.PAUSED, _paused(deployment), now
        )
    status = msgspec.structs.replace(report, conditions=tuple(conditions))
    return None if same(deployment.status, status) else status


def _counted(status: WorkloadDeploymentStatus, *, current: bool) -> WorkloadDeploymentStatus:
    """The report with its counts. Instances that are updated to an older spec are not updated to a newer one."""
    if current:
        return status
    return msgspec.structs.replace(status, updated_replicas=0, current_replicas=0)


def _overlay(
    deployment: WorkloadDeployment,
    report: WorkloadDeploymentStatus,
    trouble: DeploymentProblem | None,
    *,
    current: bool,
) -> Candidate | None:
    conditions = report.conditions
    match trouble:
        case None:
            return None
        case CellUnreachable():
            meanwhile = _meanwhile(runs=report.replicas > 0, current=current)
            message = f"{_not_reported((trouble,))}; {meanwhile}"
            return Candidate("", Reason.CELL_UNREACHABLE, message, "Unknown")
        case Unplaced(why, unreachable):
            served = is_true(conditions, ConditionType.AVAILABLE)
            return None if served else _unplaced(deployment.spec.city_code, why, unreachable)
        case DispatchingSuspended():
            waiting = Candidate("", Reason.PROPAGATION_SUSPENDED, _suspension_message(deployment))
            return None if find(conditions, ConditionType.AVAILABLE) else waiting
        case RefusedByCell(cell, why):
            refused = Candidate("", Reason.REFUSED_BY_CELL, f"Cell {cell} does not take it: {why}")
            return None if find(conditions, ConditionType.AVAILABLE) else refused
    assert_never(trouble)


def _unplaced(city: str, why: str, unreachable: Sequence[CellUnreachable]) -> Candidate:
    if not unreachable:
        return Candidate("", Reason.NO_CELL_FOR_CITY, f"No cell serves {city}: {why}")
    later = "nothing runs there yet, it starts when the cell answers again"
    return Candidate("", Reason.CELL_UNREACHABLE, f"{_not_reported(unreachable)}; {later}")


def _not_reported(unreachable: Sequence[CellUnreachable]) -> str:
    """Since when cells are unreachable: the instant, because the age would change in every pass."""
    return "; ".join(map(_silence, unreachable))


def _silence(unreachable: CellUnreachable) -> str:
    cell, since = unreachable.cell, times.format_time(unreachable.since)
    if unreachable.reported:
        return f"Cell {cell} has not reported since {since}"
    return f"Cell {cell} is unreachable; the hub noticed it at {since}"


def _meanwhile(*, runs: bool, current: bool) -> str:
    """What happens to a deployment in an unreachable cell."""
    if not runs:
        return "nothing was running there, and what is new starts when the cell answers again"
    unobserved = "what runs there keeps running unobserved"
    return unobserved if current else f"{unobserved}, and without the latest change"


def _paused(deployment: WorkloadDeployment) -> Candidate:
    """Changes are held back. Instances stay available, so this is a condition of its own."""
    return Candidate("", Reason.PROPAGATION_SUSPENDED, _suspension_message(deployment), "True")


def _suspension_message(deployment: WorkloadDeployment) -> str:
    return (
        f"Changes for {deployment.spec.city_code} are held back by an operator of the hub "
        "(suspension of the policy); what runs there keeps running"
    )


def _overlaid(
    deployment: WorkloadDeployment,
    conditions: list[Condition],
    kind: ConditionType,
    overlay: Candidate,
    now: datetime,
) -> list[Condition]:
    """The conditions with the overlay as one of this type, since the time the project has it."""
    reported = find(conditions, kind)
    condition = overlay.condition(kind, reported.observed_generation if reported else 0, now)
    return [*(c for c in conditions if c.type != kind), _since_then(deployment, condition, now)]


def _dated(conditions: Sequence[Condition], since: datetime) -> list[Condition]:
    """The conditions; that of an unreachable cell counts from ``since``, the age of all that is known."""
    return [
        msgspec.structs.replace(c, last_transition_time=times.seconds(since))
        if c.reason == Reason.CELL_UNREACHABLE
        else c
        for c in conditions
    ]


def _silent_since(trouble: DeploymentProblem | None) -> datetime | None:
    """The last report of the cell; None if it can be reached, or is not known."""
    match trouble:
        case CellUnreachable(since=since):
            return since
        case Unplaced(_, unreachable) if unreachable:
            return max(each.since for each in unreachable)
        case _:
            return None


def _since_then(deployment: WorkloadDeployment, overlay: Condition, now: datetime) -> Condition:
    """The condition, since the time the project has it."""
    earlier = find(deployment.status.conditions, overlay.type)
    (condition,) = put((earlier,) if earlier else (), (overlay,), now)
    return condition
