"""`compute down`: stops a world that runs in the background or in another terminal."""

from pathlib import Path

import click

from compute.cli.exits import Exit
from compute.cli.local.data_options import data_option
from compute.cli.shell.commands import command as command_of


@command_of(
    examples=("compute down", "compute down --purge -y"),
    exits=(Exit.NOT_FOUND,),
)
@data_option
@click.option("--purge", is_flag=True, help="Delete all its data as well, after a question.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before data is deleted.")
def command(data: Path, *, purge: bool, yes: bool) -> int:
    """Stop the world that `compute up` started. All its data is kept, unless --purge is given."""
    from compute.app.world_folder import WorldFolder  # noqa: PLC0415 -- help needs none of it
    from compute.cli.local.stopping import consent, delete_data, stop  # noqa: PLC0415
    from compute.cli.startup import echo  # noqa: PLC0415

    folder = WorldFolder(data.resolve())
    if purge and not consent(folder, "down --purge", yes=yes):
        echo("Nothing was stopped or deleted.")
        return 0
    if not stop(folder):
        echo(f"The world in {folder.data} is not running.")
    elif not purge:
        echo(f"Stopped. `{folder.command('up')}` starts it again with all its data.")
    if purge:
        delete_data(folder)
    return 0
