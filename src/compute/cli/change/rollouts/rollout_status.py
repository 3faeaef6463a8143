"""`compute rollout status`: follows a rollout until it is done, or cannot be."""

from collections.abc import Sequence
from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, timeout_option, workload_argument


@compute_command(
    examples=(
        "compute rollout status web",
        "compute rollout status web --city LHR --timeout 5m",
        "compute rollout status web --no-watch -o json",
    ),
    exits=(
        Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT,
        Exit.TIMED_OUT, Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@workload_argument
@city_option
@click.option(
    "--revision", type=click.IntRange(min=1), default=None, metavar="N",
    help="Follow this revision: fail if another one is active.",
)  # fmt: skip
@click.option(
    "-w/-W", "--watch/--no-watch", "watch", default=True,
    help="Follow it; --no-watch shows it once, with exit code 3 while it is not done.",
)  # fmt: skip
@timeout_option()
@output_option("table", "json", "yaml", "jsonl")
def command(  # noqa: PLR0913, PLR0917 -- one parameter for each option
    name: str,
    cities: Sequence[str],
    revision: int | None,
    watch: bool,  # noqa: FBT001 -- the value of a flag
    timeout: timedelta,
    output: str,
) -> int:
    """Follow a rollout until it is done, or cannot be.

    It ends at once when waiting does not help, and names the city, the cause and the next command.
    Ctrl-C stops looking; the rollout goes on.
    """
    from compute.cli.change.rollouts.rollout_status_run import run  # noqa: PLC0415 -- not for help

    return run(name, cities, revision, watch, timeout, output)
