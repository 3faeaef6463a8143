"""Orphans: objects on the hub whose originals no longer exist.

Finalizers and owners normally prevent them. They remain after a finalizer was removed by hand, a hub
was restored from a backup, or while no garbage collector runs. They are found by what is missing in
lists, so the lists must be live ones.
"""

from collections.abc import Iterable

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide.writes import Delete


def orphaned_deployments(
    hub: Iterable[WorkloadDeployment], originals: Iterable[WorkloadDeployment]
) -> tuple[Delete[WorkloadDeployment], ...]:
    """The deployments of a hub namespace whose original is gone from the project namespace.

    A deployment that is terminating in the project still counts: its finalizer will remove the copy.
    """
    names = {original.metadata.name for original in originals}
    return tuple(
        Delete(copy)
        for copy in sorted(hub, key=lambda copy: copy.metadata.name)
        if labels.UPSTREAM_NAMESPACE in copy.metadata.labels
        and not copy.deleting
        and copy.metadata.name not in names
    )


def orphaned_copies(
    copies: Iterable[Instance], deployments: Iterable[WorkloadDeployment]
) -> tuple[Delete[Instance], ...]:
    """The Instance copies of a hub namespace whose deployment is gone or was replaced.

    A copy without an owner was written by the original system, and is matched by its label.
    """
    present = {deployment.metadata.name: deployment.metadata.uid for deployment in deployments}
    return tuple(
        Delete(copy)
        for copy in sorted(copies, key=lambda copy: copy.metadata.name)
        if not copy.deleting and not _has_parent(copy, present)
    )


def _has_parent(copy: Instance, present: dict[str, str]) -> bool:
    controllers = [ref.uid for ref in copy.metadata.owner_references if ref.controller]
    if controllers:
        return controllers[0] in present.values()
    return copy.metadata.labels.get(labels.DEPLOYMENT_NAME) in present
