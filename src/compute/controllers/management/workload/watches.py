"""Which changes in a project ask for a look at which Workloads."""

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
    """The kinds to listen to. Those of networks may not exist where there is no networking."""
    to = _Mappings(projects, histories)
    on_networks = [mapped(Network, projects, to.users)] if networking else []
    return [
        own(Workload, projects),
        mapped(WorkloadDeployment, projects, _workloads_of),
        mapped(LocationBinding, projects, to.everybody),
        mapped(Instance, projects, to.witnessed),
        *on_networks,
    ]


class _Mappings:
    """Mappings that look at what else is in the project."""

    def __init__(self, projects: Clusters, histories: Histories) -> None:
        self._projects = projects
        self._histories = histories

    def users(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        return networks.users(self._projects.get(cluster), network)

    def everybody(self, cluster: ClusterName, _: LocationBinding) -> Iterable[Request]:
        """A city that comes or goes may be the first or the last, which concerns every Workload."""
        workloads = self._projects.get(cluster).informers.of(Workload).cache
        return (Request(cluster, *key) for key, _ in workloads.kept())

    def witnessed(self, cluster: ClusterName, instance: Instance) -> Iterable[Request]:
        """An Instance concerns a Workload only when its word is all that is missing."""
        key = instance.metadata.namespace, joins.workload_name(instance)
        if self._histories.waits(self._projects.get(cluster), key):
            yield Request(cluster, *key)


def _workloads_of(cluster: ClusterName, deployment: WorkloadDeployment) -> Iterator[Request]:
    """The Workload that a deployment names, and the one that its name would be of.

    They differ where somebody made a deployment by hand: the other waits for it to go.
    """
    parts = names.deployment_parts(deployment.metadata.name)
    for name in (deployment.spec.workload_ref.name, parts[0] if parts else ""):
        if name:
            yield Request(cluster, deployment.metadata.namespace, name)
