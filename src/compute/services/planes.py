"""The planes that the services manage."""

from dataclasses import dataclass
from typing import Final

from compute.api.resource_manager import Project
from kubekit.runtime.clusters import Clusters

PLATFORM: Final = "milo-system"  # the services' namespace in the core plane


@dataclass(frozen=True, slots=True)
class ServicePlanes:
    """The planes by role: Projects, registrations and grants in ``core``, one cluster; Clusters on the
    ``hub``, one cluster; a plane for each Project, by its name; a plane for each cell, by the name
    of its Cluster.
    """

    core: Clusters
    hub: Clusters
    projects: Clusters
    cells: Clusters

    async def has_project(self, name: str) -> bool:
        """Whether a project exists and is not being deleted, read live."""
        project = await self.core.sole().client.find(Project, name)
        return project is not None and not project.deleting
