"""The hub's namespaces in every cell: a copy needs its namespace.

A Work sends the namespace to each cell, as for any other object. The hub's namespace owns the Work,
so the Work and the cell's namespace are deleted once the hub's namespace is gone.
"""

from typing import Final

from compute.api import labels, names
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import Work
from compute.federation import karmada_keys, lookups, works
from compute.federation.planes import EnginePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

_NOT_SENT: Final = ("kube-", "karmada-")  # namespaces that only the hub has


def controller(planes: EnginePlanes, factory: ControllerFactory) -> Controller:
    """The controller that gives every cell the hub's namespaces."""
    hub = planes.hub

    def from_execution_namespace(cluster: ClusterName, namespace: Namespace) -> list[Request]:
        """A new namespace for the Works of a cell: all other namespaces can be sent to the cell."""
        if not names.execution_cluster(namespace.metadata.name):
            return []
        keys = hub.get(cluster).informers.of(Namespace).cache.keys()
        return [Request(cluster, "", name) for _, name in keys if is_synced(name)]

    def from_member(_: ClusterName, __: Member) -> list[Request]:
        """A change of a member requeues nothing. The source only fills the cache of members."""
        return []

    def from_work(cluster: ClusterName, work: Work) -> list[Request]:
        heads = works.heads(work)
        kind = Namespace.RESOURCE.kind
        return [Request(cluster, "", head.metadata.name) for head in heads if head.kind == kind]

    sources = [
        own(Namespace, hub),
        mapped(Namespace, hub, from_execution_namespace),
        mapped(Member, hub, from_member),
        mapped(Work, hub, from_work),
    ]
    return factory.controller(
        "engine-namespace", Namespaces(hub, factory.environment), hub, sources
    )


def is_synced(name: str) -> bool:
    """Whether cells get a namespace of this name."""
    return name != "default" and not name.startswith(_NOT_SENT)


class Namespaces:
    """Sends one namespace to every cell."""

    def __init__(self, hub: Clusters, environment: ExecutionEnvironment) -> None:
        self._hub = hub
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        hub = self._hub.get(request.cluster)
        namespace = hub.informers.of(Namespace).cache.get("", request.name)
        if namespace is None or namespace.deleting or not _is_sent(namespace):
            return DONE  # the garbage collector deletes its Works
        for cluster in lookups.cells_with_namespace(hub):
            if _accepts_works(hub, cluster):
                await self._send(hub, namespace, cluster)
        return DONE

    async def _send(self, hub: Cluster, namespace: Namespace, cluster: str) -> None:
        name = names.work("", namespace.metadata.name, namespace.kind)
        cache = hub.informers.of(Work).cache
        present = cache.get(names.execution_namespace(cluster), name)
        if present is None:
            current = await live.current(hub.client, namespace)
            if current is not None:
                fresh = works.of_namespace(current, cluster, self._environment.uid())
                await hub.client.create(fresh)
        elif not present.deleting:
            work_id = present.metadata.labels.get(karmada_keys.WORK_ID, "")
            desired = works.of_namespace(namespace, cluster, work_id)
            await hub.client.patch(present, works.updated(present, desired))


def _accepts_works(hub: Cluster, cluster: str) -> bool:
    """Whether Works can be created for a cell. A cell that is about to leave gets no more."""
    member = hub.informers.of(Member).cache.get("", cluster)
    works_in = hub.informers.of(Namespace).cache.get("", names.execution_namespace(cluster))
    leaving = member is not None and member.deleting
    return works_in is not None and not works_in.deleting and not leaving


def _is_sent(namespace: Namespace) -> bool:
    skipped = namespace.metadata.labels.get(labels.SKIP_PROPAGATION) == "true"
    return is_synced(namespace.metadata.name) and not skipped
