"""A world out of a folder, served: the whole of `compute up` but its words."""

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
from compute.app import interpreter
from compute.app.metrics_page import WorldMetrics
from compute.app.planes import CORE, HUB, OpenPlanes, PlaneFolders, PlaneRef
from compute.app.sites import CellSite
from compute.app.system_environment import system
from compute.app.world import World
from compute.app.world_kubeconfig import WorldKubeconfig
from compute.decide.conditions import find
from compute.decide.deployment.drains import PLAIN, Grace
from compute.services.offers import offers
from kubekit.api.errors import AlreadyExists
from kubekit.api.meta import ObjectMeta
from kubekit.plane import LocalClient, Plane, PlaneServer

_ORGANIZATION: Final = "home"
_PATIENCE: Final = 60.0  # seconds for a world to become ready
_LOOK: Final = 0.01


class NotReady(Exception):
    """A world that does not become ready. Says what it waits for."""


@dataclass(frozen=True, slots=True)
class ServedWorld:
    """A world that is being served."""

    world: World
    server: PlaneServer
    visitors: WorldKubeconfig

    def planes(self) -> list[Plane]:
        return [self.world.planes[ref] for ref in self.world.planes]

    async def make_project(self, name: str) -> None:
        """Ask for a project, unless it is there."""
        client = LocalClient(self.world.planes[CORE], manager="compute-up")
        owner = ProjectOwnerRef(kind="Organization", name=_ORGANIZATION)
        project = Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))
        try:
            await client.create(project)
        except AlreadyExists:
            return

    async def ready(self) -> None:
        """Wait until everybody has read what there is, and every project can be used."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + _PATIENCE
        while problems := self.world.problems() or await self._unready():
            if self.world.failed.done():
                self.world.failed.result()
            if loop.time() > ends:
                raise NotReady(f"not ready after {_PATIENCE:g} s: {'; '.join(problems[:5])}")
            await asyncio.sleep(_LOOK)

    async def projects(self) -> list[Project]:
        client = LocalClient(self.world.planes[CORE])
        return list((await client.every(Project)).items)

    async def _unready(self) -> list[str]:
        """The projects that cannot be used yet. One that can never have a plane is not waited for."""
        members = (await LocalClient(self.world.planes[HUB]).every(MemberCluster)).items
        cities = offers(members).keys()
        found = []
        for project in await self.projects():
            name = project.metadata.name
            said = find(project.status.conditions, ConditionType.READY)
            if project.deleting or (said and said.reason == NeighbourReason.PROJECT_NAME_CONFLICT):
                continue
            if said is None or said.status != "True":
                found.append(f"project {name} is not Ready")
            elif missing := cities - await self._offered(name):
                found.append(f"project {name} is not offered {', '.join(sorted(missing))}")
        return found

    async def _offered(self, project: str) -> set[str]:
        plane = self.world.planes.find(PlaneRef("project", project))
        if plane is None:  # it was removed just now
            return set()
        bindings = (await LocalClient(plane).every(LocationBinding)).items
        return {binding.metadata.name for binding in bindings}


@asynccontextmanager
async def hosted(
    data: Path, sites: Sequence[CellSite], address: tuple[str, int], grace: Grace = PLAIN
) -> AsyncIterator[ServedWorld]:
    """A world from a folder, served, with the files that let clients in.

    Its planes are opened first: whoever comes second on a folder has changed nothing in it.
    """
    environment = system()
    planes = OpenPlanes(PlaneFolders(data, environment))
    world = World(planes, sites, environment, grace)
    server: PlaneServer | None = None
    try:
        await planes.open(CORE)
        server = PlaneServer(data, address, environment, WorldMetrics(world.metrics).text)
        visitors = WorldKubeconfig(data, server, planes)
        planes.join(visitors)
        await world.start()
        async with server.listening():
            visitors.begin()
            interpreter.settle()
            try:
                yield ServedWorld(world, server, visitors)
            finally:
                visitors.end()
    finally:
        await world.stop()
        if server is not None:  # the last: it has a line for all that was stored
            await server.close()
