"""`compute networks create`: a network whose addresses the platform chooses."""

from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option


@compute_command(
    examples=(
        "compute networks create backend",
        "compute networks create backend --wait --timeout 30s",
    ),
    exits=(
        Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT, Exit.TIMED_OUT, Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@click.argument("name", metavar="NAME")
@click.option("--wait", is_flag=True, help="Wait until the network can be used.")
@timeout_option("1m")
@output_option("table", "json", "yaml", "name")
def command(name: str, *, wait: bool, timeout: timedelta, output: str) -> int:
    """Create a network, and let the platform choose its addresses.

    The network is private to the project and the same in every city, like the network `default` that a
    new project has. It is created once: if the name is taken, nothing is changed and the code is 8.
    """
    from compute.cli.change.network_create_run import run  # noqa: PLC0415 -- not for help

    return run(name, wait=wait, timeout=timeout, output=output)
