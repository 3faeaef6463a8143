"""Clusters that are engaged when they are first needed.

A cell may run Instances of any project, and runs Instances of few. Engaging all projects would mean
a watch for each of them in every cell.
"""

from collections.abc import Callable

from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName

Connect = Callable[[ClusterName], Client]
"""Makes the client of a cluster, or raises an `ApiError`: `NotFound` if it cannot exist."""


class OnDemandClusters:
    """Engages a cluster when it is first needed."""

    def __init__(self, clusters: Clusters, connect: Connect) -> None:
        self._clusters = clusters
        self._connect = connect

    async def reach(self, name: ClusterName) -> Cluster:
        """The cluster of this name, engaged."""
        present = self._clusters.find(name)
        return present or await self._clusters.engage(name, self._connect(name))
