"""The one cause that blocks an object, found by following conditions that only refer to others.

The reason at the top is seldom the cause: a Workload reports that a deployment is not ready, which
reports that an Instance has no quota, which another condition explains. Such a
reason is called a pointer. The cause is where the pointers end. Among several causes `ranking.rank`
decides; of equal ones the deeper.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from compute.api import gates
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.reasons import Reason, Trait, describe, has
from compute.decide import joins
from compute.decide.conditions import find, is_true
from compute.decide.deployment.slots import desired, is_ready
from compute.decide.ranking import rank
from compute.decide.scheduling_gates import closed, condition_of
from kubekit.api.meta import EPOCH, Condition, Object


class Cause(msgspec.Struct, frozen=True):
    """Why something does not run, and the object that reports it."""

    by: Object
    reason: str
    message: str = ""
    since: datetime | None = None

    @property
    def summary(self) -> str:
        """The cause on one line: the object and its message."""
        known = describe(self.reason)
        text = " ".join(self.message.split()) or (known.meaning if known else self.reason)
        return f"{self.by.metadata.name}: {text}"

    @property
    def explains(self) -> bool:
        """Whether it is more than a pointer."""
        return bool(self.reason) and not has(self.reason, Trait.POINTER)

    @property
    def needs_action(self) -> bool:
        """Whether waiting is known not to help; False for an unknown reason."""
        known = describe(self.reason)
        return known is not None and known.needs_action


def of_instance(instance: Instance, binding: NetworkBinding | None = None) -> Cause | None:
    """Why the Instance is not ready; None when it is.

    ``binding`` belongs to its network. Only the binding shows what a closed Network gate waits for.
    """
    if is_ready(instance):
        return None
    unreported = Cause(instance, Reason.PENDING, "", _created_at(instance))
    reported = (*_of_gates(instance, binding), *_of_conditions(instance))
    return deepest(*reported, unreported)


def of_deployment(deployment: WorkloadDeployment, instances: Iterable[Instance]) -> Cause | None:
    """Why the deployment lacks ready Instances; None when it lacks none."""
    name, status = deployment.metadata.name, deployment.status
    wanted = desired(deployment)
    available = is_true(status.conditions, ConditionType.AVAILABLE)
    if status.ready_replicas >= wanted and (available or wanted == 0):
        return None
    live = [i for i in instances if not i.deleting and joins.deployment_name(i) == name]
    deeper = [cause for i in sorted(live, key=joins.order) if (cause := of_instance(i))]
    own = reports(deployment)
    unreported = Cause(deployment, Reason.INSTANCES_PROVISIONING, "", _created_at(deployment))
    return deepest(*deeper, *own, unreported)


def of_workload(
    workload: Workload,
    deployments: Iterable[WorkloadDeployment],
    instances: Sequence[Instance],
    offered: Collection[str] | None = None,
) -> Cause | None:
    """Why the Workload lacks ready Instances somewhere; None when it lacks none.

    ``offered`` are the project's cities, if known. A city that is not among them needs another spec,
    and waiting does not help; the objects themselves do not show that.
    """
    present = {
        joins.placement_city(d): d for d in sorted(deployments, key=joins.order) if not d.deleting
    }
    deeper = [cause for d in present.values() if (cause := of_deployment(d, instances))]
    available = find(workload.status.conditions, ConditionType.AVAILABLE)
    own = [of_condition(workload, available)] if available and available.status != "True" else []
    hint = f"; {available.message}" if available and available.message else ""
    unserved = [each for each in joins.expected(workload) if each not in present]
    missing = [
        Cause(
            workload, Reason.PENDING, f"{city} has no deployment yet{hint}", _created_at(workload)
        )
        if offered is None or city in offered
        else Cause(workload, Reason.NO_MATCHING_LOCATIONS, f"{city} is not offered to this project")
        for _, city in unserved
    ]
    stops = [
        stop for placement, _ in unserved for stop in above(workload, placement) if stop.reason
    ]
    return deepest(*deeper, *own, *missing, *stops)


def above(workload: Workload, placement: str) -> Iterator[Cause]:
    """What the placement and the Workload report, the nearer first.

    It counts where there is no deployment. Only a reason that keeps deployments from being created is
    taken as the reason; any other may be about another city, and only its message is used, as a hint.
    """
    nearest = [p.conditions for p in workload.status.placements if p.name == placement]
    for conditions in (*nearest, workload.status.conditions):
        available = find(conditions, ConditionType.AVAILABLE)
        if available and has(available.reason, Trait.STOPS_PLACEMENT):
            yield of_condition(workload, available)
        elif available and available.message:
            yield Cause(workload, "", available.message)


def first(causes: Iterable[Cause]) -> Cause | None:
    """The cause that explains most; of equals the first. None when all are pointers."""
    explaining = (cause for cause in causes if cause.explains)
    return max(explaining, key=lambda cause: rank(cause.reason), default=None)


def deepest(*causes: Cause) -> Cause | None:
    """The cause that explains most, else the first pointer to one. None when there is neither."""
    return first(causes) or next(iter(causes), None)


def reports(deployment: WorkloadDeployment) -> tuple[Cause, ...]:
    """The conditions of the deployment that are not True."""
    return tuple(
        of_condition(deployment, c) for c in deployment.status.conditions if c.status != "True"
    )


def of_condition(by: Object, condition: Condition) -> Cause:
    """A condition as a cause.

    The time of an Unknown condition stays 1970 for as long as it stays Unknown. The creation of the
    object, which is always later, is reported instead.
    """
    times = [t for t in (condition.last_transition_time, _created_at(by)) if t and t > EPOCH]
    return Cause(by, condition.reason, condition.message, max(times, default=None))


def _of_gates(instance: Instance, binding: NetworkBinding | None) -> Iterator[Cause]:
    """What the services behind the Instance's gates report, and its network."""
    waits_at = closed(instance)
    for gate in gates.TABLE.answered:
        condition = condition_of(gate, instance, binding)
        if condition is None or condition.status == "True":
            continue
        if gate.name in waits_at or (gate.denial and condition.status == "False"):
            yield of_condition(instance, condition)


def _of_conditions(instance: Instance) -> Iterator[Cause]:
    """What the Instance reports of itself.

    Ready summarizes the others, so it comes first: among equal causes the first is taken.
    """
    of_gates = (gate.condition for gate in gates.TABLE.reporting)
    for kind in (ConditionType.READY, *of_gates, ConditionType.PROGRAMMED, ConditionType.AVAILABLE):
        condition = find(instance.status.conditions, kind)
        if condition and condition.status != "True":
            yield of_condition(instance, condition)


def _created_at(of: Object) -> datetime | None:
    return of.metadata.creation_timestamp
