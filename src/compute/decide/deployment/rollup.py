"""The status of a WorkloadDeployment: its Instances counted, and the worst cause reported.

Counts are computed from the Instances alone, so a lost status update repairs itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, TypeVar

import msgspec

from compute.api import annotations, gates
from compute.api.compute import (
    Instance,
    InstanceStatus,
    PlacementStatus,
    WorkloadDeployment,
    WorkloadDeploymentStatus,
    WorkloadStatus,
)
from compute.api.conditions import ConditionType
from compute.api.instance_spec import LocationRef
from compute.api.reasons import Rank, Reason
from compute.decide.conditions import find, is_true, put
from compute.decide.deployment import slots
from compute.decide.deployment.template import template_hash
from compute.decide.ranking import Candidate, rank, worst
from kubekit.api.meta import Condition

S = TypeVar("S", InstanceStatus, PlacementStatus, WorkloadDeploymentStatus, WorkloadStatus)

_SUSPENDED: Final = Candidate(
    "", Reason.SUSPENDED, "The project is suspended: instances stay stopped until that is lifted"
)
_NETWORK_ON_ITS_WAY: Final = "The network is not ready yet"
_NOTHING_REPORTED: Final = "nothing reported yet"


class NetworkVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the networks of a deployment are ready in its city, and the Location of that city.

    The message of ready networks is a note on them, and usually empty.
    """

    ready: bool
    reason: Reason | None = None
    message: str = ""
    location: LocationRef | None = None


def deployment_status(
    deployment: WorkloadDeployment,
    instances: Sequence[Instance],
    network: NetworkVerdict | None,
    now: datetime,
    refused: Candidate | None = None,
) -> WorkloadDeploymentStatus:
    """The status that follows from the Instances; ``network`` is None where networks are not managed.

    ``refused`` is why an Instance that is wanted cannot be created.

    An Instance being deleted is counted for as long as it exists, but it is not ready: it
    is about to stop, and a rollout must not look finished because of it.
    """
    generation = deployment.metadata.generation
    newest = template_hash(deployment.spec.template)
    updated = [i for i in instances if _runs(i, newest)]
    waiting = [i for i in instances if not slots.is_ready(i)]
    ready = len(instances) - len(waiting)
    blockers = [*_blockers(deployment, waiting, network), *((refused,) if refused else ())]
    verdicts = {
        ConditionType.AVAILABLE: _available(
            deployment, instances, blockers, ready, _notes(network)
        ),
        ConditionType.REPLICAS_READY: _replicas_ready(instances),
    }
    conditions = [verdict.condition(kind, generation, now) for kind, verdict in verdicts.items()]
    return msgspec.structs.replace(
        deployment.status,
        conditions=put(deployment.status.conditions, conditions, now),
        replicas=len(instances),
        desired_replicas=slots.desired(deployment),
        updated_replicas=len(updated),
        current_replicas=sum(map(_is_programmed, updated)),
        ready_replicas=ready,
        location=network.location if network else None,
        observed_generation=generation,
    )


def progress(ready: int, desired: int) -> str:
    """The progress as text. More than desired, while scaling down, is not a shortfall."""
    return f"{ready} of {max(ready, desired)} instances ready"


def same(old: S, new: S) -> bool:
    """Whether two statuses are equal, so that nothing need be written.

    Conditions are keyed by type, so their order does not matter; every other difference counts.
    """
    return _ordered(old) == _ordered(new)


def has_new_verdict(old: WorkloadDeploymentStatus, new: WorkloadDeploymentStatus) -> bool:
    """Whether a status differs in more than the progress of a count: if so, it is written at once."""
    whole = new.ready_replicas == new.replicas == new.desired_replicas
    return whole or _verdicts(old) != _verdicts(new)


def _verdicts(status: WorkloadDeploymentStatus) -> tuple[object, ...]:
    conditions = sorted((each.type, each.status, each.reason) for each in status.conditions)
    return status.observed_generation, status.desired_replicas, status.location, conditions


def _runs(instance: Instance, template: str) -> bool:
    controller = instance.status.controller
    return controller is not None and controller.observed_template_hash == template


def _is_programmed(instance: Instance) -> bool:
    return is_true(instance.status.conditions, ConditionType.PROGRAMMED)


def _available(
    deployment: WorkloadDeployment,
    instances: Sequence[Instance],
    blockers: Iterable[Candidate],
    ready: int,
    notes: Iterable[str],
) -> Candidate:
    desired = slots.desired(deployment)
    count = progress(ready, desired)
    cause = worst(blockers)
    text = "; ".join([count, *([cause.summary] if cause and ready < desired else ()), *notes])
    if ready:
        return Candidate("", Reason.STABLE_INSTANCE_FOUND, text, "True")
    if deployment.deleting:
        return Candidate("", Reason.STOPPING, f"Being removed; instances left: {len(instances)}")
    if desired == 0:
        return Candidate("", Reason.STOPPED, "Scaled to zero: no instances are wanted")
    return Candidate("", cause.reason if cause else Reason.INSTANCES_PROVISIONING, text)


def _notes(network: NetworkVerdict | None) -> tuple[str, ...]:
    """A note on networks that are ready."""
    return (network.message,) if network and network.ready and network.message else ()


def _blockers(
    deployment: WorkloadDeployment,
    waiting: Iterable[Instance],
    network: NetworkVerdict | None,
) -> Iterator[Candidate]:
    """What may explain why not all serve, given the Instances that do not."""
    if deployment.metadata.annotations.get(annotations.SUSPENDED) == "true":
        yield _SUSPENDED
    if network and not network.ready:
        reason = network.reason or Reason.NETWORK_PROVISIONING
        yield Candidate("", reason, network.message or _NETWORK_ON_ITS_WAY)
    # A condition that holds for all Instances is on the deployment itself.
    for gate in gates.TABLE.on_instances:
        condition = find(deployment.status.conditions, gate.condition)
        if condition and condition.status == "False":
            yield Candidate("", condition.reason, condition.message)
    for instance in waiting:
        if not instance.deleting:
            yield from _causes(instance)


def _causes(instance: Instance) -> Iterator[Candidate]:
    """Why the Instance is not ready, with reasons that hold for the deployment as a whole."""
    name, conditions = instance.metadata.name, instance.status.conditions
    for gate in gates.TABLE.services:
        answer = find(conditions, gate.condition)
        if answer and answer.status != "True" and rank(answer.reason):
            yield Candidate(name, _upward(answer.reason), answer.message)
    ready = find(conditions, ConditionType.READY)
    if ready:
        yield Candidate(name, _upward(ready.reason), ready.message)
    else:
        yield Candidate(name, Reason.INSTANCES_PROVISIONING, _NOTHING_REPORTED)


def _upward(reason: str) -> str:
    """An Instance's reason as its deployment reports it."""
    if rank(reason) <= Rank.ON_ITS_WAY:
        return Reason.INSTANCES_PROVISIONING
    return gates.TABLE.on_deployment.get(reason, reason)


def _replicas_ready(instances: Sequence[Instance]) -> Candidate:
    """Whether no gate holds Instances back. It does not mean that any is ready."""
    denials = list(_denials(instances))
    for gate in gates.TABLE.on_instances:
        refused = [cause for kind, cause in denials if kind == gate.condition]
        blocked = worst(c for c in refused if c.reason == gate.reported_first) or worst(refused)
        if blocked:
            return Candidate("", gate.replicas_reason or blocked.reason, blocked.summary)
    return Candidate("", Reason.REPLICAS_AVAILABLE, "Nothing holds instances back", "True")


def _denials(instances: Iterable[Instance]) -> Iterator[tuple[str, Candidate]]:
    """Every False condition of Instances that stay, as its type and the cause."""
    for instance in instances:
        for condition in instance.status.conditions:
            if condition.status == "False" and not instance.deleting:
                cause = Candidate(instance.metadata.name, condition.reason, condition.message)
                yield condition.type, cause


def _ordered(status: S) -> S:
    conditions = tuple(sorted(status.conditions, key=_type))
    if isinstance(status, WorkloadStatus):
        placements = tuple(map(_ordered, status.placements))
        return msgspec.structs.replace(status, conditions=conditions, placements=placements)
    return msgspec.structs.replace(status, conditions=conditions)


def _type(condition: Condition) -> str:
    return condition.type
