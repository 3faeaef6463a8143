"""Which changes in a project requeue which Workloads."""

from collections.abc import Iterable, Iterator
from typing import Any

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding, Network
from compute.controllers.management.workload import networks
from compute.controllers.management.workload.histories import Histories
from compute.decide import joins
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import Source, mapped, own


def sources(projects: Clusters, histories: Histories, *, networking: bool) -> list[Source[Any]]:
    """The kinds to watch. Networks are not watched without networking: the kind may not exist."""
    to = _Mappings(projects, histories)
    on_networks = [mapped(Network, projects, to.users)] if networking else []
    return [
        own(Workload, projects),
        mapped(WorkloadDeployment, projects, _workloads_of),
        mapped(LocationBinding, projects, to.all_workloads),
        mapped(Instance, projects, to.owner_if_waiting),
        *on_networks,
    ]


class _Mappings:
    """Mappings that read the caches of the project."""

    def __init__(self, projects: Clusters, histories: Histories) -> None:
        self._projects = projects
        self._histories = histories

    def users(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        return networks.users(self._projects.get(cluster), network)

    def all_workloads(self, cluster: ClusterName, _: LocationBinding) -> Iterable[Request]:
        """A city that is added or removed may be the first or the last one of every Workload."""
        workloads = self._projects.get(cluster).informers.of(Workload).cache
        return (Request(cluster, *key) for key, _ in workloads.entries())

    def owner_if_waiting(self, cluster: ClusterName, instance: Instance) -> Iterable[Request]:
        """An Instance requeues its Workload only while the Workload waits for ready Instances."""
        key = instance.metadata.namespace, joins.workload_name(instance)
        if self._histories.waits(self._projects.get(cluster), key):
            yield Request(cluster, *key)


def _workloads_of(cluster: ClusterName, deployment: WorkloadDeployment) -> Iterator[Request]:
    """The Workload that a deployment references, and the one that its name is derived from.

    They differ if the deployment was created by hand: the second waits for it to be deleted.
    """
    parts = names.deployment_parts(deployment.metadata.name)
    for name in (deployment.spec.workload_ref.name, parts[0] if parts else ""):
        if name:
            yield Request(cluster, deployment.metadata.namespace, name)
