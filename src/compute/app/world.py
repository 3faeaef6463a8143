"""The whole system in one process: planes, engine, neighbours, controllers and cells.

    services   --> core, projects, cells     quota, networks, and what every project starts with
    management --> projects, hub             Workloads to the hub, and back
    engine     --> hub, cells                what Karmada does
    cell       --> its own plane             and, through a link that can be cut, hub and projects
    provider   --> its cell's plane          runs the Instances

Each of these parts has a manager of its own and its own clients, as it would on its own machine.

`OpenPlanes` opens and closes planes, `PlaneLinks` cuts and heals the connections to them, `Roles` defines
what each part runs, `RunningParts` runs it, and `AdmissionCaches` serves the admission plugins. The
world puts them together in order, and takes them down in reverse.
"""

import asyncio
from collections.abc import Iterable, Sequence

from compute.api.resource_manager import Project
from compute.app.admission import AdmissionCaches
from compute.app.links import Link, PlaneLinks, linked_client
from compute.app.parts import RunningParts
from compute.app.planes import CORE, HUB, PLATFORM, OpenPlanes, PlaneRef, ensure_namespace
from compute.app.roles import Roles, Start
from compute.app.sites import CellSite, open_cells
from compute.app.world_timing import DEFAULT_TIMING, WorldTiming
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane import LocalClient
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics

_ADMISSION = "admission"


class World:
    """The whole system. Call `start`, and `stop` at the end."""

    def __init__(
        self,
        planes: OpenPlanes,
        sites: Iterable[CellSite],
        environment: ExecutionEnvironment,
        timing: WorldTiming = DEFAULT_TIMING,
    ) -> None:
        self.planes = planes
        self.links = PlaneLinks()
        self.sites: Sequence[CellSite] = ()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._environment = environment
        self._timing = timing
        self._wanted = list(sites)
        self._admission = AdmissionCaches(environment)
        self._running = RunningParts(self.links, self.failed)
        self._starts: dict[str, Start] = {}
        planes.join(self.links)

    async def start(self) -> None:
        """Open every plane, then start every part."""
        self.planes.join(self._admission.plugins())
        core, hub = [
            LocalClient(await self.planes.open(ref), manager="world") for ref in (CORE, HUB)
        ]
        await ensure_namespace(core, PLATFORM)
        self.sites = await open_cells(self.planes, self.links, hub, self._wanted)
        await self._admission.start(self._admission_client(CORE))
        self._starts = Roles(self, self._running, self._timing).starts(self.sites)
        for project in (await core.every(Project)).items:
            await self.ensure(project.metadata.name)
        for part in self.parts:
            await self.resume(part)

    async def stop(self) -> None:
        """Let every reconcile in progress end, then close the planes."""
        await self._running.stop()
        await self._admission.close()
        await self.planes.close()

    # Parts

    @property
    def parts(self) -> Sequence[str]:
        """The names of the parts, in the order of their start. Each can be stopped alone."""
        return tuple(self._starts)

    async def pause(self, part: str) -> None:
        """Stop a part, as when its process ends. The planes and the other parts keep running."""
        await self._running.pause(part)

    async def resume(self, part: str, copy: str = "") -> None:
        """Start a part, or another copy of it. It starts with empty caches."""
        await self._starts[part](part + copy)

    def forget(self, part: str) -> None:
        """Drop a part that has died."""
        self._running.forget(part)

    def metrics(self) -> dict[str, Metrics]:
        """The metrics of each manager, by its name."""
        return self._running.metrics()

    def problems(self) -> list[str]:
        """Why the world is not ready. Planes behind a cut link are not waited for."""
        return self._running.problems()

    # Called by the parts

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        """A client of a part for a plane, behind these links."""
        return linked_client(self.planes[ref], manager, *links)

    def factory(self, part: str) -> ControllerFactory:
        """The factory of a part's controllers."""
        return ControllerFactory(self._environment, Metrics(), part)

    async def ensure(self, project: str) -> None:
        """Open the plane of a project, and engage it for admission and for the services."""
        ref = PlaneRef("project", project)
        await self.planes.open(ref)
        await self._admission.engage(project, lambda: self._admission_client(ref))
        await self._running.engage_project(project)

    async def remove(self, project: str) -> None:
        """Disengage the plane of a project everywhere, and delete its data."""
        ref = PlaneRef("project", project)
        await self._running.disengage_project(project)
        await self._admission.disengage(project)
        await self.planes.remove(ref)
        self.links.pop(ref, None)

    def _admission_client(self, ref: PlaneRef) -> Client:
        return self.connect(_ADMISSION, ref, _ADMISSION, [self.links[ref]])
