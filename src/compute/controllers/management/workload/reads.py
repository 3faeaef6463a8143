"""What is read of a Workload and its deployments: by the way of the caches, or live."""

from collections.abc import Iterable, Iterator
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide import joins
from compute.decide.workload import serving
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster

_BY_WORKLOAD: Final = "workload-uid"
_PROOFS: Final = "proofs"


def deployments(project: Cluster, workload: Workload) -> tuple[WorkloadDeployment, ...]:
    """All deployments that name this very Workload."""
    deployments = project.informers.of(WorkloadDeployment).cache
    deployments.add_index(_BY_WORKLOAD, _workload_uid)
    found = deployments.by(_BY_WORKLOAD, workload.metadata.uid)
    return tuple(d for d in found if d.metadata.namespace == workload.metadata.namespace)


def _workload_uid(deployment: WorkloadDeployment) -> Iterator[str]:
    """For the index. One without a uid is nobody's, and must not be found by an empty one."""
    if deployment.spec.workload_ref.uid:
        yield deployment.spec.workload_ref.uid


def in_the_way(project: Cluster, workload: Workload) -> Iterator[WorkloadDeployment]:
    """Deployments of others that stand under a name that this Workload wants."""
    deployments = project.informers.of(WorkloadDeployment).cache
    meta = workload.metadata
    for place, city in joins.expected(workload):
        found = deployments.get(meta.namespace, names.deployment(meta.name, place, city))
        if found is not None and found.spec.workload_ref.uid != meta.uid:
            yield found


def proven(project: Cluster, deployments: Iterable[WorkloadDeployment]) -> bool:
    """Whether as many Instances as are wanted are of the newest template, and ready."""
    instances = project.informers.of(Instance).cache
    instances.add_index(_PROOFS, serving.proofs)
    return all(
        instances.count(_PROOFS, serving.proof(d)) >= d.status.desired_replicas for d in deployments
    )


async def live(project: Cluster, workload: Workload) -> Workload | None:
    """The same Workload as it is right now; None when it has gone, be there another of its name."""
    meta = workload.metadata
    live = await project.client.find(Workload, meta.name, meta.namespace)
    return live if live is not None and live.metadata.uid == meta.uid else None


async def listed(client: Client, workload: Workload) -> tuple[WorkloadDeployment, ...]:
    """The deployments that the server has of a Workload, for the cache may not show them all."""
    uid = workload.metadata.uid
    wanted = ListOptions(label_selector=f"{labels.WORKLOAD_UID}={uid}")
    found = await client.every(WorkloadDeployment, workload.metadata.namespace, wanted)
    return tuple(d for d in found.items if d.spec.workload_ref.uid == uid)
