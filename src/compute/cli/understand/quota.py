"""`compute quota`: what the project may use, what uses it, and what waits for more."""

from collections.abc import Sequence

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option


@compute_command(
    examples=("compute quota", "compute quota --city DFW", "compute quota --constrained -o json"),
    exits=(Exit.NOT_FOUND,),
    target=True,
)
@city_option
@click.option("--constrained", is_flag=True, help="Only what is used up, or too little.")
@output_option("table", "json", "yaml", "jsonl")
def command(*, cities: Sequence[str], constrained: bool, output: str) -> int:
    """Show the quota of the project, its use per city, and what waits for more.

    The limits are those of the whole project; --city selects the rows of cities and instances.
    JSON and YAML are a list with an entry for each resource.
    """
    from compute.cli.understand.quota_run import run  # noqa: PLC0415 -- not for help

    return run(cities=cities, constrained=constrained, output=output)
