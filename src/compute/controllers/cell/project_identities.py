"""Whose an Instance is: the project behind the namespace it lives in.

The namespace of a cell is a copy of the hub's, labels and all. It is read from the cell's own cache,
so that a cell which nobody reaches still knows.
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
    """The project, and the namespace in it, that a namespace of the cell stands for."""
    found = cell.informers.of(Namespace).cache.get("", namespace)
    return None if found is None else federation.identity(found)


def project(identity: ProjectNamespace) -> ClusterName:
    """The name under which the project of an Instance is reached, and claims are made."""
    return ClusterName(names.cluster_key(identity.project))


def residents(cell: Clusters) -> To[Namespace]:
    """Each Namespace asks for the Instances in it: from its labels they learn whose they are."""

    def to(cluster: ClusterName, namespace: Namespace) -> Iterable[Request]:
        name = namespace.metadata.name
        for place, instance in cell.get(cluster).informers.of(Instance).cache.keys(name):
            yield Request(cluster, place, instance)

    return to
