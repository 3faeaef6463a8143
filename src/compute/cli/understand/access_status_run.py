"""What `compute access status` does."""

from collections.abc import Iterator
from datetime import datetime

from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.shell.access import read_access
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.access_state import AccessState
from compute.views.project.access import AccessView, access_view


def run(output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _status(session, output))


async def _status(session: Session, output: str) -> Exit:
    view = access_view(await read_access(session), session.project)
    if output == "table":
        show("\n".join(_lines(view, session.target.where, session.now())))
    else:
        show_data(view, output)
    return Exit.OK


def _lines(view: AccessView, where: str, now: datetime) -> Iterator[str]:
    since = f", since {phrases.age(view.since, now)}" if view.since else ""
    yield f"Access to compute, {where}: {view.state}{since}"
    yield f"  {view.meaning}"
    if view.message and view.state is not AccessState.ACTIVE:
        yield f"  The platform says: {plain(view.message.rstrip('.'))}."
    if view.suspended:
        yield f"  {view.suspension}"
        yield "  It continues by itself once the operators of the platform lift the suspension."
    if view.next:
        yield f"Next:  {typed(view.next)}"
