"""`compute rollout history`: the revisions of a workload, and one of them in full."""

import click

from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import workload_argument


@compute_command(
    examples=(
        "compute rollout history web",
        "compute rollout history web --revision 3",
        "compute rollout history web -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@workload_argument
@click.option(
    "--revision", type=click.IntRange(min=1), default=None, metavar="N",
    shell_complete=values.revisions,
    help="Show the whole spec of this revision, and its differences from the one before.",
)  # fmt: skip
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(name: str, revision: int | None, output: str) -> int:
    """List the revisions of a workload: what changed, who changed it, and where each runs now.

    A revision that never ran in every city has failed. Values of environment variables are masked.
    """
    from compute.cli.change.rollouts.rollout_history_run import run  # noqa: PLC0415 -- not for help

    return run(name, revision, output)
