"""Serves a world from a folder: `compute up` without its output."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.api.networking import LocationBinding
from compute.api.reasons import NeighbourReason
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.merged_metrics import MergedMetrics
from compute.app.planes import CORE, HUB, OpenPlanes, PlaneFolders, PlaneRef, create_if_missing
from compute.app.process import tune_interpreter
from compute.app.sites import CellSite
from compute.app.system_environment import system
from compute.app.world import World
from compute.app.world_kubeconfig import WorldKubeconfig
from compute.app.world_timing import DEFAULT_TIMING, WorldTiming
from compute.decide.conditions import find
from compute.services.offers import offers
from kubekit.api.meta import ObjectMeta
from kubekit.plane import LocalClient, Plane, PlaneServer

_ORGANIZATION: Final = "home"
_READY_TIMEOUT: Final = 60.0  # seconds for a world to become ready
_POLL_SECONDS: Final = 0.01


class NotReady(Exception):
    """The world does not become ready in time. The message says what it waits for."""


@dataclass(frozen=True, slots=True)
class ServedWorld:
    """A world that is being served."""

    world: World
    server: PlaneServer
    kubeconfig: WorldKubeconfig

    def planes(self) -> list[Plane]:
        return [self.world.planes[ref] for ref in self.world.planes]

    async def make_project(self, name: str) -> None:
        """Create a project, unless it exists."""
        client = LocalClient(self.world.planes[CORE], manager="compute-up")
        owner = ProjectOwnerRef(kind="Organization", name=_ORGANIZATION)
        project = Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))
        await create_if_missing(client, project)

    async def ready(self) -> None:
        """Wait until every cache is complete and every project can be used."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _READY_TIMEOUT
        while problems := self.world.problems() or await self._unready():
            if self.world.failed.done():
                self.world.failed.result()
            if loop.time() > deadline:
                raise NotReady(f"not ready after {_READY_TIMEOUT:g} s: {'; '.join(problems[:5])}")
            await asyncio.sleep(_POLL_SECONDS)

    async def projects(self) -> list[Project]:
        client = LocalClient(self.world.planes[CORE])
        return list((await client.every(Project)).items)

    async def _unready(self) -> list[str]:
        """The projects that cannot be used yet, except for those that can never have a plane."""
        members = (await LocalClient(self.world.planes[HUB]).every(MemberCluster)).items
        cities = offers(members).keys()
        problems = []
        for project in await self.projects():
            name = project.metadata.name
            ready = find(project.status.conditions, ConditionType.READY)
            if project.deleting or (
                ready and ready.reason == NeighbourReason.PROJECT_NAME_CONFLICT
            ):
                continue
            if ready is None or ready.status != "True":
                problems.append(f"project {name} is not Ready")
            elif missing := cities - await self._offered(name):
                problems.append(f"project {name} is not offered {', '.join(sorted(missing))}")
        return problems

    async def _offered(self, project: str) -> set[str]:
        plane = self.world.planes.find(PlaneRef("project", project))
        if plane is None:  # it was removed just now
            return set()
        bindings = (await LocalClient(plane).every(LocationBinding)).items
        return {binding.metadata.name for binding in bindings}


@asynccontextmanager
async def hosted(
    data: Path,
    sites: Sequence[CellSite],
    address: tuple[str, int],
    timing: WorldTiming = DEFAULT_TIMING,
) -> AsyncIterator[ServedWorld]:
    """Serve a world from a folder, and write the files that clients need.

    The core plane is opened first: a second process on the same folder changes nothing in it.
    """
    environment = system()
    planes = OpenPlanes(PlaneFolders(data, environment))
    world = World(planes, sites, environment, timing)
    server: PlaneServer | None = None
    try:
        await planes.open(CORE)
        server = PlaneServer(data, address, environment, MergedMetrics(world.metrics).text)
        kubeconfig = WorldKubeconfig(data, server, planes)
        planes.join(kubeconfig)
        await world.start()
        async with server.listening():
            kubeconfig.start()
            tune_interpreter()
            try:
                yield ServedWorld(world, server, kubeconfig)
            finally:
                kubeconfig.stop()
    finally:
        await world.stop()
        if server is not None:  # last: the audit log has a line for every write
            await server.close()
