"""The project of an Instance, from the labels of its namespace.

The namespace of a cell is a copy of the hub's with the same labels. It is read from the cell's own
cache, so an isolated cell has it too. Where there is no federation, the namespaces of the cell are those
of its only project.
"""

from collections.abc import Iterable

from compute.api import names
from compute.api.compute import Instance
from compute.controllers.cell.planes import CellPlanes
from compute.decide import federation
from compute.decide.federation import ProjectNamespace
from kubekit.api.kinds.core import Namespace
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import To


def identity(planes: CellPlanes, cell: Cluster, namespace: str) -> ProjectNamespace | None:
    """The project, and the namespace in it, that a namespace of the cell stands for."""
    if planes.own_project is not None:
        return ProjectNamespace(names.cluster(planes.own_project), namespace)
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
