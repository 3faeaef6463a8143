"""`compute diff`: what a deploy would change, field by field and city by city."""

import click

from compute.cli.deploy.deploy_command import DeployCommand
from compute.cli.deploy.deploy_options import DeployInputs, deploy_inputs
from compute.cli.deploy.plan_text import plan_text
from compute.cli.deploy.planning import plan_of
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option, show_data
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show


@click.command(
    "diff",
    cls=DeployCommand,
    examples=(
        "compute diff -f web.yaml",
        "compute diff web --image nginx:2",
        "compute diff -f shop/ --exit-code -o json",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND, Exit.DIFFERS),
    target=True,
)
@deploy_inputs
@click.option("--exit-code", is_flag=True, help="End with 20 if there are differences.")
@output_option("table", "json", "yaml")
def command(inputs: DeployInputs, *, exit_code: bool, output: str) -> int:
    """Show what a deploy with the same arguments would change.

    Each field that changes, and what happens in each city: create, replace, scale, keep or remove, with the
    quota that it needs. Nothing is changed. Values of environment variables are not shown.
    """
    return in_project(lambda session: _diff(session, inputs, output, exit_code=exit_code))


async def _diff(session: Session, inputs: DeployInputs, output: str, *, exit_code: bool) -> int:
    view = (await plan_of(session, inputs)).view
    if output != "table":
        show_data(view, output)
    elif view.differs:
        show(plan_text(view, session.target.where))
    else:
        show("No changes.")
    return Exit.DIFFERS if view.differs and exit_code else Exit.OK
