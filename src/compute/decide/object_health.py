"""The health of an object: how metrics count it, and whether it is stuck.

Metrics count by city, phase and reason, each from a closed list. A label for every object, or for
every reason of a provider, would create too many time series.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import describe
from compute.decide import joins
from compute.decide.conditions import find
from kubekit.api.meta import EPOCH, Condition, Object

_OTHER: Final = "Other"

# A deletion, or the start of an Instance, should be over by then.
LATE: Final = timedelta(minutes=5)


class CountedPhase(StrEnum):
    """The phase that an object is counted in."""

    READY = "Ready"
    PROGRESSING = "Progressing"  # passes by itself
    STUCK = "Stuck"  # a user or an operator has to act
    DELETING = "Deleting"


class Counted(NamedTuple):
    """The labels that an object is counted under."""

    city: str
    phase: str
    reason: str


def of_workload(workload: Workload) -> Counted:
    """A Workload, which is in no city."""
    return _counted("", workload, find(workload.status.conditions, ConditionType.AVAILABLE))


def of_deployment(deployment: WorkloadDeployment) -> Counted:
    """One city of a Workload."""
    condition = find(deployment.status.conditions, ConditionType.AVAILABLE)
    return _counted(deployment.spec.city_code, deployment, condition)


def of_instance(instance: Instance) -> Counted:
    """One Instance."""
    condition = find(instance.status.conditions, ConditionType.READY)
    return _counted(joins.city(instance), instance, condition)


def unready_since(instance: Instance) -> datetime | None:
    """Since when an Instance that is to run is not ready; None when it is, or is being removed."""
    condition = find(instance.status.conditions, ConditionType.READY)
    if instance.deleting or (condition is not None and condition.status == "True"):
        return None
    changed = condition.last_transition_time if condition else EPOCH
    return changed if changed > EPOCH else instance.metadata.creation_timestamp


def waits_for_quota(instance: Instance) -> str | None:
    """The reason for which the Instance's claim is not granted; None when it is."""
    condition = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    if instance.deleting or condition is None or condition.status == "True":
        return None
    return _known(condition.reason)


def _counted(city: str, of: Object, condition: Condition | None) -> Counted:
    reason = _known(condition.reason) if condition else ""
    if of.deleting:
        return Counted(city, CountedPhase.DELETING, reason)
    if condition is not None and condition.status == "True":
        return Counted(city, CountedPhase.READY, reason)
    known = describe(reason)
    stuck = known is not None and known.needs_action
    return Counted(city, CountedPhase.STUCK if stuck else CountedPhase.PROGRESSING, reason)


def _known(reason: str) -> str:
    return reason if describe(reason) else _OTHER


@dataclass(frozen=True, slots=True)
class Stuck:
    """Since when an object makes no progress, and the reported cause."""

    since: datetime
    why: str


def stuck(obj: Object, conditions: Sequence[Condition], kind: str, now: datetime) -> Stuck | None:
    """Why an object is stuck, if it is: it should be gone, or this condition should be True."""
    meta = obj.metadata
    condition = find(conditions, kind)
    why = (
        f"{condition.reason}: {condition.message}"
        if condition and condition.status != "True"
        else ""
    )
    if meta.deletion_timestamp is not None:
        result = Stuck(meta.deletion_timestamp, f"being deleted; {why}" if why else "being deleted")
    elif condition is None:
        result = Stuck(meta.creation_timestamp or now, f"nothing is known of {kind} yet")
    elif why:
        result = Stuck(condition.last_transition_time, f"not {kind}; {why}")
    else:
        return None
    return result if now - result.since > LATE else None
