"""`compute up`: the whole world on this machine."""

import asyncio
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click
import msgspec
import uvloop

from compute.app import logs
from compute.app.kubeconfig import reachable
from compute.app.plane_server import resealing_on_signal, stop_signal
from compute.app.sites import BadCities, CellSite, sites
from compute.app.system_environment import system
from compute.app.world_folder import POLL_SECONDS, RunningState, WorldFolder, data_option
from compute.app.world_server import NotReady, ServedWorld, hosted
from compute.app.world_status import PACKAGE
from compute.cli.durations import DURATION
from compute.cli.startup import keep_standard_streams, reporting_errors, say, secure_process
from compute.cli.up_status import status
from compute.decide import city_codes
from compute.decide.deployment.drains import PLAIN, Grace
from kubekit.api import times

_PORT: Final = 7443
_PATIENCE: Final = 90.0  # seconds for a world in the background to become ready


@dataclass(frozen=True, slots=True)
class UpOptions:
    """The options of the command, but for its folder."""

    cities: str
    project: str
    port: int
    log_level: str
    detach: bool
    city_grace: timedelta
    replacement_grace: timedelta

    def grace(self) -> Grace:
        return Grace(withdrawal=self.city_grace, replacement=self.replacement_grace)

    def sites(self) -> list[CellSite]:
        codes = [city.strip() for city in self.cities.split(",") if city.strip()]
        for code in codes:
            if fault := city_codes.fault(code):
                raise BadCities(fault)
        return sites(codes)

    def line(self) -> list[str]:
        """The options again, for a process that does the same in the background."""
        return [
            f"--cities={self.cities}",
            f"--project={self.project}",
            f"--port={self.port}",
            f"--log-level={self.log_level}",
            f"--city-grace={times.format_duration(self.city_grace)}",
            f"--replacement-grace={times.format_duration(self.replacement_grace)}",
        ]


@click.group(invoke_without_command=True)
@data_option
@click.option(
    "--cities", metavar="CODES", default="DFW,LHR,SIN", show_default=True,
    help="The cities to serve, one cell each; a city named twice has two. Those of before stay.",
)  # fmt: skip
@click.option(
    "--project", metavar="NAME", default="demo", show_default=True,
    help='A project to begin with, made if it is not there; "" for none.',
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
    help="The port to listen on, on the loopback; 0 takes any that is free.",
)  # fmt: skip
@click.option(
    "--city-grace", metavar="DURATION", type=DURATION, default=PLAIN.withdrawal, show_default="5m",
    help="How long a city that is withdrawn goes on in Workloads that run there, such as 90s.",
)  # fmt: skip
@click.option(
    "--replacement-grace", metavar="DURATION", type=DURATION, default=PLAIN.replacement,
    show_default="10m",
    help="How long a city that leaves a Workload waits for progress of what replaces it.",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="Leave it running in the background.")
@click.option(
    "--log-level", type=click.Choice(logs.LEVELS), default="warning", show_default=True,
    help="What is told on stderr of its work: this, and what is worse.",
)  # fmt: skip
@click.pass_context
def command(context: click.Context, /, data: Path, **options: object) -> int:
    """Start the whole platform on this machine: planes, cells, and everything around them.

    All of it is kept in DIR and goes on where it ended; DIR/kubeconfig lets kubectl in.
    """
    place = WorldFolder(data.resolve())
    context.obj = place
    if context.invoked_subcommand:
        return 0
    wish = msgspec.convert(options, UpOptions)
    keep_standard_streams()
    with reporting_errors(data):
        wanted = wish.sites()
        _refuse_a_second(place)
        if wish.detach:
            _detach(place, wish)
            return 0
        secure_process(data)
        with (
            logs.shown(wish.log_level),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(place, wanted, wish))
    return 0


command.add_command(status)


def _refuse_a_second(place: WorldFolder) -> None:
    pid, state = place.pid(), place.state()
    if pid:
        where = f" at {state.url}" if state else ""
        raise click.ClickException(
            f"{place.data} is up already{where} (process {pid}); "
            f"`{place.command('up status')}` shows it, `{place.command('down')}` stops it, "
            "--data names another"
        )


async def _serve(place: WorldFolder, wanted: Sequence[CellSite], wish: UpOptions) -> None:
    stop = asyncio.ensure_future(stop_signal())
    await asyncio.sleep(0)  # from here on a signal is heard
    loop = asyncio.get_running_loop()
    begun = loop.time()
    say(f"Opening {place.data}")
    try:
        async with (
            hosted(place.data, wanted, ("127.0.0.1", wish.port), wish.grace()) as world,
            resealing_on_signal(world.planes),
        ):
            if wish.project:
                await world.make_project(wish.project)
            await _until_ready(world, stop)
            if not stop.done():
                _introduce(place, world, loop.time() - begun)
                ends: list[asyncio.Future[Any]] = [stop, world.world.failed]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            place.forget()
            say("Stopping.")
        if world.world.failed.done():
            world.world.failed.result()
    except NotReady as problem:
        raise click.ClickException(str(problem)) from problem
    say("Stopped. Everything that was acknowledged is kept.")


async def _until_ready(world: ServedWorld, stop: "asyncio.Future[Any]") -> None:
    ready = asyncio.ensure_future(world.ready())
    await asyncio.wait({ready, stop}, return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        ready.result()
    ready.cancel()


def _introduce(place: WorldFolder, world: ServedWorld, seconds: float) -> None:
    cities = [f"{site.city} ({site.cell})" for site in world.world.sites]
    url = reachable(world.server.url)
    contexts = world.visitors.contexts
    place.note(
        RunningState(
            pid=place.pid(),
            url=url,
            started=times.format_time(system().now()),
            cities=tuple(site.city for site in world.world.sites),
            version=version(PACKAGE),
        )
    )
    say(
        f"Ready after {seconds:.1f} s at {url}\n"
        f"  cells     {', '.join(cities)}\n"
        f"  contexts  {', '.join(contexts)}\n"
        "\n"
        "In another terminal:\n"
        f"  export KUBECONFIG={shlex.quote(str(place.kubeconfig))}\n"
        "  kubectl config get-contexts\n"
        "  kubectl get locationbindings\n"
        "\n"
        "Ctrl-C stops it."
    )


def _detach(place: WorldFolder, wish: UpOptions) -> None:
    """Start the same command in a session of its own, and wait until it is ready."""
    place.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = [sys.executable, "-m", "compute", "up", f"--data={place.data}", *wish.line()]
    place.log.touch(mode=0o600)
    with place.log.open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - it is this very program
            line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    say(f"Starting in {place.data}")
    state = asyncio.run(_started(place, child))
    say(
        f"Up at {state.url}, process {child.pid}. It tells of itself in {place.log}.\n"
        "\n"
        f"  export KUBECONFIG={shlex.quote(str(place.kubeconfig))}\n"
        f"  {place.command('up status')}\n"
        f"  {place.command('down')}"
    )


async def _started(place: WorldFolder, child: "subprocess.Popen[bytes]") -> RunningState:
    loop = asyncio.get_running_loop()
    ends = loop.time() + _PATIENCE
    while (state := place.state()) is None:
        if child.poll() is not None:
            said = place.log.read_text(errors="replace").strip().splitlines()
            last = said[-1].removeprefix("Error: ") if said else f"it ended with {child.returncode}"
            raise click.ClickException(last)
        if loop.time() > ends:
            raise click.ClickException(f"it is not ready after {_PATIENCE:g} s: see {place.log}")
        await asyncio.sleep(POLL_SECONDS)
    return state
