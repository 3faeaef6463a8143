"""`compute version`: the versions of this command and of the server."""

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as command_of


@command_of(
    examples=("compute version", "compute version --client", "compute version -o json"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
    target=True,
)
@click.option("--client", "only_client", is_flag=True, help="Do not ask the server.")
@output_option("table", "json", "yaml")
def command(output: str, *, only_client: bool) -> int:
    """Show the versions of this command and of the server, and whether they fit together."""
    from compute.cli.operate.version_reading import show_versions  # noqa: PLC0415 -- not for help

    show_versions(output, only_client=only_client)
    return 0
