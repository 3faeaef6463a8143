"""Why something does not run, who has to act, and what to do next, as sentences.

The command line, the console and the events use the same sentences. They name the object
that is the cause, which is seldom the Workload that the user asked about.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from compute.api import finalizers
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.quota import RequestAllocation, ResourceClaim
from compute.api.reasons import NOTHING_TO_DO, KnownReason, NeighbourReason, Owner, Reason, describe
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.deployment import rollout
from compute.decide.deployment.rollup import progress
from compute.decide.deployment.slots import desired
from compute.decide.explain import cause
from compute.decide.explain.cause import Cause
from compute.decide.explain.checklist import GateStatus, checklist
from compute.decide.explain.titles import count, fill_names, path, title
from compute.decide.overrides import paused_cities
from compute.decide.overrides.annotated import cities_of
from compute.decide.quota.units import unit_of
from kubekit.api.finalizers import FOREGROUND
from kubekit.api.meta import Condition, Object

# After this time a transient cause is treated as stuck.
_TRANSIENT: Final = timedelta(minutes=5)
_ASK_THE_PLATFORM: Final = (
    "Read `compute events NAME`, and pass its output on to the operators of the platform."
)
_STUCK: Final = (
    "Run `compute doctor NAME`; a finalizer named above has not been removed for minutes."
)

_HOLDERS: Final = {
    finalizers.WORKLOAD: "its controller removes it once everything created from it is gone",
    finalizers.FEDERATOR: "the federator removes it once the hub's copy is gone",
    finalizers.CLAIM: "the cell removes it once the machine has stopped and its quota is released",
    finalizers.INSTANCE: "a cell of the original removes it once the hub's copy is gone",
    finalizers.NETWORK: "the network service removes it once the network is unused",
    finalizers.REFERENCED_DATA: (
        "the management plane removes it once its ConfigMaps and Secrets are withdrawn"
    ),
    finalizers.UNIKRAFT: "the provider removes it once the machine has stopped",
    finalizers.PODS: "the provider removes it once its Pod is gone",
    FOREGROUND: "the garbage collector removes it once its dependents are gone",
}
_UNKNOWN_HOLDER: Final = "its controller has to remove it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why an object does not run, or that it is healthy."""

    subject: str  # the object that the user asked about, as kind/name
    culprit: str  # the object that is the cause, as kind/name; it may be the subject
    reason: str
    cause: str
    owner: Owner
    next_step: str
    since: datetime | None = None
    healthy: bool = False
    gates: tuple[GateStatus, ...] = ()


def explain_instance(
    instance: Instance,
    claim: ResourceClaim | None = None,
    binding: NetworkBinding | None = None,
    *,
    now: datetime,
) -> Explanation:
    """Why the Instance does not run. Its claim and its network's binding, if known, add details."""
    explanation = _of_instance(instance, claim, binding, now)
    return replace(explanation, gates=checklist(instance, binding))


def explain_deployment(
    deployment: WorkloadDeployment, instances: Sequence[Instance], now: datetime
) -> Explanation:
    """Why the deployment lacks ready Instances, down to the Instance that is the cause."""
    if deployment.deleting:
        name = deployment.metadata.name
        remaining = sum(joins.deployment_name(i) == name for i in instances)
        return _leaving(deployment, f"{count(remaining, 'instance')} left.", now)
    status, wanted = deployment.status, desired(deployment)
    standing = f"{title(deployment)} has {progress(status.ready_replicas, wanted)}."
    paused = rollout.settings_of(deployment).paused
    standing = _sentences(standing, Reason.PAUSED.meaning if paused else "")
    blocker = cause.of_deployment(deployment, instances)
    if blocker:
        return _because(deployment, standing, blocker, now)
    well = _well(deployment, standing, find(status.conditions, ConditionType.AVAILABLE))
    return _paused(deployment, well) if paused else well


def explain_workload(
    workload: Workload,
    deployments: Sequence[WorkloadDeployment],
    instances: Sequence[Instance],
    now: datetime,
    offered: Collection[str] | None = None,
) -> Explanation:
    """Why the Workload lacks ready Instances, down to the Instance that is the cause.

    If ``offered`` has the cities of the project, a city that is not offered is reported as such.
    """
    if workload.deleting:
        return _leaving(workload, f"{count(len(deployments), 'deployment')} left.", now)
    status, paused = workload.status, paused_cities(workload)
    wanted = sum(scale.min_replicas for scale in joins.expected(workload).values())
    counted = f"{title(workload)} has {progress(status.ready_replicas, wanted)}."
    standing = _sentences(counted, _pause(workload, paused) if paused else "")
    blocker = cause.of_workload(workload, deployments, instances, offered)
    if blocker:
        return _because(workload, standing, blocker, now)
    well = _well(workload, standing, find(status.conditions, ConditionType.AVAILABLE))
    return _paused(workload, well) if paused else well


def explain_reason(text: str) -> KnownReason | None:
    """The description of a reason, in any letter case; None for an unknown reason."""
    typed = text.casefold()
    known = (*Reason, *NeighbourReason)
    return next((reason for reason in known if reason.casefold() == typed), None)


def _of_instance(
    instance: Instance,
    claim: ResourceClaim | None,
    binding: NetworkBinding | None,
    now: datetime,
) -> Explanation:
    conditions = instance.status.conditions
    blocker = cause.of_instance(instance, binding)
    if instance.deleting:
        return _leaving(instance, "", now)
    if blocker is None:
        ready = find(conditions, ConditionType.READY)
        return _well(instance, f"{title(instance)} is ready.", ready)
    explanation = _because(instance, f"{title(instance)} is not ready.", blocker, now)
    quota = find(conditions, ConditionType.QUOTA_GRANTED)
    about_quota = quota is not None and quota.reason == blocker.reason
    return (
        replace(explanation, cause=_sentences(explanation.cause, demand(claim, explanation.cause)))
        if claim and about_quota
        else explanation
    )


def _because(subject: Object, standing: str, found: Cause, now: datetime) -> Explanation:
    known = describe(found.reason)
    blamed = "" if found.by is subject else f"{title(found.by)} is the cause."
    reported = " ".join(found.message.split()).rstrip(".")
    quoted = f"It says: {reported}." if reported else ""
    return Explanation(
        subject=path(subject),
        culprit=path(found.by),
        reason=found.reason,
        cause=_sentences(standing, blamed, _meaning(found, known), quoted),
        owner=_owner(known, found.since, now),
        next_step=fill_names(known.next_step if known else _ASK_THE_PLATFORM, subject, found.by),
        since=found.since,
    )


def _meaning(found: Cause, known: KnownReason | None) -> str:
    """What the reason means. The message of a pointer explains more than its meaning."""
    if known is None:
        return f"It gives a reason that is not known here: {found.reason}."
    return known.meaning if found.explains or not found.message else ""


def _owner(known: KnownReason | None, since: datetime | None, now: datetime) -> Owner:
    """Who has to act. A transient cause that lasts is up to the platform."""
    owner = known.owner if known else Owner.PLATFORM
    return Owner.PLATFORM if owner is Owner.TRANSIENT and _lasts(since, now) else owner


def _well(subject: Object, standing: str, good_news: Condition | None) -> Explanation:
    report = good_news and cause.of_condition(subject, good_news)
    return Explanation(
        subject=path(subject),
        culprit=path(subject),
        reason=report.reason if report else Reason.AVAILABLE,
        cause=standing,
        owner=Owner.TRANSIENT,
        next_step=NOTHING_TO_DO,
        since=report.since if report else None,
        healthy=True,
    )


def _pause(workload: Workload, cities: Sequence[str]) -> str:
    """What a pause of these cities means, as a sentence."""
    meaning = Reason.PAUSED.meaning
    if len(cities) == len(cities_of(workload)):
        return meaning
    return meaning.replace(" is paused:", f" is paused in {', '.join(cities)}:", 1)


def _paused(subject: Object, well: Explanation) -> Explanation:
    """An object that serves, and waits for its user."""
    step = fill_names(Reason.PAUSED.next_step, subject)
    return replace(well, reason=Reason.PAUSED, owner=Reason.PAUSED.owner, next_step=step)


def _leaving(subject: Object, left: str, now: datetime) -> Explanation:
    since = subject.metadata.deletion_timestamp
    stuck = _lasts(since, now)
    standing = f"{title(subject)} is being removed."
    return Explanation(
        subject=path(subject),
        culprit=path(subject),
        reason=NeighbourReason.TERMINATING,
        cause=_sentences(standing, left, held_by(subject)),
        owner=Owner.PLATFORM if stuck else Owner.TRANSIENT,
        next_step=fill_names(_STUCK if stuck else NeighbourReason.TERMINATING.next_step, subject),
        since=since,
    )


def _lasts(since: datetime | None, now: datetime) -> bool:
    return since is not None and now - since > _TRANSIENT


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def demand(claim: ResourceClaim, known: str = "") -> str:
    """The claim in sentences: all that it needs, and why each part that is lacking was not granted.

    A part that waits only for the others is left out, and so is what is ``known`` already.
    """
    needs = [unit_of(r.resource_type).phrase(r.amount) for r in claim.spec.requests]
    lacking = (a for a in claim.status.allocations if a.status != "Granted" and _says_why(a))
    answers = [_answer(a) for a in lacking if a.message.rstrip(".") not in known]
    return " ".join([f"It needs {', '.join(needs)}.", *answers])


def _says_why(allocation: RequestAllocation) -> bool:
    return bool(allocation.message) and allocation.reason != Reason.PENDING_EVALUATION


def _answer(allocation: RequestAllocation) -> str:
    name = unit_of(allocation.resource_type).display_name
    return f"{name} {allocation.status.lower()}: {allocation.message.rstrip('.')}."


def held_by(of: Object) -> str:
    """The finalizers that hold the object, each with who removes it, as sentences."""
    holds = of.metadata.finalizers
    if not holds:
        return "Nothing holds it any more."
    return " ".join(f"{name} holds it: {_HOLDERS.get(name, _UNKNOWN_HOLDER)}." for name in holds)
