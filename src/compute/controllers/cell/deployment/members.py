"""Which Instances are a deployment's, and which deployment an Instance concerns."""

from collections.abc import Iterator
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide.deployment.rollout import is_begun
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import ClusterName, Request

_INDEX: Final = "deployment: members"
_BEGUN: Final = "deployment: members at their gates"


def members(cluster: Cluster, deployment: WorkloadDeployment) -> list[Instance]:
    """The deployment's Instances in its own namespace, as far as they are known."""
    cache = cluster.informers.of(Instance).cache
    cache.add_index(_INDEX, _of_index)
    return cache.by(_INDEX, _key(deployment.metadata.namespace, deployment.metadata.uid))


def begun(cluster: Cluster, deployment: WorkloadDeployment) -> int:
    """How many of them are at their gates still. It is told without a look at any."""
    cache = cluster.informers.of(Instance).cache
    cache.add_index(_BEGUN, _begun_of_index)
    return cache.count(_BEGUN, _key(deployment.metadata.namespace, deployment.metadata.uid))


async def are_left(client: Client, deployment: WorkloadDeployment) -> bool:
    """Whether any Instance carries the deployment's label, read live. One is enough to know."""
    selector = f"{labels.DEPLOYMENT_UID}={deployment.metadata.uid}"
    options = ListOptions(label_selector=selector, limit=1)
    found = await client.list(Instance, deployment.metadata.namespace, options)
    return bool(found.items or found.unreadable)


def controller_uid(obj: Object) -> str:
    """The uid of what controls the object; empty when nothing does."""
    return next((o.uid for o in obj.metadata.owner_references if o.controller), "")


def is_member(instance: Instance, deployment: WorkloadDeployment) -> bool:
    """Whether the deployment controls it, or nobody does and it carries the deployment's label.

    A label alone takes nothing from another owner: what is taken for a member may be deleted.
    """
    return _owner(instance) == deployment.metadata.uid


def concerned(cluster: ClusterName, instance: Instance) -> Iterator[Request]:
    """The deployments that an Instance matters to: whose it is, and whose slot's name it has.

    The second may be another: one that waits for an Instance of its predecessor to go.
    """
    meta = instance.metadata
    for reference in meta.owner_references:
        if reference.controller and reference.kind == WorkloadDeployment.RESOURCE.kind:
            yield Request(cluster, meta.namespace, reference.name)
    slot = names.instance_parts(meta.name)
    for name in (meta.labels.get(labels.DEPLOYMENT_NAME), slot[0] if slot else None):
        if name:
            yield Request(cluster, meta.namespace, name)


def _of_index(instance: Instance) -> Iterator[str]:
    owner = _owner(instance)
    if owner:
        yield _key(instance.metadata.namespace, owner)


def _begun_of_index(instance: Instance) -> Iterator[str]:
    if is_begun(instance):
        yield from _of_index(instance)


def _owner(instance: Instance) -> str:
    return controller_uid(instance) or instance.metadata.labels.get(labels.DEPLOYMENT_UID, "")


def _key(namespace: str, uid: str) -> str:
    return f"{namespace}/{uid}"
