"""Namespaces of the hub, in every cell: what is sent to a cell needs a place to stand.

Each cell is told by a Work, as of any other object. The Work is owned by the hub's namespace, so
it goes, and the cell's namespace with it, once the hub's namespace has gone.
"""

from typing import Final

from compute.api import names
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import Work
from compute.federation import karmada_keys, lookups, works
from compute.federation.planes import EnginePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

_KEPT: Final = ("kube-", "karmada-")  # namespaces of the hub's own


def controller(planes: EnginePlanes, factory: ControllerFactory) -> Controller:
    """The controller that gives every cell the hub's namespaces."""
    hub = planes.hub

    def from_place(cluster: ClusterName, namespace: Namespace) -> list[Request]:
        """A cell that has a namespace for its Works can be told of all others."""
        if not names.execution_cluster(namespace.metadata.name):
            return []
        keys = hub.get(cluster).informers.of(Namespace).cache.keys()
        return [Request(cluster, "", name) for _, name in keys if is_synced(name)]

    def from_member(_: ClusterName, __: Member) -> list[Request]:
        """Only which members are about to leave matters here, and that asks for nothing."""
        return []

    def from_work(cluster: ClusterName, work: Work) -> list[Request]:
        heads = works.heads(work)
        kind = Namespace.RESOURCE.kind
        return [Request(cluster, "", one.metadata.name) for one in heads if one.kind == kind]

    sources = [
        own(Namespace, hub),
        mapped(Namespace, hub, from_place),
        mapped(Member, hub, from_member),
        mapped(Work, hub, from_work),
    ]
    return factory.controller(
        "engine-namespace", Namespaces(hub, factory.environment), hub, sources
    )


def is_synced(name: str) -> bool:
    """Whether cells get a namespace of this name."""
    return name != "default" and not name.startswith(_KEPT)


class Namespaces:
    """Tells every cell to have one namespace."""

    def __init__(self, hub: Clusters, environment: ExecutionEnvironment) -> None:
        self._hub = hub
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        hub = self._hub.get(request.cluster)
        known = hub.informers.of(Namespace).cache
        namespace = known.get("", request.name)
        if namespace is None or namespace.deleting or not _is_sent(namespace):
            return DONE  # its Works go after it
        for cluster in lookups.cells_with_place(hub):
            if _takes_part(hub, cluster):
                await self._tell(hub, namespace, cluster)
        return DONE

    async def _tell(self, hub: Cluster, namespace: Namespace, cluster: str) -> None:
        name = names.work("", namespace.metadata.name, namespace.kind)
        cache = hub.informers.of(Work).cache
        present = cache.get(names.execution_namespace(cluster), name)
        if present is None:
            live = await hub.client.find(Namespace, namespace.metadata.name)
            if live is not None and not live.deleting:
                fresh = works.of_namespace(live, cluster, self._environment.uid())
                await hub.client.create(fresh)
        elif not present.deleting:
            work_id = present.metadata.labels.get(karmada_keys.WORK_ID, "")
            desired = works.of_namespace(namespace, cluster, work_id)
            await hub.client.patch(present, works.renewed(present, desired))


def _takes_part(hub: Cluster, cluster: str) -> bool:
    """Whether a cell can be told anything: one that is about to leave is told nothing new."""
    member = hub.informers.of(Member).cache.get("", cluster)
    place = hub.informers.of(Namespace).cache.get("", names.execution_namespace(cluster))
    leaving = member is not None and member.deleting
    return place is not None and not place.deleting and not leaving


def _is_sent(namespace: Namespace) -> bool:
    skipped = namespace.metadata.labels.get(karmada_keys.SKIPPED) == "true"
    return is_synced(namespace.metadata.name) and not skipped
