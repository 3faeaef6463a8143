"""`compute instances delete`: replaces an instance by a new one in its place."""

from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import instance_argument, timeout_option
from compute.cli.shell.prompts import ASSUME_YES


@compute_command(
    examples=(
        "compute instances delete web-default-dfw-0",
        "compute instances delete web-default-dfw-0 -y --wait",
    ),
    exits=(
        Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT, Exit.TIMED_OUT,
        Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@instance_argument
@click.option(
    "-y",
    "--yes",
    "assume_yes",
    is_flag=True,
    help=f"Do not ask. Needed without a terminal; or {ASSUME_YES}=1.",
)
@click.option("--wait", is_flag=True, help="Wait until the new instance is ready.")
@timeout_option()
@output_option("table", "name")
def command(name: str, *, assume_yes: bool, wait: bool, timeout: timedelta, output: str) -> int:
    """Replace an instance by a new one in its place, with the same name.

    Its workload keeps its scale: to have fewer instances, use `compute scale`.
    """
    from compute.cli.look.instance_delete_run import run  # noqa: PLC0415 -- not for help

    return run(name, assume_yes=assume_yes, wait=wait, timeout=timeout, output=output)
