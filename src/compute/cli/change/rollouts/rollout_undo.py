"""`compute rollout undo`, also `compute rollback`: goes back to an earlier revision."""

from collections.abc import Sequence
from datetime import timedelta

import click

from compute.cli.change.wait_options import ROLLOUT_EXITS, wait_options
from compute.cli.completion import values
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument


@compute_command(
    examples=(
        "compute rollout undo web",
        "compute rollout undo web --to-revision 3 --dry-run",
        "compute rollback web --city LHR --yes",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@click.option(
    "--to-revision", "--to", "revision", type=click.IntRange(min=0), default=0, metavar="N",
    shell_complete=values.revisions,
    help="The revision to go back to; without it the newest that ran in every city and differs.",
)  # fmt: skip
@click.option(
    "--template-only/--all",
    "template_only",
    default=True,
    help="Keep placements and scale as they are (the default), or go back with them too.",
)
@city_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@wait_options(default=True)
@output_option("table", "json", "yaml", "name")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    revision: int,
    template_only: bool,
    cities: Sequence[str],
    dry_run: bool,
    yes: bool,
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Go back to an earlier revision, everywhere or in some cities.

    It is a change like any other: the history gets a new revision, and nothing of it is rewritten. In
    single cities the earlier template stays until the next change of the workload.
    """
    from compute.cli.change.rollouts.rollout_undo_run import run  # noqa: PLC0415 -- not for help

    return run(
        name=name,
        revision=revision,
        template_only=template_only,
        cities=cities,
        dry_run=dry_run,
        yes=yes,
        wait=wait,
        timeout=timeout,
        output=output,
    )
