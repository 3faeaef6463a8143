"""`compute instances describe`: why an instance does not run, and all about it."""

import click

from compute.cli.exits import Exit
from compute.cli.look.instance_description import instance_description
from compute.cli.look.instance_evidence import read_evidence
from compute.cli.output.formats import output_option, show_data
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import instance_argument
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.details.instance_details import instance_detail


@compute_command(
    examples=(
        "compute instances describe web-default-dfw-0",
        "compute instances describe web-default-dfw-0 -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@instance_argument
@click.option("--show-values", is_flag=True, help="Show the values of environment variables.")
@output_option("table", "json", "yaml")
def command(name: str, *, show_values: bool, output: str) -> int:
    """Show why an instance does not run, and all about it.

    Its gates with what they wait for, its quota, networks, template, conditions and events; and the
    instance on each plane that you may read, from the project over the hub to the cell.
    """
    in_project(lambda session: _describe(session, name, output, show_values=show_values))
    return Exit.OK


async def _describe(session: Session, name: str, output: str, *, show_values: bool) -> None:
    evidence = await read_evidence(session, name)
    now = session.now()
    detail = instance_detail(evidence, now, show_values=show_values)
    if output == "table":
        where = f"{session.target.where}, namespace {session.namespace}"
        show("\n".join(instance_description(detail, where, now)))
    else:
        show_data(detail, output)
