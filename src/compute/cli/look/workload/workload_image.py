"""`compute workloads set image`: sets the image of containers, and follows the rollout."""

from collections.abc import Sequence
from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option, workload_argument


@compute_command(
    examples=(
        "compute workloads set image web registry.example.com/web:2",
        "compute workloads set image web app=registry.example.com/web:2 --detach",
    ),
    exits=(
        Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT,
        Exit.TIMED_OUT, Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@workload_argument
@click.argument("assignments", metavar="[CONTAINER=]IMAGE...", nargs=-1, required=True)
@click.option("--detach", is_flag=True, help="Do not wait for the rollout.")
@timeout_option()
@output_option("table", "json", "yaml", "jsonl", "name")
def command(
    name: str, assignments: Sequence[str], *, detach: bool, timeout: timedelta, output: str
) -> int:
    """Set the image of containers, and follow the rollout.

    Without CONTAINER it is the only container, or the one called app. Everything else of the workload
    stays as it is.
    """
    from compute.cli.look.workload.workload_image_run import run  # noqa: PLC0415 -- not for help

    return run(name, assignments, detach=detach, timeout=timeout, output=output)
