"""The planes that the engine connects."""

from dataclasses import dataclass

from kubekit.runtime.clusters import Clusters


@dataclass(frozen=True, slots=True)
class EnginePlanes:
    """The hub, and the cells by the names that their Clusters have on the hub."""

    hub: Clusters
    cells: Clusters
