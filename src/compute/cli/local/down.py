"""`compute down`: stops a world that runs in the background or in another terminal."""

import asyncio
from pathlib import Path
from typing import Final

import click

from compute.app.world_folder import WorldFolder
from compute.cli.local.data_options import data_option
from compute.cli.startup import echo

_STOP_TIMEOUT: Final = 30.0  # seconds


@click.command()
@data_option
def command(data: Path) -> int:
    """Stop the world that `compute up` started. All its data is kept."""
    folder = WorldFolder(data.resolve())
    pid = folder.pid()
    if not pid:
        echo(f"The world in {folder.data} is not running.")
        return 0
    echo(f"Stopping process {pid}")
    try:
        ended = asyncio.run(folder.stop(_STOP_TIMEOUT))
    except PermissionError as error:
        raise click.ClickException(f"process {pid} belongs to another user") from error
    if not ended:
        raise click.ClickException(
            f"process {pid} has not ended after {_STOP_TIMEOUT:g} s: see {folder.log}; "
            f"`kill -9 {pid}` ends it, and loses no acknowledged write"
        )
    echo("Stopped. `compute up` starts it again with all its data.")
    return 0
