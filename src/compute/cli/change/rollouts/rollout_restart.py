"""`compute rollout restart`, also `compute restart`: replaces instances without any other change."""

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
        "compute restart web",
        "compute restart web --city DFW,LHR",
        "compute rollout restart web --instance web-default-dfw-0",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@city_option
@click.option(
    "--instance", "instances", multiple=True, metavar="NAME", shell_complete=values.instances,
    help="Replace this instance alone; may be given several times.",
)  # fmt: skip
@wait_options(default=True)
@output_option("table", "json", "yaml", "name")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    cities: Sequence[str],
    instances: Sequence[str],
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Replace every instance by one of the same template, in each city as in any other rollout.

    With --city only there; with --instance only these. A restart of single cities is no revision.
    """
    from compute.cli.change.rollouts.rollout_restart_run import run  # noqa: PLC0415 -- not for help

    return run(
        name=name, cities=cities, instances=instances, wait=wait, timeout=timeout, output=output
    )
