"""The main job, shown: start the world, deploy to three cities, restart, cut a cell off and heal it.

make demo           leaves the world running for you
make demo ONCE=1    stops it at the end; the exit code is 0 only if everything became Ready
"""

import argparse
import asyncio
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.app import logs
from compute.app.system_environment import system
from compute.app.world_folder import WorldFolder
from compute.decide.conditions import find, is_true
from kubekit.api import scheme, times
from kubekit.api.errors import AlreadyExists, ApiError, Conflict
from kubekit.api.meta import with_spec
from kubekit.client import documents
from kubekit.client.client import Client
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load

ROOT: Final = Path(__file__).parents[1]
COMPUTE: Final = Path(sys.executable).with_name("compute")
MANIFEST: Final = ROOT / "examples" / "hello.yaml"
NAME: Final = "hello"
CITIES: Final = "DFW,LHR,SIN"
PATIENCE: Final = 120.0  # seconds for each step
LOOK: Final = 0.1

Done = Callable[[Workload, Sequence[WorkloadDeployment]], bool]


class Late(Exception):
    """A step that did not come to its end. Says what was seen last."""


class Screen:
    """A table that is redrawn in a terminal; elsewhere its lines are printed as they change."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._live = sys.stdout.isatty()

    def start(self) -> None:
        self._lines = []
        print(_line("CITY", "READY", "UPDATED", "STATE"), flush=True)

    def show(self, lines: list[str]) -> None:
        if lines == self._lines:
            return
        if self._live:
            up = f"\x1b[{len(self._lines)}A" if self._lines else ""
            print(up + "\n".join(f"\x1b[2K{line}" for line in lines), flush=True)
        else:
            for line in lines:
                if line not in self._lines:
                    print(line, flush=True)
        self._lines = lines


class World:
    """The world of the demo, which is spoken to as any user does."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def is_up(self) -> bool:
        return WorldFolder(self._data.resolve()).state() is not None

    def client(self, context: str) -> HttpClient:
        environment = system()
        return HttpClient(load(environment, [self._data / "kubeconfig"], context), environment)

    async def compute(self, command: str, *arguments: str) -> int:
        """Run a command as it is shown; its exit code."""
        print(f"$ compute {command} --data {self._data.name} {' '.join(arguments)}", flush=True)
        line = [str(COMPUTE), command, f"--data={self._data}", *arguments]
        return await asyncio.to_thread(lambda: subprocess.run(line, check=False).returncode)

    def say_farewell(self) -> None:
        print(
            "\nThe world is still up. Go on in it:\n"
            f"  export KUBECONFIG={shlex.quote(str(self._data / 'kubeconfig'))}\n"
            "  kubectl get workloads,workloaddeployments,instances\n"
            f"  {COMPUTE} up --data={self._data} status\n"
            f"  {COMPUTE} down --data={self._data}\n"
            "docs/tour.md is a longer walk."
        )


async def main(data: Path, *, once: bool) -> int:
    """Show it all; the answer is the exit code."""
    world = World(data)
    if not world.is_up() and await world.compute(
        "up", "--detach", "--port=0", f"--cities={CITIES}"
    ):
        return 1
    try:
        async with world.client("project-demo") as user:
            await _deploy(user)
            await _restart(user)
            await _cut(world, user)
    except (ApiError, Late) as problem:
        print(f"\nIt went wrong: {problem}", file=sys.stderr)
        if once:
            await world.compute("down")
        return 1
    if once:
        return await world.compute("down")
    world.say_farewell()
    return 0


async def _deploy(user: Client) -> None:
    print(f"\n== Deploy {MANIFEST.relative_to(ROOT)}: two instances in each of three cities")
    (document,) = documents.read(MANIFEST.read_bytes())
    assert isinstance(document, dict)  # one object is in it
    workload = scheme.decode_as(Workload, document)
    try:
        await user.create(workload)
    except AlreadyExists:
        print("   it exists already, from an earlier demo")
    await _until(user, _is_served, "served")


async def _restart(user: Client) -> None:
    print("\n== Restart it: one instance at a time in each city, the highest first")
    while True:
        workload = await user.get(Workload, NAME, "default")
        template = workload.spec.template
        restarted = template.metadata.annotations | {
            annotations.RESTARTED_AT: times.format_time(system().now())
        }
        metadata = msgspec.structs.replace(template.metadata, annotations=restarted)
        template = msgspec.structs.replace(template, metadata=metadata)
        try:
            await user.patch(workload, with_spec(workload, template=template))
        except Conflict:
            continue
        break
    await _until(user, _is_served, "restarted")


async def _cut(world: World, user: Client) -> None:
    print(
        "\n== Cut London off: its Instances keep running, and the project shows that it is unreachable"
    )
    if await world.compute("cell", "cut", "LHR"):
        raise Late("the cell could not be cut off")
    print("   a cell counts as unreachable after 40 s without a report", flush=True)
    await _until(user, _says("LHR", "CellUnreachable"), "reported as unreachable")
    async with world.client("cell-lhr") as cell:
        instances = (await cell.every(Instance)).items
        running = [i.metadata.name for i in instances if is_true(i.status.conditions, "Ready")]
    print(f"   in the cell itself still Ready: {', '.join(running)}")
    print("\n== Heal it")
    if await world.compute("cell", "heal", "LHR"):
        raise Late("the cell could not be healed")
    await _until(user, _is_served, "complete again")


async def _until(user: Client, done: Done, what: str) -> None:
    loop, screen = asyncio.get_running_loop(), Screen()
    started = loop.time()
    screen.start()
    while True:
        workload = await user.get(Workload, NAME, "default")
        deployments = (await user.every(WorkloadDeployment, "default")).items
        cities = sorted(deployments, key=lambda d: d.spec.city_code)
        lines = [_city(each) for each in cities]
        screen.show(lines)
        if done(workload, cities):
            print(f"   {what} after {loop.time() - started:.1f} s", flush=True)
            return
        if loop.time() - started > PATIENCE:
            raise Late(f"not {what} after {PATIENCE:g} s: {'; '.join(lines) or 'nothing there'}")
        await asyncio.sleep(LOOK)


def _is_served(workload: Workload, cities: Sequence[WorkloadDeployment]) -> bool:
    status = workload.status
    asked = sum(len(p.city_codes) * p.scale_settings.min_replicas for p in workload.spec.placements)
    counts = (status.replicas, status.ready_replicas, status.updated_replicas)
    settled = status.observed_generation == workload.metadata.generation
    return (
        settled
        and counts == (asked, asked, asked)
        and all(is_true(c.status.conditions, ConditionType.AVAILABLE) for c in cities)
    )


def _says(city: str, reason: str) -> Done:
    def done(_: Workload, cities: Sequence[WorkloadDeployment]) -> bool:
        available = [
            find(c.status.conditions, "Available") for c in cities if c.spec.city_code == city
        ]
        return any(each is not None and each.reason == reason for each in available)

    return done


def _city(deployment: WorkloadDeployment) -> str:
    status = deployment.status
    available = find(status.conditions, ConditionType.AVAILABLE)
    state = "starting" if available is None else available.message
    if (
        available is not None
        and available.status == "True"
        and status.ready_replicas == status.replicas
    ):
        state = "Ready"
    ready = f"{status.ready_replicas}/{deployment.spec.scale_settings.min_replicas}"
    return _line(deployment.spec.city_code, ready, str(status.updated_replicas), state)


def _line(city: str, ready: str, updated: str, state: str) -> str:
    return f"   {city:<6} {ready:<7} {updated:<9} {state[:90]}"


if __name__ == "__main__":
    logs.show_unhandled()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="stop the world at the end")
    parser.add_argument("--data", type=Path, default=ROOT / ".demo", help="the folder of the world")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.data, once=given.once)))
