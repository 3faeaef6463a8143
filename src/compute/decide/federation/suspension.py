"""What an operator of the hub holds back: what a policy suspends, and what a binding makes of it."""

from compute.api.karmada import DEFAULT_SCHEDULER, Suspension
from compute.api.karmada_work import BindingSuspension, ResourceBindingSpec


def of_binding(
    policy: Suspension | None, present: BindingSuspension | None
) -> BindingSuspension | None:
    """The suspension of a binding: dispatching is its policy's to say, scheduling is its own."""
    scheduling = present.scheduling if present else None
    if policy is None:
        return None if scheduling is None else BindingSuspension(scheduling=scheduling)
    return BindingSuspension(
        dispatching=policy.dispatching,
        dispatching_on_clusters=policy.dispatching_on_clusters,
        scheduling=scheduling,
    )


def holds_dispatching(suspension: Suspension | None, cluster: str) -> bool:
    """Whether nothing new is sent to a cluster. What it has goes on, and is reported."""
    if suspension is None:
        return False
    some = suspension.dispatching_on_clusters
    return bool(suspension.dispatching) or (some is not None and cluster in some.cluster_names)


def holds_scheduling(spec: ResourceBindingSpec) -> bool:
    """Whether the clusters of a binding stay as they are: suspended, or another scheduler's to choose."""
    suspended = spec.suspension is not None and bool(spec.suspension.scheduling)
    return suspended or spec.scheduler_name not in ("", DEFAULT_SCHEDULER)
