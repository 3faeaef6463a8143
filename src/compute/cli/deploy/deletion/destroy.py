"""`compute destroy`: delete workloads with all that runs for them."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from compute.cli.exits import Exit, Failure
from compute.cli.look.workload_names import workload_names
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option, workloads_argument
from compute.cli.shell.prompts import ASSUME_YES, can_ask

if TYPE_CHECKING:
    from compute.cli.deploy.deletion.destroy_run import DestroyMode


@compute_command(
    examples=(
        "compute destroy web",
        "compute destroy web shop -y --wait",
        "compute destroy web --keep-history",
    ),
    exits=(
        Exit.UNKNOWN, Exit.NOT_FOUND, Exit.CONFLICT, Exit.TIMED_OUT, Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@workloads_argument
@click.option(
    "-y", "--yes", is_flag=True, help=f"Do not ask. Needed without a terminal; or {ASSUME_YES}=1."
)
@click.option("--wait", is_flag=True, help="Wait until every instance is gone, in all cities.")
@click.option(
    "--keep-history", is_flag=True,
    help="Keep the revisions, for a later workload of the same name.",
)  # fmt: skip
@timeout_option()
@output_option("table", "json", "yaml", "name")
def command(names: Sequence[str], *, yes: bool, **options: object) -> int:
    """Delete workloads, with their instances in all cities and their revisions.

    What goes is shown first, and on a terminal you are asked. Networks, Secrets and ConfigMaps stay.
    """
    from compute.cli.deploy.deletion.destroy_run import run_destroy  # noqa: PLC0415 -- not for help
    from compute.cli.shell.session import in_project  # noqa: PLC0415 -- as above

    mode = _mode(options, yes=yes or os.environ.get(ASSUME_YES) == "1")
    known = workload_names(names, sys.stdin)
    if not mode.yes and not can_ask():
        raise Failure(
            "a deletion cannot be undone: without a terminal it needs -y (or "
            f"{ASSUME_YES}=1); nothing was deleted",
            Exit.USAGE,
            next_step=f"compute destroy {' '.join(known)} -y",
        )
    return in_project(lambda session: run_destroy(session, known, mode))


def _mode(options: Mapping[str, object], *, yes: bool) -> "DestroyMode":
    from compute.cli.deploy.deletion.destroy_run import DestroyMode  # noqa: PLC0415 -- not for help

    timeout = options["timeout"]
    assert isinstance(timeout, timedelta)
    source = click.get_current_context().get_parameter_source("timeout")
    if source is click.core.ParameterSource.COMMANDLINE and not options["wait"]:
        raise click.UsageError("--timeout: without --wait there is no wait; give both")
    return DestroyMode(
        yes=yes,
        wait=bool(options["wait"]),
        keep_history=bool(options["keep_history"]),
        timeout=timeout,
        output=str(options["output"]),
    )
