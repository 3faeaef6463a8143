"""The one thing that stands in an object's way, found by following what only points elsewhere.

The reason at the top is seldom the cause: a Workload says that a deployment is not ready, which
says that an Instance has no quota, which is told by yet another condition. A cause is where the
pointing ends. What is more telling goes by `ranking.rank`; between equals, the deeper one.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something does not run, and the object that says so."""

    by: Object
    reason: str
    message: str = ""
    since: datetime | None = None

    @property
    def summary(self) -> str:
        """The cause on one line: who says so, and what they say."""
        known = describe(self.reason)
        text = " ".join(self.message.split()) or (known.meaning if known else self.reason)
        return f"{self.by.metadata.name}: {text}"

    @property
    def telling(self) -> bool:
        """Whether it says more than where to look."""
        return bool(self.reason) and not has(self.reason, Trait.POINTER)

    @property
    def needs_someone(self) -> bool:
        """Whether waiting is known not to help. Of a word we do not know, nothing is known."""
        known = describe(self.reason)
        return known is not None and known.needs_action


def of_instance(instance: Instance, binding: NetworkBinding | None = None) -> Cause | None:
    """Why the Instance is not ready; None when it is.

    ``binding`` is that of its network, which alone knows what a closed Network gate waits for.
    """
    if is_ready(instance):
        return None
    unreported = Cause(instance, Reason.PENDING, "", _born(instance))
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
    unreported = Cause(deployment, Reason.INSTANCES_PROVISIONING, "", _born(deployment))
    return deepest(*deeper, *own, unreported)


def of_workload(
    workload: Workload,
    deployments: Iterable[WorkloadDeployment],
    instances: Sequence[Instance],
    offered: Collection[str] | None = None,
) -> Cause | None:
    """Why the Workload lacks ready Instances somewhere; None when it lacks none.

    ``offered`` are the project's cities, where they are known: one that is not among them needs no
    patience but another spec, and nothing in the objects themselves tells the two apart.
    """
    kept = {joins.place(d): d for d in sorted(deployments, key=joins.order) if not d.deleting}
    deeper = [cause for d in kept.values() if (cause := of_deployment(d, instances))]
    available = find(workload.status.conditions, ConditionType.AVAILABLE)
    own = [of_condition(workload, available)] if available and available.status != "True" else []
    hint = f"; {available.message}" if available and available.message else ""
    places = [place for place in joins.expected(workload) if place not in kept]
    missing = [
        Cause(workload, Reason.PENDING, f"{city} has no deployment yet{hint}", _born(workload))
        if offered is None or city in offered
        else Cause(workload, Reason.NO_MATCHING_LOCATIONS, f"{city} is not offered to this project")
        for _, city in places
    ]
    stops = [stop for placement, _ in places for stop in above(workload, placement) if stop.reason]
    return deepest(*deeper, *own, *missing, *stops)


def above(workload: Workload, placement: str) -> Iterator[Cause]:
    """What the placement and the Workload say of themselves, the nearer first.

    It is heard where no deployment speaks. Only what keeps deployments from being made is taken
    for a reason; the rest may be about another city, and is told as a hint.
    """
    nearest = [p.conditions for p in workload.status.placements if p.name == placement]
    for conditions in (*nearest, workload.status.conditions):
        available = find(conditions, ConditionType.AVAILABLE)
        if available and has(available.reason, Trait.STOPS_PLACEMENT):
            yield of_condition(workload, available)
        elif available and available.message:
            yield Cause(workload, "", available.message)


def first(causes: Iterable[Cause]) -> Cause | None:
    """The cause that explains most; of equals the one named first. None when none is telling."""
    telling = (cause for cause in causes if cause.telling)
    return max(telling, key=lambda cause: rank(cause.reason), default=None)


def deepest(*causes: Cause) -> Cause | None:
    """The cause that explains most, else the first pointer to one. None when there is neither."""
    return first(causes) or next(iter(causes), None)


def reports(deployment: WorkloadDeployment) -> tuple[Cause, ...]:
    """What the deployment says is not so of itself."""
    return tuple(
        of_condition(deployment, c) for c in deployment.status.conditions if c.status != "True"
    )


def of_condition(by: Object, condition: Condition) -> Cause:
    """A condition as a cause.

    The time of an Unknown condition stays 1970 for as long as it stays Unknown. It cannot have
    begun before the object did, so that is told instead.
    """
    times = [t for t in (condition.last_transition_time, _born(by)) if t and t > EPOCH]
    return Cause(by, condition.reason, condition.message, max(times, default=None))


def _of_gates(instance: Instance, binding: NetworkBinding | None) -> Iterator[Cause]:
    """What others say of the Instance's gates: the services behind them, and its network."""
    waits_at = closed(instance)
    for gate in gates.TABLE.answered:
        condition = condition_of(gate, instance, binding)
        if condition is None or condition.status == "True":
            continue
        if gate.name in waits_at or (gate.denial and condition.status == "False"):
            yield of_condition(instance, condition)


def _of_conditions(instance: Instance) -> Iterator[Cause]:
    """What the Instance reports of itself.

    Ready sums the others up, so where none of them explains more, it comes first.
    """
    of_gates = (gate.condition for gate in gates.TABLE.reporting)
    for kind in (ConditionType.READY, *of_gates, ConditionType.PROGRAMMED, ConditionType.AVAILABLE):
        condition = find(instance.status.conditions, kind)
        if condition and condition.status != "True":
            yield of_condition(instance, condition)


def _born(of: Object) -> datetime | None:
    return of.metadata.creation_timestamp
