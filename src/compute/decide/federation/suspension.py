"""Suspensions, which an operator of the hub sets on policies and bindings."""

from compute.api.karmada import DEFAULT_SCHEDULER, Suspension
from compute.api.karmada_work import BindingSuspension, ResourceBindingSpec


def of_binding(
    policy: Suspension | None, present: BindingSuspension | None
) -> BindingSuspension | None:
    """The suspension of a binding: dispatching as its policy sets it, scheduling as it is."""
    scheduling = present.scheduling if present else None
    if policy is None:
        return None if scheduling is None else BindingSuspension(scheduling=scheduling)
    return BindingSuspension(
        dispatching=policy.dispatching,
        dispatching_on_clusters=policy.dispatching_on_clusters,
        scheduling=scheduling,
    )


def suspends_dispatching(suspension: Suspension | None, cluster: str) -> bool:
    """Whether no change is sent to a cluster. Its objects keep running, and are reported."""
    if suspension is None:
        return False
    some = suspension.dispatching_on_clusters
    return bool(suspension.dispatching) or (some is not None and cluster in some.cluster_names)


def suspends_scheduling(spec: ResourceBindingSpec) -> bool:
    """Whether the clusters of a binding stay as they are: suspended, or chosen by another scheduler."""
    suspended = spec.suspension is not None and bool(spec.suspension.scheduling)
    return suspended or spec.scheduler_name not in ("", DEFAULT_SCHEDULER)
