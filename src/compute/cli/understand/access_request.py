"""`compute access request`: request access to compute. It never asks: to call it is consent."""

from datetime import timedelta

import click

from compute.cli.exits import Exit
from compute.cli.shell.access import (
    decision,
    first_answer,
    read_access,
    request_access,
    withdraw,
)
from compute.cli.shell.access_gate import require_active
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import timeout_option
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.decide.access_state import RENEWABLE, AccessState, ProjectAccess


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
    limit = timeout if wait else None
    return in_project(lambda session: _request(session, message, limit, renew=renew))


async def _request(session: Session, message: str, limit: timedelta | None, *, renew: bool) -> Exit:
    access = await read_access(session)
    if renew and access.state in RENEWABLE:
        await withdraw(session, access)
        access = ProjectAccess(state=AccessState.NOT_REQUESTED)
    if access.state is AccessState.NOT_REQUESTED:
        notify(f"Requesting access to compute for {session.target.where}...")
        await request_access(session, message)
        access = await first_answer(session)
    if limit is not None:
        access = await _decided(session, access, limit)
    require_active(session, access)
    notify(f"Compute is enabled for {session.target.where}.")
    return Exit.OK


async def _decided(session: Session, access: ProjectAccess, limit: timedelta) -> ProjectAccess:
    if access.state not in {AccessState.PENDING_APPROVAL, AccessState.PROCESSING}:
        return access
    notify("Waiting for the answer. The request stays if this command is interrupted.")
    return await decision(session, limit)
