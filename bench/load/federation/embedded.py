"""The embedded engine behind served planes, as a process that a run of the benchmark keeps.

    python -m bench.load.federation.embedded --piped

Core, project, hub and cells are embedded planes on one loopback port, and the engine runs beside them. It
starts the managers too, as programs of their own: it speaks as `tests.peers.stack` does, so the same
benchmark drives both, and however that ends, everything ends with it.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import uvloop

from compute.app.manager.connections import SINGLE
from compute.app.planes import CORE, HUB, OpenPlanes, PlaneFolders
from compute.app.process import tune_interpreter
from compute.app.sites import sites
from compute.app.system_environment import system
from compute.app.world import World
from compute.app.world_kubeconfig import WorldKubeconfig
from compute.services import catalog
from kubekit.plane import PlaneServer
from kubekit.plane.users import PLANE_USER
from tests.peers import keeper
from tests.peers.children import Ended
from tests.peers.processes import Processes
from tests.peers.screen import say

PROCESS: Final = "PLANES_PROCESS"
"""The variable with the id of this process."""
_PARTS: Final = (catalog.PLATFORM, "engine")


class EngineWorld(World):
    """A world whose managers are elsewhere: the engine runs, and what every project starts with."""

    @property
    def parts(self) -> Sequence[str]:
        return _PARTS


async def main(folder: Path, cities: Sequence[str]) -> None:
    """Serve until the pipe is closed."""
    async with _served(folder / "data", cities) as kubeconfig:
        contexts = {"project": f"admin-project-{SINGLE}", HUB.name: HUB.context}
        contexts |= {city.lower(): f"cell-{city.lower()}" for city in cities}
        _write_kubeconfigs(kubeconfig, folder, contexts)
        processes = Processes(folder / "log")
        processes.logs.mkdir()
        say(f"export {PROCESS}={os.getpid()}")
        say(f"export KUBECONFIG={folder / 'kubeconfig'}")
        say(f"export STACK={folder}")
        say(f"{keeper.READY} {processes.logs}")
        try:
            await _obey_all(processes)
        finally:
            await asyncio.to_thread(processes.stop)


@asynccontextmanager
async def _served(data: Path, cities: Sequence[str]) -> AsyncIterator[Path]:
    """The planes on a loopback port; the kubeconfig of all of them."""
    environment = system()
    planes = OpenPlanes(PlaneFolders(data, environment))
    world = EngineWorld(planes, sites(cities), environment)
    await planes.open(CORE)
    server = PlaneServer(data, ("127.0.0.1", 0), environment)
    kubeconfig = WorldKubeconfig(data, server, planes)
    planes.join(kubeconfig)
    await world.start()
    try:
        await world.ensure(SINGLE)
        async with server.listening():
            kubeconfig.start()
            tune_interpreter()
            yield kubeconfig.file
            kubeconfig.stop()
    finally:
        await world.stop()
        await server.close()


def _write_kubeconfigs(kubeconfig: Path, folder: Path, contexts: dict[str, str]) -> None:
    """One file with a context for each plane, and one for each alone. The user is the platform."""
    text = kubeconfig.read_text()
    document = json.loads(text[text.index("{") :])
    for user in document["users"]:
        user["user"] |= {"as": PLANE_USER.name, "as-groups": list(PLANE_USER.groups)}
    entries = {context["name"]: context["context"] for context in document["contexts"]}
    for plane, context in {CORE.name: CORE.context, **contexts}.items():
        (folder / plane).mkdir()
        alone = [{"name": plane, "context": entries[context]}]
        file = folder / plane / "admin.kubeconfig"
        file.write_text(json.dumps(document | {"contexts": alone, "current-context": plane}))
    named = [{"name": plane, "context": entries[context]} for plane, context in contexts.items()]
    all_planes = document | {"contexts": named, "current-context": "project"}
    (folder / "kubeconfig").write_text(json.dumps(all_planes))


async def _obey_all(processes: Processes) -> None:
    """Do what the benchmark asks for. In a thread: a manager that ends speaks to these planes."""
    while True:
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line.strip() or line.strip() == keeper.KEEP:
            return
        try:
            await asyncio.to_thread(processes.obey, *keeper.command(line))
        except (ValueError, OSError, Ended) as reason:
            say(json.dumps(str(reason)))
        else:
            say(keeper.DONE)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--piped", action="store_true", required=True, help="end with stdin")
    parser.add_argument("--cities", default="DFW,LHR", help="a cell for each of these")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    with (
        tempfile.TemporaryDirectory(prefix="embedded-") as name,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        # Not to stderr, which the keeper reads as answers.
        logging.basicConfig(filename=Path(name) / "planes.log", level=logging.WARNING)
        runner.run(main(Path(name), options.cities.split(",")))
