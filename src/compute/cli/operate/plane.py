"""`compute plane serve`: serves a Kubernetes API from one folder."""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import uvloop

from compute.app import crds, definitions, logs
from compute.app.kubeconfig import reachable
from compute.app.plane_server import ServedPlane, resealing_on_signal, serving, stop_signal
from compute.cli.local.data_options import FolderType
from compute.cli.shell.commands import command as command_of
from compute.cli.startup import (
    echo,
    keep_standard_streams,
    reporting_errors,
    secure_process,
    warning_of_root,
)
from kubekit.api.structural.nodes import Document
from kubekit.plane import PlaneServer, builtin_kinds

_PORT: Final = 7443


@command_of(
    name="serve",
    examples=("compute plane serve --data ~/plane", "compute plane serve --data ~/plane --port 0"),
)
@click.option(
    "--data", required=True, metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
    help="The folder of the plane; created if it is missing.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
    help="The port to listen on; 0 takes any free port.",
)  # fmt: skip
@click.option(
    "--bind", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="The address to listen on. Other machines can reach any address but the loopback.",
)  # fmt: skip
@click.option(
    "--crds", "folders", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
    help="A folder of CustomResourceDefinitions to serve as well. May be given several times.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(logs.LEVELS), default="info", show_default=True,
    help="The lowest level of log records on stderr.",
)  # fmt: skip
@click.option(
    "--user", metavar="NAME", default="",
    help="The user to run as, where root starts the command.",
)  # fmt: skip
def command(data: Path, port: int, bind: str, folders: Sequence[Path], **options: str) -> int:
    """Serve a Kubernetes API from a folder of this machine.

    It serves this project's kinds, namespaces, config maps, secrets, events and leases, and the
    kinds of any CustomResourceDefinitions. DIR/kubeconfig lets kubectl in.
    """
    keep_standard_streams()
    with reporting_errors(data):
        secure_process(data, options["user"])
        more = [document for folder in folders for document in definitions.read(folder)]
        every = definitions.merged(crds.definitions(), more)
        with (
            logs.log_to_stderr(options["log_level"]),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(data, every, (bind, port)))
    return 0


async def _serve(data: Path, every: Sequence[Document], address: tuple[str, int]) -> None:
    stop = asyncio.ensure_future(stop_signal())
    await asyncio.sleep(0)  # let it install the signal handlers
    loop = asyncio.get_running_loop()
    started = loop.time()
    echo(f"Opening {data}")
    async with (
        serving(data, builtin_kinds(), address, every) as opened,
        resealing_on_signal(lambda: [opened.plane]),
    ):
        _introduce(data, opened, loop.time() - started)
        await stop
        failure = opened.plane.store.stopped
        echo("Stopping.")
    if failure is None:
        echo("Stopped. All acknowledged writes are kept.")
    else:
        echo(f"Stopped. Writing was no longer possible: {failure}")


def _introduce(data: Path, opened: ServedPlane, seconds: float) -> None:
    kubeconfig = shlex.quote(str((data / "kubeconfig").resolve()))
    echo(
        f"Serving {len(opened.plane.kinds)} kinds and {opened.objects:,} objects at "
        f"{reachable(opened.server.url)}, ready after {seconds:.2f} s.\n"
        f"{_warning(opened.server)}{warning_of_root()}\n"
        "In another terminal:\n"
        f"  export KUBECONFIG={kubeconfig}\n"
        "  kubectl api-resources\n"
        "\n"
        "Ctrl-C stops it."
    )


def _warning(server: PlaneServer) -> str:
    if server.loopback_only:
        return ""
    return "Other machines can reach it, and the token allows everything: keep it secret.\n"
