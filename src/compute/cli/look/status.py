"""`compute status`: which city is stuck, why, and what to type next."""

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import optional_workload_argument


@compute_command(
    examples=(
        "compute status",
        "compute status web",
        "compute status web -w",
        "compute status web -o json",
    ),
    exits=(Exit.NOT_FOUND, Exit.INTERRUPTED),
    target=True,
)
@optional_workload_argument
@click.option("-w", "--watch", is_flag=True, help="Show it again at each change until Ctrl-C.")
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(name: str | None, *, watch: bool, output: str) -> int:
    """Show which city is stuck, why, and what to type next.

    Without NAME it lists all workloads, the worst first.
    """
    from compute.cli.look.status_run import run  # noqa: PLC0415 -- not for help

    return run(name, output, watch=watch)
