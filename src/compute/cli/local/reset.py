"""`compute reset`: deletes all data of the world on this machine."""

from pathlib import Path

import click

from compute.cli.exits import Exit
from compute.cli.local.data_options import data_option
from compute.cli.shell.commands import command as command_of


@command_of(
    examples=("compute reset", "compute reset -y"),
    exits=(Exit.NOT_FOUND, Exit.CONFLICT),
)
@data_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(data: Path, *, yes: bool) -> int:
    """Delete all data of the world that `compute up` keeps: projects, workloads, cells, users.

    A running world is stopped first. Only what a world wrote is deleted; other files in the folder stay.
    """
    from compute.app.world_folder import WorldFolder  # noqa: PLC0415 -- help needs none of it
    from compute.cli.local.stopping import consent, delete_data, stop  # noqa: PLC0415
    from compute.cli.startup import echo  # noqa: PLC0415

    folder = WorldFolder(data.resolve())
    if not consent(folder, "reset", yes=yes):
        echo("Nothing was deleted.")
        return 0
    stop(folder)
    delete_data(folder)
    echo(f"Start with an empty one: {folder.command('up')}")
    return 0
