"""`compute access request`: request access to compute. It never asks: to call it is consent."""

from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option


@compute_command(
    examples=(
        "compute access request",
        'compute access request --message "For the shop" --wait',
        "compute access request --renew",
    ),
    exits=(Exit.DENIED, Exit.PENDING, Exit.UNAVAILABLE),
    target=True,
)
@click.option("--message", default="", metavar="TEXT", help="A message to the approver.")
@click.option("--renew", is_flag=True, help="Ask again after a denial or a revocation.")
@click.option("--wait", is_flag=True, help="Wait until the request is approved or denied.")
@timeout_option("30m")
def command(*, message: str, renew: bool, wait: bool, timeout: timedelta) -> int:
    """Request access to compute for the project.

    It asks no question, and it is safe to repeat: a request that is there already is kept.
    """
    from compute.cli.understand.access_request_run import run  # noqa: PLC0415 -- not for help

    return run(message=message, renew=renew, wait=wait, timeout=timeout)
