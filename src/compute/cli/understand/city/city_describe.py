"""`compute cities describe`: the state of a city, and what the project runs there."""

import click

from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute cities describe LHR", "compute cities describe London -o json"),
    exits=(Exit.NOT_FOUND,),
    target=True,
)
@click.argument("code", metavar="CODE", shell_complete=values.cities)
@output_option("table", "json", "yaml")
def command(code: str, output: str) -> int:
    """Show the state of a city, and what runs there.

    CODE is the code of the city, such as LHR; its name and that of its location do as well.
    """
    from compute.cli.understand.city.city_describe_run import run  # noqa: PLC0415 -- not for help

    return run(code, output)
