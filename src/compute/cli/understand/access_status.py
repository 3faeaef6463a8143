"""`compute access status`: whether the project may use compute."""

from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=("compute access", "compute access status -o json"), exits=(), target=True
)
@output_option("table", "json", "yaml")
def command(output: str) -> int:
    """Show whether the project may use compute.

    The exit code is 0 in every state; `access request` and `deploy` have a code for each.
    """
    from compute.cli.understand.access_status_run import run  # noqa: PLC0415 -- not for help

    return run(output)
