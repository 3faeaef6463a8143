"""How an object is counted: by city, phase and reason, each from a short list.

A label for every object would be too many for those who keep metrics, and so would reasons that
anything but a closed list could give.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import describe
from compute.decide import joins
from compute.decide.conditions import find
from kubekit.api.meta import EPOCH, Condition, Object

_OTHER: Final = "Other"


class CountedPhase(StrEnum):
    """How far an object is, for those who watch thousands."""

    READY = "Ready"
    PROGRESSING = "Progressing"  # passes by itself
    STUCK = "Stuck"  # a user or an operator has to act
    DELETING = "Deleting"


class Counted(NamedTuple):
    """What an object is counted under."""

    city: str
    phase: str
    reason: str


def of_workload(workload: Workload) -> Counted:
    """A Workload, which is in no city."""
    return _counted("", workload, find(workload.status.conditions, ConditionType.AVAILABLE))


def of_deployment(deployment: WorkloadDeployment) -> Counted:
    """One city of a Workload."""
    said = find(deployment.status.conditions, ConditionType.AVAILABLE)
    return _counted(deployment.spec.city_code, deployment, said)


def of_instance(instance: Instance) -> Counted:
    """One Instance."""
    said = find(instance.status.conditions, ConditionType.READY)
    return _counted(joins.city(instance), instance, said)


def unready_since(instance: Instance) -> datetime | None:
    """Since when an Instance that is to run is not ready; None when it is, or is being removed."""
    said = find(instance.status.conditions, ConditionType.READY)
    if instance.deleting or (said is not None and said.status == "True"):
        return None
    changed = said.last_transition_time if said else EPOCH
    return changed if changed > EPOCH else instance.metadata.creation_timestamp


def waits_for_quota(instance: Instance) -> str | None:
    """The reason for which the Instance's claim is not granted; None when it is."""
    said = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    if instance.deleting or said is None or said.status == "True":
        return None
    return _known(said.reason)


def _counted(city: str, of: Object, said: Condition | None) -> Counted:
    reason = _known(said.reason) if said else ""
    if of.deleting:
        return Counted(city, CountedPhase.DELETING, reason)
    if said is not None and said.status == "True":
        return Counted(city, CountedPhase.READY, reason)
    known = describe(reason)
    stuck = known is not None and known.needs_action
    return Counted(city, CountedPhase.STUCK if stuck else CountedPhase.PROGRESSING, reason)


def _known(reason: str) -> str:
    return reason if describe(reason) else _OTHER
