"""Cells that join and leave: a member has a namespace on the hub for its Works.

When a cell leaves, all its Works are deleted first, and with them the copies in the cell. If the
cell is unreachable, its Works are released as they are, and the cell keeps its copies.
"""

from compute.api import names
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import Work
from compute.decide.federation.scheduling import is_ready
from compute.federation import karmada_keys
from compute.federation.planes import EnginePlanes
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import mapped, own


def controller(planes: EnginePlanes, factory: ControllerFactory) -> Controller:
    """The controller of Clusters as members."""

    def from_namespace(cluster: ClusterName, namespace: Namespace) -> list[Request]:
        member = names.execution_cluster(namespace.metadata.name)
        return [Request(cluster, "", member)] if member else []

    def from_work(cluster: ClusterName, work: Work) -> list[Request]:
        member = names.execution_cluster(work.metadata.namespace)
        return [Request(cluster, "", member)] if member and work.deleting else []

    sources = [
        own(Member, planes.hub),
        mapped(Namespace, planes.hub, from_namespace),
        mapped(Work, planes.hub, from_work),
    ]
    return factory.controller("engine-member", Members(planes), planes.hub, sources)


class Members:
    """Keeps the namespace for the Works of one member, and deletes it when the member has left."""

    def __init__(self, planes: EnginePlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        hub = self._planes.hub.get(request.cluster)
        member = hub.informers.of(Member).cache.get("", request.name)
        if member is None or member.deleting:  # a new Cluster may have this name by now
            member = await hub.client.find(Member, request.name)
        if member is None:
            await _abandon(hub, request.name)
        elif not member.deleting:
            await commit.add_finalizer(hub.client, member, karmada_keys.CLUSTER)
            for name in (karmada_keys.CLUSTER_NAMESPACE, names.execution_namespace(request.name)):
                await _ensure_namespace(hub, name)
        elif await self._works_gone(hub, member) and await _namespace_gone(hub, request.name):
            await commit.remove_finalizer(hub.client, member, karmada_keys.CLUSTER)
        return DONE

    async def _works_gone(self, hub: Cluster, member: Member) -> bool:
        """Delete the Works of a member that leaves. Returns whether all of them are gone."""
        name = member.metadata.name
        remaining = (await hub.client.every(Work, names.execution_namespace(name))).items
        for work in remaining:
            if not work.deleting:
                await live.delete(hub.client, work)
        if remaining and not self._is_reachable(member):
            await _abandon(hub, name)
        return not remaining

    def _is_reachable(self, member: Member) -> bool:
        engaged = self._planes.cells.find(cluster_name(member.metadata.name)) is not None
        return engaged and is_ready(member)


async def _abandon(hub: Cluster, cluster: str) -> None:
    """Release the deleted Works of a cell without waiting for the cell."""
    for work in (await hub.client.every(Work, names.execution_namespace(cluster))).items:
        if work.deleting:
            await commit.remove_finalizer(hub.client, work, karmada_keys.EXECUTION)


async def _namespace_gone(hub: Cluster, cluster: str) -> bool:
    """Delete the namespace of a member that leaves. Returns whether it is gone."""
    lease = await hub.client.find(Lease, cluster, karmada_keys.CLUSTER_NAMESPACE)
    if lease is not None:
        await live.delete(hub.client, lease)
    namespace = await hub.client.find(Namespace, names.execution_namespace(cluster))
    if namespace is not None and not namespace.deleting:
        await live.delete(hub.client, namespace)
    return namespace is None


async def _ensure_namespace(hub: Cluster, name: str) -> None:
    if await live.cached_or_live(hub, Namespace, name) is None:
        await hub.client.create(Namespace(metadata=ObjectMeta(name=name)))
