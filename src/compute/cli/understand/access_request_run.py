"""What `compute access request` does."""

from datetime import timedelta

from compute.cli.exits import Exit
from compute.cli.shell.access import (
    decision,
    first_answer,
    read_access,
    request_access,
    withdraw,
)
from compute.cli.shell.access_gate import require_active
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.decide.access_state import RENEWABLE, AccessState, ProjectAccess


def run(*, message: str, renew: bool, wait: bool, timeout: timedelta) -> int:
    """Run it. The arguments are those of the command."""
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
