"""What on the hub stands for what in a project.

A hub object says by two labels where its original is. The copies that the original system made
lack one of them; their namespace has both.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import joins
from compute.decide.federation import ProjectNamespace, identity
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName, Request, cluster_name
from kubekit.runtime.sources import To

_log: Final = logging.getLogger(__name__)

K = TypeVar("K", bound=Object)

_ORIGIN: Final = "origin"
_OWNER: Final = "owner"


def from_hub(hub: Clusters, to: Callable[[Cluster, K], Iterable[Request]]) -> To[K]:
    """A mapping for a source on the hub, which is given the hub itself and not its name."""

    def asked(name: ClusterName, changed: K) -> Iterable[Request]:
        cluster = hub.find(name)
        return () if cluster is None else to(cluster, changed)

    return asked


def original_of(hub: Cluster, copy: Object) -> Request | None:
    """The project's object of the same name; None when neither labels nor namespace say where.

    Nobody asks again for what nobody can place, so it is logged; a namespace that holds nothing of
    ours is none of our business.
    """
    meta = copy.metadata
    found = _identity(hub, meta.namespace, meta.labels)
    if found is not None:
        return Request(engaged_as(found), found.namespace, meta.name)
    if names.hub_namespace_uid(meta.namespace) is not None:
        about = {"kind": copy.kind, "object": f"{meta.namespace}/{meta.name}"}
        _log.error("a hub object does not say which project it is of", extra=about)
    return None


def engaged_as(found: ProjectNamespace) -> ClusterName:
    """The name under which the project is engaged."""
    return cluster_name(names.cluster_key(found.project))


def copies_of(hub: Cluster, original: Request) -> list[WorkloadDeployment]:
    """The hub's deployments that stand for one of a project, as far as the cache knows them."""
    cache = hub.informers.of(WorkloadDeployment).cache
    cache.add_index(_ORIGIN, _origin)
    place = original.namespace, original.name
    keys = (_key(project, *place) for project in (original.cluster, ""))
    found = [copy for key in keys for copy in cache.by(_ORIGIN, key)]
    return [copy for copy in found if original_of(hub, copy) == original]


def instances_of(hub: Cluster, original: Request) -> Iterable[Request]:
    """The projections of a project's deployment that the hub holds copies for."""
    cache = hub.informers.of(Instance).cache
    cache.add_index(_OWNER, _owner)
    key = _key(original.cluster, original.namespace, original.name)
    for _, name in cache.keys_by(_OWNER, key):
        yield Request(original.cluster, original.namespace, name)


def _identity(hub: Cluster, namespace: str, told: dict[str, str]) -> ProjectNamespace | None:
    if labels.UPSTREAM_CLUSTER not in told or labels.UPSTREAM_NAMESPACE not in told:
        room = hub.informers.of(Namespace).cache.get("", namespace)
        told = (room.metadata.labels if room else {}) | told
    return identity(Namespace(metadata=ObjectMeta(name=namespace, labels=told)))


def _origin(copy: WorkloadDeployment) -> Iterable[str]:
    yield _key(*_told(copy), copy.metadata.name)


def _owner(copy: Instance) -> Iterable[str]:
    yield _key(*_told(copy), joins.deployment_name(copy))


def _told(copy: Object) -> tuple[str, str]:
    """The project, as it is engaged, and the namespace that the labels of a copy name."""
    told = copy.metadata.labels
    namespace = told.get(labels.UPSTREAM_NAMESPACE, "")
    try:
        return names.cluster_key(names.decode_cluster(told[labels.UPSTREAM_CLUSTER])), namespace
    except (KeyError, ValueError):
        return "", namespace


def _key(project: str, namespace: str, name: str) -> str:
    return f"{project}/{namespace}/{name}"
