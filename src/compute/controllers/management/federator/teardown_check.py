"""What is left of a deployment that is off the hub, in the cells that had it and on the way there.

    binding, Works         the engine removes them; a Work goes once its cell has nothing left
    copies, projections    go by themselves, and so do claims: they are looked for at the very end

A machine takes its time to stop, and a deployment is gone only when its machines are. A cell that
does not answer is not waited for: nobody knows when it will, and it clears up when it is back.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from compute.api import karmada, labels, names
from compute.api.compute import MOST_REPLICAS, Instance, WorkloadDeployment
from compute.api.conditions import NeighbourCondition
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.quota import ResourceClaim
from compute.controllers.management.federator.deployment_link import Link
from compute.controllers.management.hub.origins import original_of
from compute.decide.conditions import find
from compute.decide.federation.scheduling import is_ready
from kubekit.api.meta import Object, ObjectMeta
from kubekit.api.resource import Resource
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request
from kubekit.runtime.watching.cache import Cache

_BINDING: Final = "binding"
_LEAVING: Final = "leaving"
_KIND: Final[Resource] = WorkloadDeployment.RESOURCE
# What Karmada writes on a Work to say which binding it is of.
_BOUND_NAME: Final = "resourcebinding.karmada.io/name"
_BOUND_NAMESPACE: Final = "resourcebinding.karmada.io/namespace"


async def is_leaving(link: Link, deployment: WorkloadDeployment, room: str) -> bool:
    """Whether the engine, or a cell that answers, has yet to let go. The hub tells when it has."""
    if any([await _answers(link.hub, cell) for cell in holders(link, room)]):
        return True
    client = link.hub.client
    if await client.find(ResourceBinding, _binding(link.name), room) is not None:
        return True
    # A Work that is too young for the cache is there under its name.
    name = names.work(room, link.name, _KIND.kind)
    for cell in _cells_of(link.hub, deployment.spec.city_code):
        left = await client.find(Work, name, names.execution_namespace(cell))
        if left is not None and await _answers(link.hub, cell):
            return True
    return False


async def is_left(link: Link, deployment: WorkloadDeployment, room: str) -> bool:
    """Whether a cell that answers still has something to be seen. Nothing tells when it has gone."""
    project, hub = link.project.client, link.hub.client
    for client, namespace in ((hub, room), (project, link.namespace)):
        seen = await _instances(client, namespace, link)
        makers = dict.fromkeys(map(_maker, seen))  # in order: each may be asked for
        if any([await _answers(link.hub, cell) for cell in makers]):
            return True
    for ordinal in _slots(deployment):
        name = names.claim(names.instance(link.name, ordinal))
        claim = await project.find(ResourceClaim, name, link.namespace)
        if claim is not None and _is_of(claim, room) and await _answers(link.hub, _maker(claim)):
            return True
    return False


def holders(link: Link, room: str) -> list[str]:
    """The cells that have not let go of a deployment yet, as far as the cache knows."""
    works = _works(link.hub).by(_BINDING, f"{room}/{_binding(link.name)}")
    return [_cell(work) for work in works]


def taken_at(hub: Cluster, copy: WorkloadDeployment) -> datetime | None:
    """When a cell took the deployment, as far as the cache knows."""
    meta = copy.metadata
    for work in _works(hub).by(_BINDING, f"{meta.namespace}/{_binding(meta.name)}"):
        applied = find(work.status.conditions, NeighbourCondition.APPLIED)
        if applied is not None and applied.status == "True":
            return applied.last_transition_time
    return None


def of_work(hub: Cluster, work: Work) -> Iterable[Request]:
    """The deployment that a Work stands for, once the Work is on its way out."""
    return (
        [place for head in _heads(work) for place in _original(hub, head)] if work.deleting else ()
    )


def of_silence(hub: Cluster, cell: str) -> Iterable[Request]:
    """The deployments that this cell has not let go of, though it was told to."""
    return [place for work in _works(hub).by(_LEAVING, cell) for place in of_work(hub, work)]


def of_binding(hub: Cluster, binding: ResourceBinding) -> Iterable[Request]:
    """The deployment of a binding whose object is off the hub: its namespace says of which project."""
    bound = binding.spec.resource
    place = ObjectMeta(name=bound.name, namespace=bound.namespace)
    return _original(hub, Object(api_version=bound.api_version, kind=bound.kind, metadata=place))


def _original(hub: Cluster, copy: Object) -> tuple[Request, ...]:
    original = original_of(hub, copy)
    return () if original is None else (original,)


def _works(hub: Cluster) -> Cache[Work]:
    cache = hub.informers.of(Work).cache
    cache.add_index(_BINDING, _by_binding)
    cache.add_index(_LEAVING, _by_leaving)
    return cache


def _by_binding(work: Work) -> Iterable[str]:
    told = work.metadata.annotations
    return (f"{told.get(_BOUND_NAMESPACE, '')}/{told.get(_BOUND_NAME, '')}",)


def _by_leaving(work: Work) -> Iterable[str]:
    return (_cell(work),) if work.deleting else ()


def _cell(work: Work) -> str:
    return names.execution_cluster(work.metadata.namespace) or ""


def _heads(work: Work) -> list[Object]:
    """What the manifests of a Work say of themselves, as far as they are deployments."""
    told = (one for one in work.spec.workload.manifests if one.get("kind") == _KIND.kind)
    return [msgspec.convert(one, Object) for one in told]


def _binding(name: str) -> str:
    return names.resource_binding(name, _KIND.kind)


def _cells_of(hub: Cluster, city: str) -> list[str]:
    """The cells of a city, as far as the cache knows."""
    known = hub.informers.of(karmada.MemberCluster).cache.list()
    there = [cell for cell in known if cell.metadata.labels.get(labels.TOPOLOGY_CITY_CODE) == city]
    return [cell.metadata.name for cell in there]


async def _answers(hub: Cluster, cell: str) -> bool:
    """Whether a cell answers, and so will see to the end of what it has.

    That it does not is never taken from a cache: it may be back, with machines that run.
    """
    known = hub.informers.of(karmada.MemberCluster).cache.get("", cell)
    if known is None or not is_ready(known):
        known = await hub.client.find(karmada.MemberCluster, cell) if cell else None
    return known is not None and is_ready(known)


def _maker(made: Object) -> str:
    """The cell that something was made by."""
    return made.metadata.labels.get(labels.SOURCE_CLUSTER, "")


async def _instances(client: Client, namespace: str, link: Link) -> Sequence[Instance]:
    chosen = ListOptions(label_selector=f"{labels.DEPLOYMENT_NAME}={link.name}")
    return (await client.every(Instance, namespace, chosen)).items


def _slots(deployment: WorkloadDeployment) -> range:
    wanted = deployment.spec.scale_settings.min_replicas
    return range(min(max(wanted, deployment.status.replicas), MOST_REPLICAS))


def _is_of(claim: ResourceClaim, room: str) -> bool:
    return claim.metadata.labels.get(labels.INSTANCE_NAMESPACE) == room
