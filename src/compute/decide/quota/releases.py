"""The end of a claim: not before the machine has stopped, and not if its slot lives on.

Claims are found to be forgotten by comparing them with what is wanted, so one that nobody gave
back, for whatever reason, does not hold quota for ever. That is also why a quota service that stays
away does not keep an Instance for ever: its claim is found again when the service answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from compute.api import finalizers, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.decide.deployment import slots
from compute.decide.quota.claims import (
    ClaimAbsent,
    ClaimConflict,
    ClaimFound,
    ClaimLookup,
    ClaimLookupFailed,
    QuotaDisabled,
    made_elsewhere,
    requests,
)


@dataclass(frozen=True, slots=True)
class Hold:
    """Neither the claim nor the finalizer may go yet."""

    why: str


@dataclass(frozen=True, slots=True)
class Release:
    """Delete the claim, by its uid, and come back."""

    uid: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """Drop the finalizer. ``event`` is a warning to give with it."""

    event: Reason | None = None


Ending = Hold | Release | LetGo

# Everybody else's finalizer may stand for a machine that is still running.
_OURS: Final = frozenset({finalizers.CLAIM, finalizers.INSTANCE})
# Failures that waiting does not mend. With its project or namespace, the claim itself is gone.
_LET_GO: Final = {
    Reason.QUOTA_NAMESPACE_NOT_FOUND: LetGo(),
    Reason.QUOTA_PROJECT_NOT_FOUND: LetGo(),
    Reason.QUOTA_PROJECT_ID_UNRESOLVABLE: LetGo(Reason.QUOTA_CLAIM_ORPHANED),
}
# After its deletion was asked for, an Instance whose machine has stopped waits so long for a quota
# service that does not answer. A restart of that takes less, and nothing but a name is held up.
_UNANSWERED: Final = timedelta(seconds=30)


def release(instance: Instance, outcome: ClaimLookup, now: datetime, *, slot_stays: bool) -> Ending:
    """The next step in giving back the quota of an Instance that is being deleted."""
    if not instance.deleting:
        return Hold("the instance is not being deleted")
    others = holders(instance)
    if others:
        return Hold(f"the machine may still run: {', '.join(others)} holds the instance")
    return LetGo() if slot_stays else _ending(instance, outcome, now)


def holders(instance: Instance) -> tuple[str, ...]:
    """The finalizers of others. While there is one, the machine may still run."""
    return tuple(sorted(set(instance.metadata.finalizers) - _OURS))


def released(instance: Instance) -> tuple[str, ...]:
    """The finalizers that are left once ours are off."""
    return tuple(f for f in instance.metadata.finalizers if f not in _OURS)


def slot_stays(instance: Instance, deployment: WorkloadDeployment | None) -> bool:
    """Whether the Instance is to be followed by another of the same size, which takes its claim."""
    return (
        deployment is not None
        and _has_slot(deployment, instance.metadata.name)
        and requests(deployment.spec.template.spec) == requests(instance.spec)
    )


def leaked(
    claims: Iterable[ResourceClaim],
    instances: Iterable[Instance],
    deployments: Iterable[WorkloadDeployment],
    *,
    source_cluster: str,
) -> tuple[ResourceClaim, ...]:
    """The claims this cell made and no longer needs: no Instance has them, and no slot awaits them.

    A claim is made only for an Instance that exists. So the claims must be read first: then an
    Instance made meanwhile is seen, and its claim is not taken for forgotten.
    """
    present = {(i.metadata.namespace, i.metadata.name) for i in instances}
    by_name = {(d.metadata.namespace, d.metadata.name): d for d in deployments}
    return tuple(
        claim
        for claim in claims
        if not claim.deleting
        and claim.metadata.labels.get(labels.SOURCE_CLUSTER) == source_cluster
        and _is_unwanted(claim, present, by_name)
    )


def _ending(instance: Instance, outcome: ClaimLookup, now: datetime) -> Ending:
    match outcome:
        case ClaimFound(claim, wanted):
            return _of_claim(claim, wanted)
        case ClaimAbsent() | QuotaDisabled():
            return LetGo()
        case ClaimLookupFailed(reason, message):
            return _LET_GO.get(reason) or _unanswered(instance, message, now)
        case ClaimConflict():
            return Hold("the claim has just been made; it is looked for again")
    assert_never(outcome)


def _unanswered(instance: Instance, message: str, now: datetime) -> Ending:
    """Wait for the quota service, but not for ever: a cell must be able to end what it began."""
    deleted = instance.metadata.deletion_timestamp or now
    return LetGo(Reason.QUOTA_CLAIM_ORPHANED) if now - deleted >= _UNANSWERED else Hold(message)


def _of_claim(claim: ResourceClaim, wanted: ResourceClaim) -> Ending:
    if made_elsewhere(claim, wanted):  # it is what the deployment runs on there
        return LetGo()
    return Hold("the claim is being removed") if claim.deleting else Release(claim.metadata.uid)


def _is_unwanted(
    claim: ResourceClaim,
    present: set[tuple[str, str]],
    deployments: dict[tuple[str, str], WorkloadDeployment],
) -> bool:
    namespace = claim.metadata.labels.get(labels.INSTANCE_NAMESPACE)
    name = names.claim_instance(claim.metadata.name)
    if not namespace or not name or (namespace, name) in present:
        return False
    parts = names.instance_parts(name)
    deployment = deployments.get((namespace, parts[0])) if parts else None
    return deployment is None or not _has_slot(deployment, name)


def _has_slot(deployment: WorkloadDeployment, instance_name: str) -> bool:
    """Whether the deployment wants an Instance of this name."""
    parts = names.instance_parts(instance_name)
    return (
        parts is not None
        and parts[0] == deployment.metadata.name
        and parts[1] < slots.desired(deployment)
    )
