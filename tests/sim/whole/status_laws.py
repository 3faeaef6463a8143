"""Laws of statuses: S12, S14. They hold at any time; exact values are checked at rest, by L5."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from compute.api.compute import Instance, ReplicaCounts, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.decide.conditions import find, is_true
from compute.decide.scheduling_gates import closed
from kubekit.api.meta import Condition
from tests.sim.whole.commits import Commit, Laws


def s12_no_condition_is_ahead_of_its_object(commit: Commit[Any]) -> str:
    """A condition speaks of a generation that was: none is higher than that of the object.

    Copies of Instances keep the numbers of the cell, and are not asked.
    """
    generation = commit.obj.metadata.generation
    for said in _conditions(commit.obj):
        if said.observed_generation > generation:
            return f"{said.type} speaks of generation {said.observed_generation} of {generation}"
    return ""


def s12_a_transition_is_a_change_of_status(commit: Commit[Any]) -> str:
    """The time of the last transition changes only with the status, where the status is made."""
    if commit.old is None:
        return ""
    before = {said.type: said for said in commit.old.status.conditions}
    for said in commit.obj.status.conditions:
        old = before.get(said.type)
        moved = old is not None and old.last_transition_time != said.last_transition_time
        if old is not None and moved and old.status == said.status:
            return f"{said.type} is {said.status} as before, and since another time"
    return ""


def s12_ready_is_programmed_and_available(commit: Commit[Instance]) -> str:
    """An Instance is said to be Ready only when it is Programmed and Available, and has no gate."""
    conditions = commit.obj.status.conditions
    ready = find(conditions, ConditionType.READY)
    before = find(commit.old.status.conditions, ConditionType.READY) if commit.old else None
    if ready is None or ready.status != "True" or ready == before:
        return ""
    for kind in (ConditionType.PROGRAMMED, ConditionType.AVAILABLE):
        if not is_true(conditions, kind):
            return f"it is said to be Ready, and is not {kind}"
    return f"it is said to be Ready behind {closed(commit.obj)[0]}" if closed(commit.obj) else ""


def s14_counters_are_within_bounds(commit: Commit[Workload] | Commit[WorkloadDeployment]) -> str:
    """Of what exists some are of the newest template, of these some programmed; and some Ready."""
    for counts in _counts(commit.obj):
        ordered = 0 <= counts.current_replicas <= counts.updated_replicas <= counts.replicas
        if not ordered or not 0 <= counts.ready_replicas <= counts.replicas:
            return (
                f"{counts.replicas} exist, {counts.updated_replicas} updated, "
                f"{counts.current_replicas} current, {counts.ready_replicas} ready"
            )
    return ""


def _conditions(obj: Any) -> Iterator[Condition]:
    said: Sequence[Condition] = obj.status.conditions
    yield from said
    if isinstance(obj, Workload):
        for placement in obj.status.placements:
            yield from placement.conditions


def _counts(obj: Workload | WorkloadDeployment) -> Iterable[ReplicaCounts]:
    yield obj.status
    if isinstance(obj, Workload):
        yield from obj.status.placements


_MADE_HERE: Final = (
    s12_no_condition_is_ahead_of_its_object,
    s12_a_transition_is_a_change_of_status,
)
_COUNTED: Final = (s12_no_condition_is_ahead_of_its_object, s14_counters_are_within_bounds)
LAWS: Final[Laws] = {
    ("project", "Workload"): (*_MADE_HERE, s14_counters_are_within_bounds),
    ("project", "ResourceClaim"): _MADE_HERE,
    ("project", "WorkloadDeployment"): _COUNTED,
    ("hub", "WorkloadDeployment"): _COUNTED,
    ("cell", "WorkloadDeployment"): (*_MADE_HERE, s14_counters_are_within_bounds),
    ("cell", "Instance"): (*_MADE_HERE, s12_ready_is_programmed_and_available),
}
