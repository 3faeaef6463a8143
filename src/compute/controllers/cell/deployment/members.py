"""Which Instances belong to a deployment, and which deployments an Instance requeues."""

from collections.abc import Iterator
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide.deployment.rollout import is_at_gates
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import ClusterName, Request

_INDEX: Final = "deployment: members"
_GATED: Final = "deployment: members at their gates"


def members(cluster: Cluster, deployment: WorkloadDeployment) -> list[Instance]:
    """The deployment's Instances in its namespace, from the cache."""
    cache = cluster.informers.of(Instance).cache
    cache.add_index(_INDEX, _member_key)
    return cache.by(_INDEX, _key(deployment.metadata.namespace, deployment.metadata.uid))


def count_gated(cluster: Cluster, deployment: WorkloadDeployment) -> int:
    """How many of its Instances are still at their gates. The index counts without reading any."""
    cache = cluster.informers.of(Instance).cache
    cache.add_index(_GATED, _gated_key)
    return cache.count(_GATED, _key(deployment.metadata.namespace, deployment.metadata.uid))


async def any_left(client: Client, deployment: WorkloadDeployment) -> bool:
    """Whether any Instance has the deployment's label, read live."""
    selector = f"{labels.DEPLOYMENT_UID}={deployment.metadata.uid}"
    options = ListOptions(label_selector=selector, limit=1)
    listed = await client.list(Instance, deployment.metadata.namespace, options)
    return bool(listed.items or listed.unreadable)


def controller_uid(obj: Object) -> str:
    """The uid of the object's controller; empty if it has none."""
    return next((o.uid for o in obj.metadata.owner_references if o.controller), "")


def is_member(instance: Instance, deployment: WorkloadDeployment) -> bool:
    """Whether the deployment controls it, or it has no controller and the deployment's label.

    A label does not take an Instance from another owner, since members may be deleted.
    """
    return _owner(instance) == deployment.metadata.uid


def deployments_of(cluster: ClusterName, instance: Instance) -> Iterator[Request]:
    """The deployments that an Instance requeues: its owner, and the one whose slot has its name.

    They differ if a deployment waits for an Instance of its predecessor to be deleted.
    """
    meta = instance.metadata
    for reference in meta.owner_references:
        if reference.controller and reference.kind == WorkloadDeployment.RESOURCE.kind:
            yield Request(cluster, meta.namespace, reference.name)
    slot = names.instance_parts(meta.name)
    for name in (meta.labels.get(labels.DEPLOYMENT_NAME), slot[0] if slot else None):
        if name:
            yield Request(cluster, meta.namespace, name)


def _member_key(instance: Instance) -> Iterator[str]:
    owner = _owner(instance)
    if owner:
        yield _key(instance.metadata.namespace, owner)


def _gated_key(instance: Instance) -> Iterator[str]:
    if is_at_gates(instance):
        yield from _member_key(instance)


def _owner(instance: Instance) -> str:
    return controller_uid(instance) or instance.metadata.labels.get(labels.DEPLOYMENT_UID, "")


def _key(namespace: str, uid: str) -> str:
    return f"{namespace}/{uid}"
