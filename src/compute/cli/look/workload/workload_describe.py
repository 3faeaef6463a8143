"""`compute workloads describe`: all about a workload on one screen."""

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import workload_argument


@compute_command(
    examples=(
        "compute workloads describe web",
        "compute workloads describe web --show-values",
        "compute workloads describe web -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@workload_argument
@click.option("--show-values", is_flag=True, help="Show the values of environment variables.")
@output_option("table", "wide", "json", "yaml")
def command(name: str, *, show_values: bool, output: str) -> int:
    """Show all about a workload: its status, placements, template, settings, conditions, events.

    Values of environment variables are hidden unless --show-values is given; a value from a secret is
    never shown.
    """
    from compute.cli.look.workload.workload_describe_run import run  # noqa: PLC0415 -- not for help

    return run(name, show_values=show_values, output=output)
