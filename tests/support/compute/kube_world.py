"""A platform whose project is a real Kubernetes cluster: the controllers of a world, over HTTP.

    KUBECONFIG=... python -m tests.support.compute.kube_world FOLDER

It prints a line once the project can be used, and ends when stdin is closed. Hub, core and cells are
embedded planes; what a user of the project reads and writes is on the kube-apiserver alone.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import LocationBinding, Network
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.links import Link
from compute.app.planes import CORE, OpenPlanes, PlaneFolders, PlaneRef
from compute.app.sites import sites
from compute.app.system_environment import system
from compute.app.world import World
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.plane import LocalClient

READY: Final = "the project is ready"
PROJECT: Final = PlaneRef("project", "kube")
CITIES: Final = ("DFW", "LHR")


class KubeWorld(World):
    """A world with one project, which is the cluster of the kubeconfig."""

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        if ref != PROJECT:
            return super().connect(part, ref, manager, links)
        environment = system()
        return HttpClient(load(environment, [Path(os.environ["KUBECONFIG"])]), environment)


async def serve(folder: Path) -> None:
    """Run the world until stdin is closed."""
    environment = system()
    planes = OpenPlanes(PlaneFolders(folder, environment))
    world = KubeWorld(planes, sites(CITIES), environment)
    await world.start()
    try:
        core = LocalClient(planes[CORE], manager="tests")
        owner = ProjectOwnerRef(kind="Organization", name="tests")
        project = Project(metadata=ObjectMeta(name=PROJECT.name), spec=ProjectSpec(owner_ref=owner))
        await core.create(project)
        await _usable(world)
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await world.stop()


async def _usable(world: World) -> None:
    """Wait until the project has its network and its cities."""
    client = world.connect("tests", PROJECT, "tests", ())
    async with client:
        while not world.failed.done():
            cities = (await client.every(LocationBinding)).items
            network = await client.find(Network, "default", "default")
            if network is not None and len(cities) == len(CITIES) and not world.problems():
                await client.every(Workload, "default")
                return
            await asyncio.sleep(0.1)
    world.failed.result()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
