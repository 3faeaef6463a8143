"""The planes that the management controllers work on, by role."""

from dataclasses import dataclass
from typing import Final

from kubekit.runtime.clusters import Clusters
from kubekit.runtime.settings import ControllerSettings

# What failed because a plane was away is tried again soon after it came back: nothing else would
# tell of that.
ACROSS_PLANES: Final = ControllerSettings(longest_backoff=30.0)


@dataclass(frozen=True)
class ManagementPlanes:
    """Every project, the hub, and core, where the projects themselves are told of.

    Without ``core`` nobody can know that a whole project has gone: what is left of it on the hub
    then stays.
    """

    projects: Clusters
    hub: Clusters
    core: Clusters | None = None
