"""`compute instances list`: where each instance runs, in which state, and of which revision."""

from collections.abc import Sequence
from typing import Final

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.choices import choices_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_option

# Words, so that help does not import what they mean; a test compares them with that.
STATES: Final = (
    "failed", "unreachable", "pending", "starting", "stopped", "deleting", "available",
)  # fmt: skip


@compute_command(
    examples=(
        "compute instances",
        "compute instances --workload web --city DFW,LHR -o wide",
        "compute instances --status failed,pending -w",
    ),
    exits=(Exit.UNKNOWN, Exit.INTERRUPTED),
    target=True,
)
@workload_option
@city_option
@choices_option("--status", "states", STATES, "Only instances in these states")
@click.option("-w", "--watch", is_flag=True, help="Go on with each change until Ctrl-C.")
@click.option("--no-headers", is_flag=True, help="Leave out the line with the names of columns.")
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    workload: str,
    cities: Sequence[str],
    states: Sequence[str],
    watch: bool,
    no_headers: bool,
    output: str,
) -> int:
    """List instances: where each runs, in which state, and of which revision.

    `(old)` beside a revision means that a newer template is asked for.
    """
    from compute.cli.look.instance_list_run import run  # noqa: PLC0415 -- not for help

    return run(
        workload=workload,
        cities=cities,
        states=states,
        watch=watch,
        no_headers=no_headers,
        output=output,
    )
