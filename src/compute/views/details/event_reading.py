"""The events of one object, read from a project."""

from collections.abc import Iterable

from compute.api.compute import WorkloadDeployment
from compute.views.events import EventFilter, EventOrigins, EventView, timeline
from compute.views.reading import ProjectReader
from kubekit.api.kinds.events import CoreEvent


async def read_events(
    reader: ProjectReader, deployments: Iterable[WorkloadDeployment], name: str
) -> tuple[EventView, ...] | None:
    """What happened to a Workload with all that belongs to it, or to one Instance; the oldest first.

    None where events are not served, or the user may not read them.
    """
    events = await reader.if_served(CoreEvent)
    if events is None:
        return None
    return timeline(events, EventOrigins.of(deployments), EventFilter(name)).lines()
