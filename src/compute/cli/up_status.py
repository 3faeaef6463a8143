"""`compute up status`, and the way of other commands to a world that runs."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from typing import Any, Final, TypeVar

import click
import msgspec

from compute.app.world_folder import WorldFolder, same_data_option
from compute.app.world_status import PartStatus, WorldStatus, client, observed
from compute.cli.startup import say
from kubekit.api.errors import ApiError

__all__ = ["asked", "client", "status"]

T = TypeVar("T")
_MOST_SHOWN: Final = 10  # stuck objects; more are a page of their own
_MEBIBYTE: Final = 1024 * 1024


@click.command()
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table",
    show_default=True, help="How to print it; json is complete, for scripts.",
)  # fmt: skip
@same_data_option
@click.pass_obj
def status(place: WorldFolder, output: str) -> int:
    """Show the running world: versions, cells, projects, load, and what is stuck."""
    state = place.require()
    seen = asked(observed(place, state))
    if output == "json":
        say(json.dumps(msgspec.to_builtins(seen), indent=2))
    else:
        say("\n".join(_lines(place, seen)))
    return 0


def asked(question: Coroutine[Any, Any, T]) -> T:
    """The answer of a running world; what it refuses is told in one sentence."""
    try:
        return asyncio.run(question)
    except ApiError as refusal:
        raise click.ClickException(refusal.message) from refusal


def _lines(place: WorldFolder, seen: WorldStatus) -> Iterator[str]:
    yield f"Up at {seen.url} since {seen.started}, process {seen.pid}, in {seen.data}"
    yield _versions(place, seen)
    yield ""
    for cell in seen.cells:
        yield f"cell     {cell.name:<12} {cell.city or '-':<6} {cell.state}"
    for project in seen.projects:
        yield _project(project)
    yield (
        f"load     {'process':<19} {seen.cpu:.1%} of a processor since the start, "
        f"{seen.memory_bytes // _MEBIBYTE} MiB of memory"
    )
    for plane in seen.planes:
        size = plane.bytes / _MEBIBYTE
        yield f"load     {plane.plane:<19} {plane.writes} writes, {size:.1f} MiB on disk"
    yield from _stuck(seen)


def _versions(place: WorldFolder, seen: WorldStatus) -> str:
    runs = seen.version or "unknown"
    if runs == seen.command_version:
        return f"Version {runs}"
    again = f"`{place.command('down')}`, then `{place.command('up')}`"
    return f"Version {runs}; this command is of {seen.command_version}: {again} starts that"


def _project(project: PartStatus) -> str:
    return f"project  {project.name:<19} {project.state}"


def _stuck(seen: WorldStatus) -> Iterator[str]:
    """The objects that are stuck, each with the command that shows more of it."""
    if not seen.stuck:
        yield "stuck    nothing"
    for one in seen.stuck[:_MOST_SHOWN]:
        yield f"stuck    {one.project:<19} {one.kind} {one.name}, since {one.since}: {one.why}"
        yield f"         {'':<19} {one.next}"
    more = len(seen.stuck) - _MOST_SHOWN
    if more > 0:
        yield f"stuck    {'':<19} and {more} more; `-o json` lists them all"
