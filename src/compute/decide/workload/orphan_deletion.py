"""Which deletions may orphan the dependents of an object (propagationPolicy Orphan, `--cascade=orphan`).

In Kubernetes an orphaned ReplicaSet outlives its Deployment and manages its Pods by itself. Here each
level is managed by the level above, on other planes too. An orphaned deployment has no Workload to
scale it, and its copies on the hub and in the cell have no original. An orphaned grant would give the
quota of a project to the next project of that name. So such deletions of these kinds are refused. All
other kinds behave as in Kubernetes.
"""

from collections.abc import Mapping
from typing import Any, Final

from compute.api.compute import Workload, WorkloadDeployment
from compute.api.resource_manager import Project
from kubekit.api.errors import Forbidden
from kubekit.api.resource import Resource
from kubekit.api.status import StatusDetails

_ORPHAN: Final = "Orphan"
_FINALIZER: Final = "orphan"  # the policy of an earlier request, recorded on the object
_LEFT_BEHIND: Final = {
    (kind.RESOURCE.group, kind.RESOURCE.plural): left
    for kind, left in (
        (Workload, "deployments and Instances"),
        (WorkloadDeployment, "Instances"),
        (Project, "quota and networks"),
    )
}


def orphan_refusal(
    resource: Resource, metadata: Mapping[str, Any], propagation: str
) -> Forbidden | None:
    """Why an object must not be deleted with this propagation policy; None when it may be.

    A request without a policy follows the finalizer of an earlier one, as in Kubernetes.
    """
    remaining = _LEFT_BEHIND.get((resource.group, resource.plural))
    by_finalizer = not propagation and _FINALIZER in metadata.get("finalizers", ())
    if remaining is None or not (propagation == _ORPHAN or by_finalizer):
        return None
    name, namespace = metadata["name"], metadata.get("namespace", "")
    kind = f"{resource.plural}.{resource.group}"
    command = " ".join(
        ("kubectl delete", resource.singular, name, *(("-n", namespace) if namespace else ()))
    )
    return Forbidden(
        f'{kind} "{name}" is forbidden: it cannot be deleted with propagationPolicy Orphan '
        f"(--cascade=orphan), because nothing would manage the {remaining} that are left behind. "
        f"To delete it with its dependents: {command}",
        StatusDetails(name=name, group=resource.group, kind=resource.plural),
    )
