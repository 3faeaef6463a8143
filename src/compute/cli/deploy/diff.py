"""`compute diff`: what a deploy would change, field by field and city by city."""

from typing import TYPE_CHECKING

import click

from compute.cli.deploy.deploy_command import DeployCommand
from compute.cli.deploy.deploy_options import deploy_inputs
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option

if TYPE_CHECKING:
    from compute.cli.deploy.deploy_inputs import DeployInputs


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
def command(inputs: "DeployInputs", *, exit_code: bool, output: str) -> int:
    """Show what a deploy with the same arguments would change.

    Each field that changes, and what happens in each city: create, replace, scale, keep or remove, with the
    quota that it needs. Nothing is changed. Values of environment variables are not shown.
    """
    from compute.cli.deploy.diff_run import run_diff  # noqa: PLC0415 -- not for help
    from compute.cli.shell.session import in_project  # noqa: PLC0415 -- as above

    return in_project(lambda session: run_diff(session, inputs, output, exit_code=exit_code))
