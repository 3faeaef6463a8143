"""`compute up status`: the running world, and what is stuck in it."""

from pathlib import Path

import click

from compute.cli.exits import Exit
from compute.cli.local.data_options import same_data_option
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as command_of


@command_of(
    name="status",
    examples=("compute up status", "compute up status -o json"),
    exits=(Exit.NOT_YET, Exit.UNKNOWN),
)
@output_option("table", "json", "yaml")
@same_data_option
@click.pass_obj
def status(data: Path, output: str) -> int:
    """Show the running world: versions, cells, projects, load, and what is stuck."""
    from compute.cli.local.world_screen import show_world  # noqa: PLC0415 -- help needs none of it

    show_world(data, output)
    return 0
