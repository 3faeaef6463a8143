"""Admission of Networks in a project: a range that is in use cannot be changed."""

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.decide.networking import network_use
from compute.services.network import subnet_ledger
from kubekit.api.errors import Unavailable, invalid
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import cluster_name


class NetworkAdmission:
    """Checks changes of Networks against the addresses that are allocated in their projects."""

    def __init__(self, projects: Clusters) -> None:
        self._projects = projects

    async def review(self, new: Network, old: Network, project: str) -> None:
        """Raise `Invalid`, naming the field and what uses it, if a range in use would change."""
        if new.spec == old.spec:
            return
        cluster = self._projects.find(cluster_name(project))
        if cluster is None:
            raise Unavailable(f"the project {project} is not known here yet; try again in a moment")
        entries = await subnet_ledger.live(cluster.client, old)
        workloads = (await cluster.client.every(Workload)).items if entries else ()
        users = network_use.users(old, workloads)
        cells = [subnet_ledger.holder(entry).cell for entry in entries.values()]
        errors = tuple(network_use.changed_ranges(old, new, users, cells))
        if errors:
            raise invalid(Network.RESOURCE, old.metadata.name, errors)
