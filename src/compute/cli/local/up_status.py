"""`compute up status`, and the client of other commands for a running world."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from typing import Any, Final, TypeVar

import click
import msgspec

from compute.app.world_folder import WorldFolder
from compute.app.world_status import PartStatus, WorldStatus, client, observed
from compute.cli.local.data_options import same_data_option
from compute.cli.startup import echo
from kubekit.api.errors import ApiError

__all__ = ["client", "run_request", "status"]

T = TypeVar("T")
_MOST_SHOWN: Final = 10  # stuck objects in the table; `-o json` lists all
_MEBIBYTE: Final = 1024 * 1024


@click.command()
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table",
    show_default=True, help="How to print it; json is complete, for scripts.",
)  # fmt: skip
@same_data_option
@click.pass_obj
def status(folder: WorldFolder, output: str) -> int:
    """Show the running world: versions, cells, projects, load, and what is stuck."""
    state = folder.require()
    current = run_request(observed(folder, state))
    if output == "json":
        echo(json.dumps(msgspec.to_builtins(current), indent=2))
    else:
        echo("\n".join(_lines(folder, current)))
    return 0


def run_request(request: Coroutine[Any, Any, T]) -> T:
    """The result of a request to a running world. An error is reported in one sentence."""
    try:
        return asyncio.run(request)
    except ApiError as refusal:
        raise click.ClickException(refusal.message) from refusal


def _lines(folder: WorldFolder, status: WorldStatus) -> Iterator[str]:
    yield f"Up at {status.url} since {status.started}, process {status.pid}, in {status.data}"
    yield _versions(folder, status)
    yield ""
    for cell in status.cells:
        yield f"cell     {cell.name:<12} {cell.city or '-':<6} {cell.state}"
    for project in status.projects:
        yield _project(project)
    yield (
        f"load     {'process':<19} {status.cpu:.1%} of a processor since the start, "
        f"{status.memory_bytes // _MEBIBYTE} MiB of memory"
    )
    for plane in status.planes:
        size = plane.bytes / _MEBIBYTE
        yield f"load     {plane.plane:<19} {plane.writes} writes, {size:.1f} MiB on disk"
    yield from _stuck(status)


def _versions(folder: WorldFolder, status: WorldStatus) -> str:
    runs = status.version or "unknown"
    if runs == status.command_version:
        return f"Version {runs}"
    restart = f"`{folder.command('down')}`, then `{folder.command('up')}`"
    return (
        f"Version {runs}; this command has version {status.command_version}: {restart} updates it"
    )


def _project(project: PartStatus) -> str:
    return f"project  {project.name:<19} {project.state}"


def _stuck(status: WorldStatus) -> Iterator[str]:
    """The objects that are stuck, each with the command that shows more of it."""
    if not status.stuck:
        yield "stuck    nothing"
    for each in status.stuck[:_MOST_SHOWN]:
        yield f"stuck    {each.project:<19} {each.kind} {each.name}, since {each.since}: {each.why}"
        yield f"         {'':<19} {each.next}"
    more = len(status.stuck) - _MOST_SHOWN
    if more > 0:
        yield f"stuck    {'':<19} and {more} more; `-o json` lists them all"
