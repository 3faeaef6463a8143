"""A provider of one cluster that always exists."""

from kubekit.client.client import Client
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName


class FixedCluster:
    """Engages one cluster, once."""

    def __init__(self, clusters: Clusters, name: ClusterName, client: Client) -> None:
        self._clusters = clusters
        self._name = name
        self._client = client

    async def run(self) -> None:
        await self._clusters.engage(self._name, self._client)

    def problems(self) -> list[str]:
        engaged = self._clusters.find(self._name) is not None
        return [] if engaged else [f"{self._clusters.role} {self._name} is not engaged yet"]
