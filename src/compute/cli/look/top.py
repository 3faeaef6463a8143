"""`compute top`: workloads, cities and instances live, on one screen."""

import click

from compute.cli.exits import Exit
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import optional_workload_argument


@compute_command(
    examples=("compute top", "compute top web", "compute top --project shop"),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@optional_workload_argument
@click.pass_context
def command(context: click.Context, name: str | None) -> int:
    """Watch workloads, cities and instances live, and act on them by single keys.

    Press ? for the keys. The worst workload is first, or NAME is chosen. Without a terminal, or without
    the package textual, it prints what `compute status` prints, once.
    """
    from compute.cli.look.top_run import run  # noqa: PLC0415 -- not for help

    return run(context, name)
