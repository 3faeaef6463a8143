"""The planes that the management controllers work on, by role."""

from dataclasses import dataclass
from typing import Final

from kubekit.runtime.clusters import Clusters
from kubekit.runtime.settings import ControllerSettings

# No event reports that an unreachable plane can be reached again, so the back-off stays short.
ACROSS_PLANES: Final = ControllerSettings(longest_backoff=30.0)


@dataclass(frozen=True)
class ManagementPlanes:
    """Every project, the hub, and core, which has the Project objects.

    Without ``core`` it is unknown whether a whole project is gone: its objects on the hub then
    stay.
    """

    projects: Clusters
    hub: Clusters
    core: Clusters | None = None
