"""Which object of a project a hub object is a copy of.

A hub object names its original in two labels. The copies that the original system made lack one of
them; their namespace has both.
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
    """The mapping of a source on the hub. ``to`` receives the Cluster and not its name."""

    def requests(name: ClusterName, changed: K) -> Iterable[Request]:
        cluster = hub.find(name)
        return () if cluster is None else to(cluster, changed)

    return requests


def original_of(hub: Cluster, copy: Object) -> Request | None:
    """The project's object of the same name; None if neither labels nor namespace name it.

    Nothing requeues an object without an original, so it is logged. A namespace that is not a hub
    namespace of a project is ignored.
    """
    meta = copy.metadata
    origin = _identity(hub, meta.namespace, meta.labels)
    if origin is not None:
        return Request(engaged_as(origin), origin.namespace, meta.name)
    if names.hub_namespace_uid(meta.namespace) is not None:
        about = {"kind": copy.kind, "object": f"{meta.namespace}/{meta.name}"}
        _log.error("a hub object does not name its project", extra=about)
    return None


def engaged_as(origin: ProjectNamespace) -> ClusterName:
    """The name under which the project is engaged."""
    return cluster_name(names.cluster_key(origin.project))


def copies_of(hub: Cluster, original: Request) -> list[WorkloadDeployment]:
    """The copies of a project's deployment on the hub, from the cache."""
    cache = hub.informers.of(WorkloadDeployment).cache
    cache.add_index(_ORIGIN, _origin)
    path = original.namespace, original.name
    keys = (_key(project, *path) for project in (original.cluster, ""))
    copies = [copy for key in keys for copy in cache.by(_ORIGIN, key)]
    return [copy for copy in copies if original_of(hub, copy) == original]


def instances_of(hub: Cluster, original: Request) -> Iterable[Request]:
    """Requests for the Instances of a project's deployment that have copies on the hub."""
    cache = hub.informers.of(Instance).cache
    cache.add_index(_OWNER, _owner)
    key = _key(original.cluster, original.namespace, original.name)
    for _, name in cache.keys_by(_OWNER, key):
        yield Request(original.cluster, original.namespace, name)


def _identity(hub: Cluster, namespace: str, own: dict[str, str]) -> ProjectNamespace | None:
    if labels.UPSTREAM_CLUSTER not in own or labels.UPSTREAM_NAMESPACE not in own:
        hub_namespace = hub.informers.of(Namespace).cache.get("", namespace)
        own = (hub_namespace.metadata.labels if hub_namespace else {}) | own
    return identity(Namespace(metadata=ObjectMeta(name=namespace, labels=own)))


def _origin(copy: WorkloadDeployment) -> Iterable[str]:
    yield _key(*_upstream(copy), copy.metadata.name)


def _owner(copy: Instance) -> Iterable[str]:
    yield _key(*_upstream(copy), joins.deployment_name(copy))


def _upstream(copy: Object) -> tuple[str, str]:
    """The project, as it is engaged, and the namespace that the labels of a copy name."""
    own = copy.metadata.labels
    namespace = own.get(labels.UPSTREAM_NAMESPACE, "")
    try:
        return names.cluster_key(names.decode_cluster(own[labels.UPSTREAM_CLUSTER])), namespace
    except (KeyError, ValueError):
        return "", namespace


def _key(project: str, namespace: str, name: str) -> str:
    return f"{project}/{namespace}/{name}"
