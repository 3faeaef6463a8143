"""The planes that a cell's controllers work on, and the settings of the cell."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName


@dataclass(frozen=True)
class CellPlanes:
    """The cell itself, and the other planes, which may be unreachable.

    ``hub`` has the copies that this cell wrote and the deployments of its cities. ``projects`` are
    those engaged so far, with the claims of this cell. ``reach`` engages the project of a name; it
    raises NotFound if there is none and Unavailable if it is unreachable.

    ``own_project`` is set where there is no federation: the cell is then the plane of this project.
    """

    cell: Clusters
    hub: Clusters
    projects: Clusters
    reach: Callable[[ClusterName], Awaitable[Cluster]]
    own_project: ClusterName | None = None


@dataclass(frozen=True, kw_only=True)
class CellSettings:
    """``name`` is that of the cell's Cluster object: it labels all that the cell writes elsewhere.

    Without ``networking`` or ``quota`` those kinds are not served, and their gates are removed.
    """

    name: str
    networking: bool = True
    quota: bool = True
