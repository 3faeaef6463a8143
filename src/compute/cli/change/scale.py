"""`compute scale`: changes how many instances run in each city."""

from collections.abc import Sequence
from datetime import timedelta

import click

from compute.cli.change.wait_options import ROLLOUT_EXITS, wait_options
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument


@compute_command(
    examples=(
        "compute scale web --min 3",
        "compute scale web --min 2 --max 10 --cpu-percent 70",
        "compute scale web --placement default --max 0 --yes",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@click.option(
    "--min", "minimum", type=int, default=None, metavar="N",
    help="Instances in each city; with --max the least.",
)  # fmt: skip
@click.option(
    "--max", "maximum", type=int, default=None, metavar="N",
    help="The most instances in each city, by load; 0 for a fixed number.",
)  # fmt: skip
@click.option(
    "--cpu-percent", type=int, default=None, metavar="N",
    help="The load of the CPUs to aim for, with --max.",
)  # fmt: skip
@click.option(
    "--memory-percent", type=int, default=None, metavar="N", help="Not available: use --cpu-percent.",
)  # fmt: skip
@click.option("--placement", default="", metavar="NAME", help="Only this placement.")
@city_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@wait_options(default=False)
@output_option("table", "json", "yaml", "name")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    minimum: int | None,
    maximum: int | None,
    cpu_percent: int | None,
    memory_percent: int | None,
    placement: str,
    cities: Sequence[str],
    yes: bool,
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Change how many instances run in each city of all placements, or of one.

    All cities of a placement have the same scale; --city has to name all cities of a placement.
    """
    from compute.cli.change.scale_run import run  # noqa: PLC0415 -- not for help

    return run(
        name=name,
        minimum=minimum,
        maximum=maximum,
        cpu_percent=cpu_percent,
        memory_percent=memory_percent,
        placement=placement,
        cities=cities,
        yes=yes,
        wait=wait,
        timeout=timeout,
        output=output,
    )
