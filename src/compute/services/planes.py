"""The planes that the services manage."""

from dataclasses import dataclass
from typing import Final

from compute.api.resource_manager import Project
from kubekit.runtime.clusters import Clusters

PLATFORM: Final = "milo-system"  # the services' namespace in the core plane


@dataclass(frozen=True, slots=True)
class ServicePlanes:
    """The planes by role."""

    core: Clusters  # one cluster, with Projects, registrations and grants
    hub: Clusters  # one cluster, with Clusters
    projects: Clusters  # by the name of the Project
    cells: Clusters  # by the name of the Cluster on the hub

    async def has_project(self, name: str) -> bool:
        """Whether a project exists and is not being deleted, read live."""
        project = await self.core.sole().client.find(Project, name)
        return project is not None and not project.deleting
