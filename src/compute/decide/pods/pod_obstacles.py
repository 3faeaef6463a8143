"""The state of an Instance whose Pod, or an object beside it, cannot be created."""

from datetime import timedelta
from typing import Final

from compute.api.reasons import KnownReason, NeighbourReason, Reason
from compute.decide.pods.pod_ownership import PodObject
from compute.decide.pods.pod_refusals import PodRefusal
from compute.decide.pods.pod_state import PodState
from compute.decide.provider_reports import ConditionValue
from kubekit.api.errors import Forbidden, Invalid

# No watch event reports that the object of another has gone, or that the server admits the Pod now.
_RETRY: Final = timedelta(seconds=30)


def refused(refusal: PodRefusal) -> PodState:
    """The state of an Instance that cannot be a Pod. Only another template helps."""
    value = ConditionValue("False", Reason.CONFIGURATION_ERROR, refusal.why)
    return PodState(value, value)


def rejected(error: Forbidden | Invalid) -> PodState:
    """The state of an Instance whose objects the API server does not take.

    An invalid one never becomes valid. One that is forbidden, by a quota of the namespace or by a policy
    of the cluster, may be admitted later.
    """
    if isinstance(error, Invalid):
        return refused(
            PodRefusal(f"The cell's cluster does not accept the instance: {error.message}")
        )
    return _waiting(
        Reason.PROVISIONING, f"The cell's cluster does not admit the instance: {error.message}"
    )


def name_taken(obj: PodObject) -> PodState:
    """The state of an Instance whose name is taken by an object that is not the platform's."""
    meta = obj.metadata
    why = f"There is a {obj.kind} {meta.namespace}/{meta.name} already, which is not the platform's"
    return _waiting(NeighbourReason.NAME_TAKEN, f"{why}; remove it")


def held_up(obj: PodObject) -> PodState:
    """The state of an Instance that waits until an object of its predecessor is gone."""
    why = f"The {obj.kind} of an earlier instance of this name has to be gone first"
    return _waiting(Reason.PROVISIONING, why)


def _waiting(reason: KnownReason, message: str) -> PodState:
    programmed = reason if reason is NeighbourReason.NAME_TAKEN else Reason.PROGRAMMING_IN_PROGRESS
    return PodState(
        ConditionValue("False", programmed, message),
        ConditionValue("False", reason, message),
        recheck=_RETRY,
    )
