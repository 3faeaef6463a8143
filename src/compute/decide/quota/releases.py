"""The release of a claim: not before the machine has stopped, and not if its slot stays.

Leaked claims are found by comparing all claims with what is wanted, so a claim that was not released,
for whatever reason, does not hold quota indefinitely. Therefore a quota service that stays unreachable
does not block the removal of an Instance indefinitely: its claim is found when the service answers.
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
    is_of_other_cell,
    requests,
)


@dataclass(frozen=True, slots=True)
class Hold:
    """Neither the claim nor the finalizer may be removed yet."""

    why: str


@dataclass(frozen=True, slots=True)
class ReleaseClaim:
    """Delete the claim, by its uid, and reconcile again."""

    uid: str


@dataclass(frozen=True, slots=True)
class RemoveFinalizer:
    """Remove the finalizer. ``event`` is a warning to record with it."""

    event: Reason | None = None


ReleaseStep = Hold | ReleaseClaim | RemoveFinalizer

# A finalizer of others may stand for a machine that is still running.
_OURS: Final = frozenset({finalizers.CLAIM, finalizers.INSTANCE})
# Failures that waiting does not fix. With its project or namespace, the claim itself is gone.
_FINAL_FAILURES: Final = {
    Reason.QUOTA_NAMESPACE_NOT_FOUND: RemoveFinalizer(),
    Reason.QUOTA_PROJECT_NOT_FOUND: RemoveFinalizer(),
    Reason.QUOTA_PROJECT_ID_UNRESOLVABLE: RemoveFinalizer(Reason.QUOTA_CLAIM_ORPHANED),
}
# How long after its deletion an Instance whose machine has stopped waits for a quota service that
# does not answer. A restart of the service takes less, and only a name is blocked meanwhile.
_UNANSWERED: Final = timedelta(seconds=30)


def release(
    instance: Instance, outcome: ClaimLookup, now: datetime, *, slot_stays: bool
) -> ReleaseStep:
    """The next step in the release of the quota of an Instance that is being deleted."""
    if not instance.deleting:
        return Hold("the instance is not being deleted")
    others = holders(instance)
    if others:
        return Hold(f"the machine may still run: {', '.join(others)} holds the instance")
    return RemoveFinalizer() if slot_stays else _ending(instance, outcome, now)


def holders(instance: Instance) -> tuple[str, ...]:
    """The finalizers of others. While there is one, the machine may still run."""
    return tuple(sorted(set(instance.metadata.finalizers) - _OURS))


def released(instance: Instance) -> tuple[str, ...]:
    """The finalizers without ours."""
    return tuple(f for f in instance.metadata.finalizers if f not in _OURS)


def slot_stays(instance: Instance, deployment: WorkloadDeployment | None) -> bool:
    """Whether another Instance of the same size will follow and take over the claim."""
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
    """The claims that this cell created and no longer needs: no Instance and no slot has them.

    A claim is created only for an Instance that exists. So the claims must be read first: then an
    Instance created meanwhile is observed, and its claim does not look leaked.
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


def _ending(instance: Instance, outcome: ClaimLookup, now: datetime) -> ReleaseStep:
    match outcome:
        case ClaimFound(claim, wanted):
            return _of_claim(claim, wanted)
        case ClaimAbsent() | QuotaDisabled():
            return RemoveFinalizer()
        case ClaimLookupFailed(reason, message):
            return _FINAL_FAILURES.get(reason) or _unanswered(instance, message, now)
        case ClaimConflict():
            return Hold("the claim has just been created; it is read again")
    assert_never(outcome)


def _unanswered(instance: Instance, message: str, now: datetime) -> ReleaseStep:
    """Wait for the quota service, but not indefinitely: a cell must be able to finish a deletion."""
    deleted = instance.metadata.deletion_timestamp or now
    return (
        RemoveFinalizer(Reason.QUOTA_CLAIM_ORPHANED)
        if now - deleted >= _UNANSWERED
        else Hold(message)
    )


def _of_claim(claim: ResourceClaim, wanted: ResourceClaim) -> ReleaseStep:
    if is_of_other_cell(claim, wanted):  # it is what the deployment runs on there
        return RemoveFinalizer()
    return (
        Hold("the claim is being removed") if claim.deleting else ReleaseClaim(claim.metadata.uid)
    )


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
