"""What `compute top` does."""

import sys
from typing import TYPE_CHECKING

import click

from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit
from compute.cli.look import status
from compute.cli.output.terminal import is_terminal
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.views.reading import ProjectReader

if TYPE_CHECKING:
    from compute.cli.look.dashboard.app import DashboardApp

_EXTRA = "pip install 'datum-compute[top]'"
_PACKAGES = frozenset({"textual", "rich"})


def run(context: click.Context, name: str | None) -> int:
    """Run it. The arguments are those of the command."""
    if not (is_terminal(sys.stdout) and sys.stdin.isatty()):
        return _once(context, name)
    try:
        from compute.cli.look.dashboard.app import DashboardApp  # noqa: PLC0415 -- heavy, and optional
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        code = _once(context, name)
        notify(
            f"\nThis is one snapshot. The live dashboard needs textual; get it with:\n  {_EXTRA}"
        )
        return code
    return in_project(lambda session: _watch(session, name or "", DashboardApp))


def _once(context: click.Context, name: str | None) -> int:
    code: int = context.invoke(status.command, name=name, output="table")
    return code


async def _watch(session: Session, name: str, dashboard: "type[DashboardApp]") -> int:
    from compute.cli.look.dashboard.actions import SessionActions  # noqa: PLC0415 -- as the dashboard
    from compute.cli.look.dashboard.state import LiveStates  # noqa: PLC0415 -- as the dashboard

    if name:
        await read_workload(session, name)
    else:
        await ProjectReader(
            session.client, session.namespace
        ).everything()  # fails as other commands
    app = dashboard(LiveStates(session), SessionActions(session), session.target.where, name)
    refusal = await app.run_async()
    if refusal is not None:
        raise refusal
    return app.return_code or Exit.OK
