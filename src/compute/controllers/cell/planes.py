"""The planes that a cell's controllers work on, and what is settled about the cell."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName


@dataclass(frozen=True)
class CellPlanes:
    """The cell itself, and the others as far as it can see them through links that may be cut.

    ``hub`` holds what this cell reported and the deployments of its cities; ``projects`` those that
    were reached so far, each with the claims this cell made there. ``reach`` answers the project of
    a name, or raises NotFound where there is none and Unavailable where it does not answer.
    """

    cell: Clusters
    hub: Clusters
    projects: Clusters
    reach: Callable[[ClusterName], Awaitable[Cluster]]


@dataclass(frozen=True, kw_only=True)
class CellSettings:
    """``name`` is that of the cell's Cluster object: it labels everything the cell writes elsewhere.

    With ``networking`` or ``quota`` off nobody there serves those kinds, and their gates just go.
    """

    name: str
    networking: bool = True
    quota: bool = True
