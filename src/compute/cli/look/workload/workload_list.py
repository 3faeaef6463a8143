"""`compute workloads list`: the workloads of a project with their health."""

from collections.abc import Sequence
from typing import Final

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.choices import choices_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option

# Words, so that help does not import what they mean; a test compares them with that.
HEALTHS: Final = ("unavailable", "degraded", "unknown", "deleting", "progressing", "available")
ORDERS: Final = ("name", "health", "age", "ready")


@compute_command(
    examples=(
        "compute workloads",
        "compute workloads --health degraded,unavailable --city DFW -o wide",
        "compute workloads -l team=shop --sort health",
    ),
    exits=(Exit.UNKNOWN,),
    target=True,
)
@choices_option("--health", "healths", HEALTHS, "Only workloads of these healths")
@city_option
@click.option(
    "-l", "--selector", default="", metavar="SELECTOR", help="Only those with these labels: k=v."
)
@click.option(
    "--sort", "order", type=click.Choice(ORDERS), default="name", show_default=True,
    help="By name; or the worst health, the newest, or the least ready first.",
)  # fmt: skip
@click.option("--no-headers", is_flag=True, help="Leave out the line with the names of columns.")
@output_option("table", "wide", "json", "yaml", "name", "jsonl")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    healths: Sequence[str],
    cities: Sequence[str],
    selector: str,
    order: str,
    no_headers: bool,
    output: str,
) -> int:
    """List workloads with their health, and the cause where one is not healthy."""
    from compute.cli.look.workload.workload_list_run import run  # noqa: PLC0415 -- not for help

    return run(
        healths=healths,
        cities=cities,
        selector=selector,
        order=order,
        no_headers=no_headers,
        output=output,
    )
