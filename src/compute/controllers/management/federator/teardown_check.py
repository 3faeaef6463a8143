"""What is left of a deployment whose hub copy is deleted: in its cells, and between hub and cells.

    binding, Works         deleted by the engine; Karmada does not wait for what the cell has left
    copies, projections    deleted with their Instance, once its machine has stopped
    claims                 deleted before their Instance, or with their slot

A machine takes time to stop, and a deployment is gone only when its machines are. An unreachable
cell is not waited for: it deletes its objects when it is reachable again.

Watch events report the end of all but the claims. So the caches are asked first, and the server only
once they show nothing that is left: for Works, which may be made until the binding is gone, and claims.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec

from compute.api import karmada, labels, names
from compute.api.compute import MOST_REPLICAS, Instance, WorkloadDeployment
from compute.api.conditions import NeighbourCondition
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.quota import ResourceClaim
from compute.controllers.management.federator.deployment_link import DeploymentLink
from compute.controllers.management.hub.copies import copies_of
from compute.controllers.management.hub.origins import original_of
from compute.controllers.management.hub.reachability import is_reachable
from compute.decide import joins
from compute.decide.conditions import find
from kubekit.api.meta import Object, ObjectMeta
from kubekit.api.resource import Resource
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request
from kubekit.runtime.watching.cache import Cache

_BINDING: Final = "binding"
_DELETING: Final = "deleting"
_SHOWN: Final = "shown"
_KIND: Final[Resource] = WorkloadDeployment.RESOURCE
# The annotations in which Karmada names the binding of a Work.
_BOUND_NAME: Final = "resourcebinding.karmada.io/name"
_BOUND_NAMESPACE: Final = "resourcebinding.karmada.io/namespace"


async def is_waiting(link: DeploymentLink, hub_namespace: str) -> bool:
    """Whether the caches show a binding, a Work of a reachable cell, or a copy or projection of an Instance.

    Copies of unreachable cells are deleted by `compute.controllers.management.hub.copies`.
    """
    if any([await is_reachable(link.hub, cell) for cell in holders(link, hub_namespace)]):
        return True
    if (hub_namespace, _binding(link.name)) in link.hub.informers.of(ResourceBinding).cache:
        return True
    shown = _projections(link.project).keys_by(_SHOWN, f"{link.namespace}/{link.name}")
    return bool(shown or copies_of(link.hub, hub_namespace, link.name))


async def has_works(
    link: DeploymentLink, deployment: WorkloadDeployment, hub_namespace: str
) -> bool:
    """Whether a Work of a reachable cell exists, read live."""
    # A Work that is too new for the cache is found by its name.
    name = names.work(hub_namespace, link.name, _KIND.kind)
    for cell in _cells_of(link.hub, deployment.spec.city_code):
        work = await link.hub.client.find(Work, name, names.execution_namespace(cell))
        if work is not None and await is_reachable(link.hub, cell):
            return True
    return False


async def has_claims(
    link: DeploymentLink, deployment: WorkloadDeployment, hub_namespace: str
) -> bool:
    """Whether a reachable cell still has claims, read live."""
    for ordinal in _ordinals(deployment):
        name = names.claim(names.instance(link.name, ordinal))
        claim = await link.project.client.find(ResourceClaim, name, link.namespace)
        if claim is None or not _is_claim_of(claim, hub_namespace):
            continue
        if await is_reachable(link.hub, _source_cluster(claim)):
            return True
    return False


def holders(link: DeploymentLink, hub_namespace: str) -> list[str]:
    """The cells that have a Work of a deployment, according to the cache."""
    works = _works(link.hub).by(_BINDING, f"{hub_namespace}/{_binding(link.name)}")
    return [_cell(work) for work in works]


def applied_at(hub: Cluster, copy: WorkloadDeployment) -> datetime | None:
    """When a cell applied the deployment, according to the cache."""
    meta = copy.metadata
    for work in _works(hub).by(_BINDING, f"{meta.namespace}/{_binding(meta.name)}"):
        applied = find(work.status.conditions, NeighbourCondition.APPLIED)
        if applied is not None and applied.status == "True":
            return applied.last_transition_time
    return None


def of_work(hub: Cluster, work: Work) -> Iterable[Request]:
    """The deployment in a Work that is deleting."""
    if not work.deleting:
        return ()
    return [request for copy in _deployments_in(work) for request in _original(hub, copy)]


def of_cell(hub: Cluster, cell: str) -> Iterable[Request]:
    """The deployments whose Works of this cell are deleting."""
    return [request for work in _works(hub).by(_DELETING, cell) for request in of_work(hub, work)]


def of_binding(hub: Cluster, binding: ResourceBinding) -> Iterable[Request]:
    """The deployment of a binding whose object is gone: its hub namespace names the project."""
    bound = binding.spec.resource
    meta = ObjectMeta(name=bound.name, namespace=bound.namespace)
    return _original(hub, Object(api_version=bound.api_version, kind=bound.kind, metadata=meta))


def of_instance(hub: Cluster, copy: Instance) -> Iterable[Request]:
    """The deployment of an Instance on the hub, if it is deleted there."""
    namespace, name = copy.metadata.namespace, joins.deployment_name(copy)
    if (namespace, name) in hub.informers.of(WorkloadDeployment).cache:
        return ()
    meta = ObjectMeta(name=name, namespace=namespace, labels=copy.metadata.labels)
    return _original(hub, Object(api_version=copy.api_version, kind=_KIND.kind, metadata=meta))


def of_projection(project: Cluster, projection: Instance) -> Iterable[Request]:
    """The deployment of an Instance of a project, if it is deleted."""
    namespace, name = projection.metadata.namespace, joins.deployment_name(projection)
    deployment = project.informers.of(WorkloadDeployment).cache.get(namespace, name)
    if deployment is not None and deployment.deleting:
        yield Request(project.name, namespace, name)


def _original(hub: Cluster, copy: Object) -> tuple[Request, ...]:
    original = original_of(hub, copy)
    return () if original is None else (original,)


def _projections(project: Cluster) -> Cache[Instance]:
    cache = project.informers.of(Instance).cache
    cache.add_index(_SHOWN, _shown_key)
    return cache


def _shown_key(projection: Instance) -> Iterable[str]:
    return (f"{projection.metadata.namespace}/{joins.deployment_name(projection)}",)


def _works(hub: Cluster) -> Cache[Work]:
    cache = hub.informers.of(Work).cache
    cache.add_index(_BINDING, _binding_key)
    cache.add_index(_DELETING, _deleting_key)
    return cache


def _binding_key(work: Work) -> Iterable[str]:
    annotations = work.metadata.annotations
    return (f"{annotations.get(_BOUND_NAMESPACE, '')}/{annotations.get(_BOUND_NAME, '')}",)


def _deleting_key(work: Work) -> Iterable[str]:
    return (_cell(work),) if work.deleting else ()


def _cell(work: Work) -> str:
    return names.execution_cluster(work.metadata.namespace) or ""


def _deployments_in(work: Work) -> list[Object]:
    """The kind and metadata of the deployments among the manifests of a Work."""
    manifests = (each for each in work.spec.workload.manifests if each.get("kind") == _KIND.kind)
    return [msgspec.convert(each, Object) for each in manifests]


def _binding(name: str) -> str:
    return names.resource_binding(name, _KIND.kind)


def _cells_of(hub: Cluster, city: str) -> list[str]:
    """The cells of a city, according to the cache."""
    members = hub.informers.of(karmada.MemberCluster).cache.list()
    label = labels.TOPOLOGY_CITY_CODE
    return [cell.metadata.name for cell in members if cell.metadata.labels.get(label) == city]


def _source_cluster(obj: Object) -> str:
    """The cell that created an object."""
    return obj.metadata.labels.get(labels.SOURCE_CLUSTER, "")


def _ordinals(deployment: WorkloadDeployment) -> range:
    wanted = deployment.spec.scale_settings.min_replicas
    return range(min(max(wanted, deployment.status.replicas), MOST_REPLICAS))


def _is_claim_of(claim: ResourceClaim, hub_namespace: str) -> bool:
    return claim.metadata.labels.get(labels.INSTANCE_NAMESPACE) == hub_namespace
