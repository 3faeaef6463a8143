"""The planes that the neighbours of a world look after."""

from dataclasses import dataclass
from typing import Final

from kubekit.runtime.clusters import Clusters

PLATFORM: Final = "milo-system"  # the namespace of the core plane that holds what is ours


@dataclass(frozen=True, slots=True)
class ServicePlanes:
    """Who is where: Projects, registrations and grants in ``core``, one cluster; Clusters on the
    ``hub``, one cluster; a plane for each Project, by its name; a plane for each cell, by the name
    of its Cluster.
    """

    core: Clusters
    hub: Clusters
    projects: Clusters
    cells: Clusters
