"""What `compute status` does."""

import asyncio
from collections.abc import Sequence
from typing import Final

import click

from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.look.interruption import ends_on_interrupt
from compute.cli.output.formats import show_views
from compute.cli.output.status_screens import no_workloads, workload_screen
from compute.cli.output.workload_rows import fleet_line, fleet_table
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.reading import ProjectReader
from compute.views.workloads import (
    WorkloadView,
    workload_view,
    workload_views,
    worst_first,
)

_WATCHED: Final = frozenset({"table", "jsonl"})


def run(name: str | None, output: str, *, watch: bool) -> int:
    """Run it. The arguments are those of the command."""
    if watch and output not in _WATCHED:
        raise click.BadParameter(
            f"-w does not go with {output}; use table or jsonl", param_hint="'-o'"
        )
    if watch:
        from compute.cli.look.status_watch import follow_status  # noqa: PLC0415 -- only to watch

        with ends_on_interrupt():
            in_project(lambda session: follow_status(session, name or "", output))
        return Exit.OK
    return in_project(lambda session: _status(session, name, output))


async def _status(session: Session, name: str | None, output: str) -> Exit:
    return await (_one(session, name, output) if name else _all(session, output))


async def _one(session: Session, name: str, output: str) -> Exit:
    reader = ProjectReader(session.client, session.namespace)
    await read_workload(session, name)
    objects, revisions = await asyncio.gather(reader.of_workload(name), reader.known_history(name))
    now = session.now()
    view = workload_view(
        objects.workloads[0], objects.deployments, objects.instances, now, revisions
    )
    if output in {"table", "wide"}:
        show("\n".join(workload_screen(view, session.target, now)))
    else:
        show_views("workload", [view], view, output)
    return Exit.OK


async def _all(session: Session, output: str) -> Exit:
    objects = await ProjectReader(session.client, session.namespace).everything()
    now = session.now()
    views = worst_first(
        workload_views(objects.workloads, objects.deployments, objects.instances, now)
    )
    if output not in {"table", "wide"}:
        show_views("workload", views, views, output)
    elif views:
        show(fleet_table(views, now, wide=output == "wide"))
        notify(f"\n{fleet_line(views)}")
        _suggest(views)
    else:
        notify(no_workloads(session.target))
        notify(f"Deploy one with: {typed('compute deploy web --image IMAGE --city CITY')}")
    return Exit.OK


def _suggest(views: Sequence[WorkloadView]) -> None:
    """The command that shows more of the worst Workload."""
    worst = views[0]
    if worst.worst:
        notify(f"Look closer with: {typed(f'compute status {worst.name}')}")
