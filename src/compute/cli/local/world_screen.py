"""The running world as a screen of text, or as a document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from compute.app.world_folder import WorldFolder
from compute.app.world_status import PartStatus, WorldStatus, observed
from compute.cli.local.running_world import run_request, running
from compute.cli.output.formats import show_data
from compute.cli.startup import echo

_MOST_SHOWN: Final = 10  # stuck objects in the table; `-o json` lists all
_MEBIBYTE: Final = 1024 * 1024


def show_world(data: Path, output: str) -> None:
    """Print the status of the world that runs from a folder."""
    folder = WorldFolder(data)
    current = run_request(observed(folder, running(folder)))
    if output == "table":
        echo("\n".join(_lines(folder, current)))
    else:
        show_data(current, output)


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
