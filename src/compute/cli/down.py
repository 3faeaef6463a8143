"""`compute down`: the end of a world that runs in the background, or in another terminal."""

import asyncio
from pathlib import Path
from typing import Final

import click

from compute.app.world_folder import WorldFolder, data_option
from compute.cli.startup import say

_PATIENCE: Final = 30.0  # seconds


@click.command()
@data_option
def command(data: Path) -> int:
    """Stop the world that was started by `compute up`. Everything it holds is kept."""
    place = WorldFolder(data.resolve())
    pid = place.pid()
    if not pid:
        say(f"The world in {place.data} is not running.")
        return 0
    say(f"Stopping process {pid}")
    try:
        ended = asyncio.run(place.stop(_PATIENCE))
    except PermissionError as error:
        raise click.ClickException(f"process {pid} belongs to another user") from error
    if not ended:
        raise click.ClickException(
            f"process {pid} has not ended after {_PATIENCE:g} s: see {place.log}; "
            f"`kill -9 {pid}` ends it, and loses nothing that was acknowledged"
        )
    say("Stopped. `compute up` goes on where it ended.")
    return 0
