"""`compute instances describe`: why an instance does not run, and all about it."""

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import instance_argument


@compute_command(
    examples=(
        "compute instances describe web-default-dfw-0",
        "compute instances describe web-default-dfw-0 -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@instance_argument
@click.option("--show-values", is_flag=True, help="Show the values of environment variables.")
@output_option("table", "json", "yaml")
def command(name: str, *, show_values: bool, output: str) -> int:
    """Show why an instance does not run, and all about it.

    Its gates with what they wait for, its quota, networks, template, conditions and events; and the
    instance on each plane that you may read, from the project over the hub to the cell.
    """
    from compute.cli.look.instance_describe_run import run  # noqa: PLC0415 -- not for help

    return run(name, show_values=show_values, output=output)
