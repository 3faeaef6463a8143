"""The events of a Workload: split, paused, rolled out, stuck in a city, recovered, undone.

An event follows from a write: each function compares the object before and after it. So another
reconcile pass over the same state, or a restart, reports nothing again.
"""

from collections.abc import Sequence
from typing import Final

from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason, Trait, describe
from compute.decide.conditions import find, is_true
from compute.decide.deployment.drains import PlannedEvent
from compute.decide.workload import history
from compute.decide.workload.history import Revision
from kubekit.api.meta import Condition

_MOST_NAMED: Final = 10  # cities in one event
# One cause that Instances and deployments report by different reasons.
_SAME: Final = {
    Reason.QUOTA_NOT_GRANTED: Reason.QUOTA_EXCEEDED,
    Reason.PENDING_QUOTA: Reason.QUOTA_EXCEEDED,
}
_HEALTHY_STATUSES: Final = (
    (ConditionType.AVAILABLE, "True"),
    (ConditionType.REPLICAS_READY, "True"),
    (ConditionType.PAUSED, "False"),
)


def split(created: Sequence[WorkloadDeployment]) -> PlannedEvent | None:
    """Deployments that a Workload was split into."""
    if not created:
        return None
    note = f"Split into {_deployments(len(created))}: {_cities(created)}"
    return PlannedEvent("Normal", Reason.DEPLOYMENTS_CREATED, note)


def withdrawn(removed: Sequence[WorkloadDeployment]) -> PlannedEvent | None:
    """Deployments whose removal was requested."""
    if not removed:
        return None
    note = f"Removing {_deployments(len(removed))}: {_cities(removed)}"
    return PlannedEvent("Normal", Reason.DEPLOYMENTS_REMOVED, note)


def pause(before: Sequence[Condition], after: Sequence[Condition]) -> PlannedEvent | None:
    """The event for conditions of a Workload that were written: a pause that began, changed or ended."""
    old, new = _pause(before), _pause(after)
    if new is None:
        note = "No city is paused any more: template changes are applied"
        return PlannedEvent("Normal", Reason.RESUMED, note) if old else None
    if old is not None and old.message == new.message:
        return None
    return PlannedEvent("Normal", Reason.PAUSED, new.message[:1].upper() + new.message[1:])


def revision(before: Revision | None, recorded: Revision) -> PlannedEvent:
    """A revision that was recorded in the history of a Workload."""
    title = f"Revision {recorded.rev}: {recorded.changes}" + _by(recorded.actor)
    if before is None:
        return PlannedEvent("Normal", Reason.CREATED, title)
    if history.is_rollback(recorded):
        return PlannedEvent("Normal", Reason.UNDONE, title)
    if before.template_hash != recorded.template_hash:
        return PlannedEvent("Normal", Reason.ROLLOUT_STARTED, title)
    return PlannedEvent("Normal", Reason.SPEC_CHANGED, title)


def proven(revision: Revision) -> PlannedEvent:
    """A revision that was marked in the history as served in every city."""
    note = f"Revision {revision.rev} is served in every city"
    return PlannedEvent("Normal", Reason.ROLLOUT_FINISHED, note)


def city(before: WorkloadDeployment, after: WorkloadDeployment) -> PlannedEvent | None:
    """The event for a status that was written, for the deployment itself."""
    stuck, was_stuck = trouble(after), trouble(before)
    if after.deleting:
        return None
    if stuck is not None:
        reason = _cause(stuck)
        known = was_stuck is not None and _cause(was_stuck) == reason
        return None if known else PlannedEvent("Warning", reason, stuck.message)
    if not _serves(after) or (_serves(before) and was_stuck is None):
        return None
    cause = f" after {_cause(was_stuck)}" if was_stuck else ""
    note = f"{after.spec.city_code} is available{cause}: {_message(after)}"
    return PlannedEvent("Normal", Reason.CITY_AVAILABLE, note)


def part_of_city(deployment: WorkloadDeployment, condition: Condition) -> PlannedEvent | None:
    """The problem of an Instance in a city that still serves: the city's status does not report it.

    All Instances of a city with the same problem cause the same event.
    """
    if deployment.deleting or not _serves(deployment) or not _holds(condition.reason):
        return None
    known = trouble(deployment)
    is_known = known is not None and _cause(known) == _cause(condition)
    return None if is_known else PlannedEvent("Warning", _cause(condition), condition.message)


def city_of_workload(deployment: WorkloadDeployment, event: PlannedEvent) -> PlannedEvent:
    """The event for the Workload, which has other cities too."""
    return copy_for_workload(deployment.spec.city_code, event)


def copy_for_workload(city_code: str, event: PlannedEvent) -> PlannedEvent:
    """The copy of a city's event that is written on the Workload."""
    if event.type == "Normal":
        return event
    note = f"{city_code} is stuck ({event.reason}): {event.note}"
    return PlannedEvent("Warning", Reason.CITY_STUCK, note)


def trouble(deployment: WorkloadDeployment) -> Condition | None:
    """What keeps a city from being served in full and does not pass by itself."""
    for kind, well in _HEALTHY_STATUSES:
        condition = find(deployment.status.conditions, kind)
        if condition is not None and condition.status != well and _holds(condition.reason):
            return condition
    return None


def _pause(conditions: Sequence[Condition]) -> Condition | None:
    condition = find(conditions, ConditionType.PAUSED)
    return condition if condition and condition.status == "True" else None


def _holds(reason: str) -> bool:
    known = describe(reason)
    return known is not None and known.needs_action and Trait.INTENDED not in known.traits


def _cause(condition: Condition) -> str:
    return next(
        (same for name, same in _SAME.items() if name == condition.reason), condition.reason
    )


def _serves(deployment: WorkloadDeployment) -> bool:
    return is_true(deployment.status.conditions, ConditionType.AVAILABLE)


def _message(deployment: WorkloadDeployment) -> str:
    condition = find(deployment.status.conditions, ConditionType.AVAILABLE)
    return condition.message if condition else ""


def _deployments(number: int) -> str:
    return f"{number} deployment" if number == 1 else f"{number} deployments"


def _cities(of: Sequence[WorkloadDeployment]) -> str:
    codes = [each.spec.city_code for each in of]
    more = len(codes) - _MOST_NAMED
    return ", ".join(codes[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _by(actor: str) -> str:
    return f" (by {actor})" if actor else ""
