"""`compute wait`: until workloads are ready, gone, or cannot become so."""

from collections.abc import Sequence
from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option, workloads_argument


@compute_command(
    examples=(
        "compute wait web",
        "compute wait web edge --for updated --timeout 5m",
        "compute wait web --for deleted",
        "compute workloads -o name | compute wait -",
    ),
    exits=(
        Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.TIMED_OUT,
        Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@workloads_argument
@click.option(
    "--for", "goal", default="ready", show_default=True, metavar="GOAL",
    help="ready, updated, paused, deleted, or condition=NAME[=STATUS].",
)  # fmt: skip
@timeout_option()
@output_option("table", "json", "yaml", "jsonl", "name")
def command(names: Sequence[str], goal: str, timeout: timedelta, output: str) -> int:
    """Wait until workloads are ready, or until waiting cannot help.

    NAME may also be written as workload/NAME; - reads names from stdin, one a line. One line is printed
    for each workload as soon as it is decided. A failed rollout ends the wait at once.
    """
    from compute.cli.look.wait_run import run  # noqa: PLC0415 -- not for help

    return run(names, goal, timeout, output)
