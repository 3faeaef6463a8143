"""Clusters that are looked after from the moment somebody needs them.

A cell may run Instances of any project, and does of few: to engage them all would be a watch for
each, in every cell.
"""

from collections.abc import Callable

from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName

Connect = Callable[[ClusterName], Client]
"""The way to a cluster. An `ApiError` says that there is none: `NotFound`, that there never will be."""


class OnDemandClusters:
    """Engages a cluster when it is first asked for."""

    def __init__(self, clusters: Clusters, connect: Connect) -> None:
        self._clusters = clusters
        self._connect = connect

    async def reach(self, name: ClusterName) -> Cluster:
        """The cluster of this name, engaged."""
        present = self._clusters.find(name)
        return present or await self._clusters.engage(name, self._connect(name))
