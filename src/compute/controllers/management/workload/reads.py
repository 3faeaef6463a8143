"""Reads of a Workload's deployments and Instances, from the caches or live."""

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
_READY_BY_TEMPLATE: Final = "ready-by-template"


def deployments(project: Cluster, workload: Workload) -> tuple[WorkloadDeployment, ...]:
    """All deployments that reference the uid of this Workload."""
    deployments = project.informers.of(WorkloadDeployment).cache
    deployments.add_index(_BY_WORKLOAD, _workload_uid)
    named = deployments.by(_BY_WORKLOAD, workload.metadata.uid)
    return tuple(d for d in named if d.metadata.namespace == workload.metadata.namespace)


def _workload_uid(deployment: WorkloadDeployment) -> Iterator[str]:
    """The index key. A deployment without a uid belongs to no Workload, and has no key."""
    if deployment.spec.workload_ref.uid:
        yield deployment.spec.workload_ref.uid


def name_conflicts(project: Cluster, workload: Workload) -> Iterator[WorkloadDeployment]:
    """Deployments of other Workloads that have a name which this Workload needs."""
    deployments = project.informers.of(WorkloadDeployment).cache
    meta = workload.metadata
    for placement, city in joins.expected(workload):
        holder = deployments.get(meta.namespace, names.deployment(meta.name, placement, city))
        if holder is not None and holder.spec.workload_ref.uid != meta.uid:
            yield holder


def is_served(project: Cluster, deployments: Iterable[WorkloadDeployment]) -> bool:
    """Whether enough Instances of the newest template are ready in every deployment."""
    instances = project.informers.of(Instance).cache
    instances.add_index(_READY_BY_TEMPLATE, serving.proofs)
    return all(
        instances.count(_READY_BY_TEMPLATE, serving.proof(d)) >= d.status.desired_replicas
        for d in deployments
    )


async def live_deployments(client: Client, workload: Workload) -> tuple[WorkloadDeployment, ...]:
    """The deployments of a Workload, read live: the cache may lack some."""
    uid = workload.metadata.uid
    wanted = ListOptions(label_selector=f"{labels.WORKLOAD_UID}={uid}")
    listed = await client.every(WorkloadDeployment, workload.metadata.namespace, wanted)
    return tuple(d for d in listed.items if d.spec.workload_ref.uid == uid)
