"""`compute instance-types describe`: one size of instances."""

import click

from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=(
        "compute instance-types describe d1-standard-2",
        "compute instance-types describe datumcloud/d1-standard-2 -o json",
    ),
    exits=(Exit.NOT_FOUND,),
    target=True,
)
@click.argument("name", metavar="NAME", shell_complete=values.instance_types)
@output_option("table", "json", "yaml")
def command(name: str, output: str) -> int:
    """Show one size: what it has, how it can be spelled, and where it is offered."""
    from compute.cli.understand.instance_type_describe_run import run  # noqa: PLC0415 -- not for help

    return run(name, output)
