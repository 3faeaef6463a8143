"""`compute cities list`: the cities that the project can use, and why not the others."""

import click

from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute cities", "compute cities list --all", "compute cities -o json"), target=True
)
@click.option("--all", "everywhere", is_flag=True, help="Also cities that are not offered.")
@output_option("table", "json", "yaml", "name", "jsonl")
def command(*, everywhere: bool, output: str) -> int:
    """List the cities that the project can use.

    A city that cannot be used now has the reason in NOTE. SITES are the cells that run instances
    of the project; INSTANCES are those that are ready, of all.
    """
    from compute.cli.understand.city.city_list_run import run  # noqa: PLC0415 -- not for help

    return run(everywhere=everywhere, output=output)
