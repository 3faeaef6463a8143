"""When each object got where: from watch events of every plane, on the clock of one process.

    Workload -> deployment in the project -> on the hub -> in its cell
                                                              |  a status that says that it is served
    Available <- status in the project <- status on the hub <-

The time of a stage is that of the first event that shows it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import Any, Final

from bench.load.federation.site import Site
from compute.api.compute import Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from kubekit.api.errors import ApiError
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.options import EVERYTHING, WatchOptions
from kubekit.client.transport import Document, ResourceLocation

Times = Mapping[str, int]
"""When something got to a stage, in nanoseconds, by its name."""
Watched = Callable[[str, Document], None]
"""Is called with the plane and the deployment, whenever one is new in a cell."""
_PAUSE: Final = 0.05  # seconds before a watch is opened again


class Stage(StrEnum):
    """How far a Workload, or a deployment of it, has come."""

    ACCEPTED = "Workload accepted"
    IN_PROJECT = "deployment in the project"
    ON_HUB = "deployment on the hub"
    IN_CELL = "deployment in the cell"
    CELL_STATUS = "served, in the cell"
    HUB_STATUS = "served, on the hub"
    PROJECT_STATUS = "served, in the project"
    AVAILABLE = "Workload Available"
    GONE = "Workload gone"
    GONE_FROM_PROJECT = "deployment gone from the project"
    GONE_FROM_HUB = "deployment gone from the hub"
    GONE_FROM_CELL = "deployment gone from the cell"


_OF_PROJECT: Final = (Stage.IN_PROJECT, Stage.PROJECT_STATUS, Stage.GONE_FROM_PROJECT)
_OF_HUB: Final = (Stage.ON_HUB, Stage.HUB_STATUS, Stage.GONE_FROM_HUB)
_OF_CELL: Final = (Stage.IN_CELL, Stage.CELL_STATUS, Stage.GONE_FROM_CELL)


OF_WORKLOAD: Final = frozenset({Stage.ACCEPTED, Stage.AVAILABLE, Stage.GONE})
"""The stages of Workloads; the others are those of their deployments."""


class Timeline:
    """Watches every plane. Names differ within one run."""

    def __init__(self) -> None:
        self.arrived: Watched | None = None
        self._times: dict[Stage, dict[str, int]] = {stage: {} for stage in Stage}
        self._changed = asyncio.Event()

    def times(self, stage: Stage) -> Times:
        """When each object got to a stage."""
        return self._times[stage]

    async def reached(self, stage: Stage, names: Iterable[str], patience: float) -> int:
        """When the last of these got to a stage. Raises `TimeoutError` with what is missing."""
        wanted, known = set(names), self._times[stage]
        try:
            async with asyncio.timeout(patience):
                while not wanted <= known.keys():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            left = sorted(wanted - known.keys())
            raise TimeoutError(
                f"{len(left)} of {len(wanted)} are not '{stage}' after {patience:g} s: {left[0]}"
            ) from None
        return max(known[name] for name in wanted)

    @asynccontextmanager
    async def watching(self, site: Site) -> AsyncIterator[None]:
        """Watch all planes of a site; everything that exists is listed first."""
        clients = {plane: site.client(plane) for plane in site.planes}
        collections: list[tuple[str, type[Object]]] = [("project", Workload)]
        collections += [(plane, WorkloadDeployment) for plane in site.planes]
        opened = [asyncio.Event() for _ in collections]
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self._follow(plane, clients[plane], kind, event))
                for (plane, kind), event in zip(collections, opened, strict=True)
            ]
            try:
                for event in opened:
                    await event.wait()
                yield
            finally:
                for task in running:
                    task.cancel()
                for client in clients.values():
                    await client.close()

    async def _follow(
        self, plane: str, client: Client, kind: type[Object], opened: asyncio.Event
    ) -> None:
        """Watch a collection, also after its server was away."""
        while True:
            with suppress(ApiError, OSError):
                location = ResourceLocation(kind.RESOURCE)
                listing = await client.raw.list(location, EVERYTHING)
                for document in listing["items"]:
                    self.saw(plane, kind, "ADDED", document)
                version = listing["metadata"]["resourceVersion"]
                async with client.raw.watch(
                    location, WatchOptions(resource_version=version)
                ) as events:
                    opened.set()
                    async for event in events:
                        self.saw(plane, kind, event.type, event.object)
            await asyncio.sleep(_PAUSE)

    def saw(self, plane: str, kind: type[Object], change: str, document: Document) -> None:
        """Note what an event shows. Only the first event of each stage counts."""
        now = time.perf_counter_ns()
        name = document["metadata"]["name"]
        if kind is Workload:
            self._note(Stage.GONE if change == "DELETED" else Stage.ACCEPTED, name, now)
            if _is_available(document):
                self._note(Stage.AVAILABLE, name, now)
            return
        made, served, gone = _stages(plane)
        if change == "DELETED":
            self._note(gone, name, now)
            return
        if self._note(made, name, now) and made is Stage.IN_CELL and self.arrived:
            self.arrived(plane, document)
        if document.get("status", {}).get("readyReplicas"):
            self._note(served, name, now)

    def _note(self, stage: Stage, name: str, now: int) -> bool:
        """Whether that is new."""
        times = self._times[stage]
        if name in times:
            return False
        times[name] = now
        self._changed.set()
        return True


def _stages(plane: str) -> tuple[Stage, Stage, Stage]:
    return {"project": _OF_PROJECT, "hub": _OF_HUB}.get(plane, _OF_CELL)


def _is_available(document: Document) -> bool:
    conditions: Iterable[Mapping[str, Any]] = document.get("status", {}).get("conditions") or ()
    return any(
        each["type"] == ConditionType.AVAILABLE and each["status"] == "True" for each in conditions
    )
