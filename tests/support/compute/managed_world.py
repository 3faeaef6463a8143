"""A platform without management, cells and providers: `compute manager` runs them, in other processes.

    python -m tests.support.compute.managed_world FOLDER

Core, projects, hub and cells are embedded planes, served as Milo, Karmada and Kubernetes serve theirs.
The engine and the neighbours run beside them. It prints a line once everything is served, and ends when
stdin is closed. For each context there is a kubeconfig in FOLDER/contexts, whose user is the platform.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from compute.app.planes import CORE, HUB, SYSTEM, OpenPlanes, PlaneFolders, ensure_namespace
from compute.app.sites import sites
from compute.app.system_environment import system
from compute.app.world import World
from compute.app.world_kubeconfig import WorldKubeconfig
from compute.app.world_server import ServedWorld
from kubekit.plane import LocalClient, PlaneServer
from kubekit.plane.users import PLANE_USER

READY: Final = "the planes are served"
PROJECT: Final = "shop"
CITIES: Final = ("DFW", "LHR")
_ELSEWHERE: Final = ("management", "cell ", "provider ")


class ManagedWorld(World):
    """A world whose management and cells are not its own."""

    @property
    def parts(self) -> Sequence[str]:
        return [name for name in super().parts if not name.startswith(_ELSEWHERE)]


async def serve(folder: Path) -> None:
    """Serve the planes until stdin is closed."""
    environment = system()
    planes = OpenPlanes(PlaneFolders(folder, environment))
    world = ManagedWorld(planes, sites(CITIES), environment)
    await planes.open(CORE)
    server = PlaneServer(folder, ("127.0.0.1", 0), environment)
    kubeconfig = WorldKubeconfig(folder, server, planes)
    planes.join(kubeconfig)
    await world.start()
    try:
        await ensure_namespace(LocalClient(planes[HUB], manager="tests"), SYSTEM)
        async with server.listening():
            kubeconfig.start()
            served = ServedWorld(world, server, kubeconfig)
            await served.make_project(PROJECT)
            await served.ready()
            _write_contexts(kubeconfig.file, folder / "contexts")
            sys.stdout.write(f"{READY}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)
            kubeconfig.stop()
    finally:
        await world.stop()
        await server.close()


def _write_contexts(kubeconfig: Path, folder: Path) -> None:
    """One file for each context, which is its current one."""
    text = kubeconfig.read_text()
    document = json.loads(text[text.index("{") :])
    for user in document["users"]:
        user["user"] |= {"as": PLANE_USER.name, "as-groups": list(PLANE_USER.groups)}
    folder.mkdir(exist_ok=True)
    for context in document["contexts"]:
        file = folder / f"{context['name']}.yaml"
        file.write_text(json.dumps(document | {"current-context": context["name"]}))


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
