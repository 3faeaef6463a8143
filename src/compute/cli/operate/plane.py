"""Serves a Kubernetes API from one folder."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvloop

from compute.app import crds, definitions, logs
from compute.app.kubeconfig import reachable
from compute.app.plane_server import ServedPlane, resealing_on_signal, serving, stop_signal
from compute.cli.startup import (
    echo,
    keep_standard_streams,
    reporting_errors,
    secure_process,
    warning_of_root,
)
from kubekit.api.structural.nodes import Document
from kubekit.plane import PlaneServer, builtin_kinds


def serve(
    data: Path, address: tuple[str, int], folders: Sequence[Path], options: Mapping[str, str]
) -> None:
    """Serve the plane of a folder until it is stopped."""
    keep_standard_streams()
    with reporting_errors(data):
        secure_process(data, options["user"])
        more = [document for folder in folders for document in definitions.read(folder)]
        every = definitions.merged(crds.definitions(), more)
        with (
            logs.log_to_stderr(options["log_level"]),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(data, every, address))


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
