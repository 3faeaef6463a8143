"""The project of an Instance, from the labels of its namespace.

The namespace of a cell is a copy of the hub's with the same labels. It is read from the cell's own
cache, so an isolated cell has it too.
"""

from collections.abc import Iterable

from compute.api import names
from compute.api.compute import Instance
from compute.decide import federation
from compute.decide.federation import ProjectNamespace
from kubekit.api.kinds.core import Namespace
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import To


def identity(cell: Cluster, namespace: str) -> ProjectNamespace | None:
    """The project, and the namespace in it, that a namespace of the cell is a copy of."""
    cached = cell.informers.of(Namespace).cache.get("", namespace)
    return None if cached is None else federation.identity(cached)


def project(identity: ProjectNamespace) -> ClusterName:
    """The name under which the project of an Instance is engaged."""
    return ClusterName(names.cluster_key(identity.project))


def instances_in(cell: Clusters) -> To[Namespace]:
    """Each Namespace requeues the Instances in it: its labels name their project."""

    def to(cluster: ClusterName, namespace: Namespace) -> Iterable[Request]:
        name = namespace.metadata.name
        for key in cell.get(cluster).informers.of(Instance).cache.keys(name):
            yield Request(cluster, *key)

    return to
