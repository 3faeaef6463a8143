"""The gate before every change: whether the project may use compute at all.

    await require_access(session)

An active project costs one request. Where access was never requested, a person on a terminal is asked;
without a terminal nothing is requested, so that a script fails with a code of its own.
"""

import sys
from typing import Final

from compute.cli.exits import Exit, Failure, Quit
from compute.cli.invocation import spelled, typed
from compute.cli.output import phrases
from compute.cli.output.formats import wants_json
from compute.cli.output.tables import plain
from compute.cli.shell.access import first_answer, read_access, request_access
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.cli.shell.session import Session
from compute.decide.access_state import REQUESTED, AccessState, ProjectAccess
from compute.views.project.access import AccessView, access_view
from kubekit.api.errors import Forbidden

_CODES: Final = {
    AccessState.NOT_REQUESTED: Exit.NOT_ENABLED,
    AccessState.PENDING_APPROVAL: Exit.PENDING,
    AccessState.PROCESSING: Exit.PENDING,
    AccessState.DENIED: Exit.DENIED,
    AccessState.REVOKED: Exit.DENIED,
    AccessState.UNAVAILABLE: Exit.UNAVAILABLE,
    AccessState.CATALOG_UNAVAILABLE: Exit.UNAVAILABLE,
}


async def require_access(session: Session) -> None:
    """Return if the project may use compute; else end the command with the code of the state.

    A plain Kubernetes cluster, which has neither projects nor entitlements, needs no access. A user
    that may not read entitlements is let through: the server decides.
    """
    try:
        access = await read_access(session)
    except Forbidden:
        return
    if access.state is AccessState.CATALOG_UNAVAILABLE and not session.project:
        return
    if access.state is AccessState.NOT_REQUESTED:
        access = await _offer(session)
    elif access.state is AccessState.PROCESSING and access.is_young(session.now()):
        access = await first_answer(session)
    require_active(session, access)


def require_active(session: Session, access: ProjectAccess) -> None:
    """End the command, unless the access is active.

    A request that waits for its answer is no failure: it is reported calmly, and without "Error".
    """
    if access.state is AccessState.ACTIVE:
        return
    view, code = access_view(access, session.project), _CODES[access.state]
    if access.state not in REQUESTED or wants_json(sys.argv[1:]):
        raise Failure(_cause(session, view), code, next_step=view.next, reason=view.state)
    notify(_standing(session, view))
    if view.message:
        notify(f"The platform says: {plain(view.message.rstrip('.'))}.")
    notify(spelled("`compute access` shows the answer once there is one. To wait for it:"))
    notify(f"Next:  {typed(view.next)}")
    raise Quit(code)


async def _offer(session: Session) -> ProjectAccess:
    """Ask whether to request access, and request it."""
    where = session.target.where
    if not can_ask():
        return ProjectAccess(state=AccessState.NOT_REQUESTED)
    notify(
        f"Compute is not enabled for {where}. The operators of the platform may have to approve it."
    )
    if not confirmed("Would you like to request access?", default=False):
        notify(spelled("Nothing was requested. `compute access request` does it later."))
        raise Quit(Exit.DECLINED)
    notify(f"Requesting access to compute for {where}...")
    await request_access(session)
    access = await first_answer(session)
    if access.state is AccessState.ACTIVE:
        notify(f"Compute is enabled for {where}.")
    return access


def _standing(session: Session, view: AccessView) -> str:
    """How long a request waits, and for what."""
    age = phrases.age(view.requested_at, session.now())
    since = f" {age} ago" if view.requested_at else ""
    processing = view.state is AccessState.PROCESSING
    waits = (
        "platform has not answered" if processing else "operators of the platform have not decided"
    )
    return f"Access to compute was requested for {session.target.where}{since}. The {waits} yet."


def _cause(session: Session, view: AccessView) -> str:
    """The sentence of a failure: the state, the project, and the server's own reason."""
    where = session.target.where
    said = f": {view.message.rstrip('.')}" if view.message else ""
    match view.state:
        case AccessState.NOT_REQUESTED:
            return f"compute is not enabled for {where}; nothing was requested or changed"
        case AccessState.PENDING_APPROVAL | AccessState.PROCESSING:
            return f"access to compute for {where} is requested and not decided yet{said}"
        case AccessState.DENIED:
            return f"access to compute was denied for {where}{said}"
        case AccessState.REVOKED:
            return f"access to compute was revoked for {where}{said}"
        case _:
            return (
                f"compute is not available for {where}{said or ': the platform does not offer it'}"
            )
