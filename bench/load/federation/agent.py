"""An agent in place of the controllers of cells: each deployment that arrives is served at once."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from bench.load.federation.site import Site
from bench.load.federation.timeline import Timeline
from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from kubekit.api.errors import NotFound
from kubekit.client.client import Client
from kubekit.client.options import PLAIN_WRITE, PatchType
from kubekit.client.transport import Document, ResourceLocation

_TIME: Final = "2026-01-01T00:00:00Z"
_COUNTERS: Final = (
    "replicas",
    "desiredReplicas",
    "readyReplicas",
    "updatedReplicas",
    "currentReplicas",
)


class Agent:
    """Writes one status for each deployment, in the cell."""

    def __init__(self, cells: Mapping[str, Client], tasks: asyncio.TaskGroup) -> None:
        self._cells = cells
        self._tasks = tasks

    def arrived(self, cell: str, document: Document) -> None:
        """Answer a deployment that is new in a cell."""
        self._tasks.create_task(serve(self._cells[cell], document))


@asynccontextmanager
async def answering(site: Site, timeline: Timeline) -> AsyncIterator[None]:
    """Let an agent answer whatever arrives in any cell."""
    async with AsyncExitStack() as stack:
        clients = {cell: await stack.enter_async_context(site.client(cell)) for cell in site.cells}
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        timeline.arrived = Agent(clients, tasks).arrived
        try:
            yield
        finally:
            timeline.arrived = None


async def serve(cell: Client, document: Document) -> None:
    """Write a status by which a deployment is served."""
    metadata = document["metadata"]
    generation = metadata["generation"]
    available = {
        "type": ConditionType.AVAILABLE,
        "status": "True",
        "reason": "StablePlacementFound",
        "message": "written by the benchmark",
        "observedGeneration": generation,
        "lastTransitionTime": _TIME,
    }
    status = {"observedGeneration": generation, "conditions": [available]}
    status |= dict.fromkeys(_COUNTERS, 1)
    location = ResourceLocation(
        WorkloadDeployment.RESOURCE, metadata["namespace"], metadata["name"], "status"
    )
    try:
        await cell.raw.patch(location, PatchType.MERGE, {"status": status}, PLAIN_WRITE)
    except NotFound:  # it was deleted meanwhile
        return
