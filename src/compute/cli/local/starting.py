"""Starts a world and serves it, in this process or in one in the background."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from compute.app import logs
from compute.app.kubeconfig import reachable
from compute.app.plane_server import resealing_on_signal, stop_signal
from compute.app.sites import BadCities, CellSite, sites
from compute.app.system_environment import system
from compute.app.world_folder import POLL_SECONDS, RunningState, WorldFolder
from compute.app.world_server import NotReady, ServedWorld, hosted
from compute.app.world_status import PACKAGE
from compute.app.world_timing import WorldTiming
from compute.cli.exits import Exit, Failure
from compute.cli.local.first_steps import first_steps
from compute.cli.startup import echo, keep_standard_streams, reporting_errors, secure_process
from compute.decide import city_codes
from compute.decide.deployment.drains import Grace
from kubekit.api import times

_ERROR: Final = "Error: "
_START_TIMEOUT: Final = 90.0  # seconds for a world in the background to become ready


@dataclass(frozen=True, slots=True)
class UpOptions:
    """The options of the command, except its folder."""

    cities: str
    project: str
    port: int
    log_level: str
    detach: bool
    city_grace: timedelta
    replacement_grace: timedelta
    cell_timeout: timedelta

    def timing(self) -> WorldTiming:
        grace = Grace(withdrawal=self.city_grace, replacement=self.replacement_grace)
        return WorldTiming(grace=grace, cell_timeout=self.cell_timeout)

    def sites(self) -> list[CellSite]:
        codes = [city.strip() for city in self.cities.split(",") if city.strip()]
        for code in codes:
            if fault := city_codes.fault(code):
                raise BadCities(fault)
        return sites(codes)

    def arguments(self) -> list[str]:
        """The options as arguments, for the process in the background."""
        return [
            f"--cities={self.cities}",
            f"--project={self.project}",
            f"--port={self.port}",
            f"--log-level={self.log_level}",
            f"--city-grace={times.format_duration(self.city_grace)}",
            f"--replacement-grace={times.format_duration(self.replacement_grace)}",
            f"--cell-timeout={times.format_duration(self.cell_timeout)}",
        ]


def start(data: Path, given: Mapping[str, object]) -> int:
    """Serve the world of a folder until it is stopped, or leave it running in the background."""
    folder = WorldFolder(data.resolve())
    parsed = msgspec.convert(dict(given), UpOptions)
    keep_standard_streams()
    with reporting_errors(data):
        wanted = parsed.sites()
        _refuse_a_second(folder)
        if parsed.detach:
            _detach(folder, parsed)
            return 0
        secure_process(data)
        with (
            logs.log_to_stderr(parsed.log_level),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(folder, wanted, parsed))
    return 0


def _refuse_a_second(folder: WorldFolder) -> None:
    pid, state = folder.pid(), folder.state()
    if pid:
        where = f" at {state.url}" if state else ""
        raise Failure(
            f"{folder.data} is up already{where} (process {pid}); "
            f"`{folder.command('down')}` stops it, --data names another",
            Exit.CONFLICT,
            next_step=folder.command("up status"),
        )


async def _serve(folder: WorldFolder, wanted: Sequence[CellSite], options: UpOptions) -> None:
    stop = asyncio.ensure_future(stop_signal())
    await asyncio.sleep(0)  # let it install the signal handlers
    loop = asyncio.get_running_loop()
    started = loop.time()
    echo(f"Opening {folder.data}")
    try:
        async with (
            hosted(folder.data, wanted, ("127.0.0.1", options.port), options.timing()) as world,
            resealing_on_signal(world.planes),
        ):
            if options.project:
                await world.make_project(options.project)
            await _until_ready(world, stop)
            if not stop.done():
                _introduce(folder, world, loop.time() - started)
                ends: list[asyncio.Future[Any]] = [stop, world.world.failed]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            folder.remove_state()
            echo("Stopping.")
        if world.world.failed.done():
            world.world.failed.result()
    except NotReady as problem:
        raise Failure(str(problem), next_step="compute doctor") from problem
    echo("Stopped. All acknowledged writes are kept.")


async def _until_ready(world: ServedWorld, stop: "asyncio.Future[Any]") -> None:
    ready = asyncio.ensure_future(world.ready())
    await asyncio.wait({ready, stop}, return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        ready.result()
    ready.cancel()


def _introduce(folder: WorldFolder, world: ServedWorld, seconds: float) -> None:
    cities = [f"{site.city} ({site.cell})" for site in world.world.sites]
    url = reachable(world.server.url)
    contexts = world.kubeconfig.contexts
    folder.write_state(
        RunningState(
            pid=folder.pid(),
            url=url,
            started=times.format_time(system().now()),
            cities=tuple(site.city for site in world.world.sites),
            version=version(PACKAGE),
        )
    )
    echo(
        f"Ready after {seconds:.1f} s at {url}\n"
        f"  cells     {', '.join(cities)}\n"
        f"  contexts  {', '.join(contexts)}\n"
        "\n"
        "In another terminal:\n"
        f"{first_steps(folder, world.world.sites)}\n"
        "\n"
        "Ctrl-C stops it."
    )


def _detach(folder: WorldFolder, options: UpOptions) -> None:
    """Start the same command in a session of its own, and wait until it is ready."""
    folder.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = [sys.executable, "-m", "compute", "up", f"--data={folder.data}", *options.arguments()]
    folder.log.touch(mode=0o600)
    with folder.log.open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - it is this program
            line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    echo(f"Starting in {folder.data}")
    state = asyncio.run(_started(folder, child))
    echo(
        f"Up at {state.url}, process {child.pid}. Logs: {folder.log}\n"
        "\n"
        "Next:\n"
        f"{first_steps(folder, options.sites())}"
    )


async def _started(folder: WorldFolder, child: "subprocess.Popen[bytes]") -> RunningState:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _START_TIMEOUT
    while (state := folder.state()) is None:
        if child.poll() is not None:
            raise Failure(_cause(folder, child.returncode), next_step=folder.command("up"))
        if loop.time() > deadline:
            raise Failure(
                f"it is not ready after {_START_TIMEOUT:g} s: see {folder.log}",
                next_step=folder.command("up status"),
            )
        await asyncio.sleep(POLL_SECONDS)
    return state


def _cause(folder: WorldFolder, code: int) -> str:
    """Why the process ended: its last error, without the next step that follows it."""
    lines = folder.log.read_text(errors="replace").strip().splitlines()
    errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    return (errors or lines or [f"it ended with {code}"])[-1]
