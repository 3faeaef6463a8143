"""What `compute rollout restart` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from compute.cli.change.instance_replacement import (
    check_instances,
    end_of_replacement,
    request_replacement,
)
from compute.cli.change.waiting import WaitChoice, end_of_rollout, notify_paused
from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Exit
from compute.cli.output.formats import show_views
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.overrides import restarted
from compute.views.changes import RestartedView, restart_view


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    cities: Sequence[str]
    instances: Sequence[str]
    wait: WaitChoice


def run(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    cities: Sequence[str],
    instances: Sequence[str],
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    if cities and instances:
        raise click.UsageError("an instance is in one city already: leave out --city")
    wanted = _Wanted(name, cities, instances, WaitChoice(wait, timeout, output))
    return in_project(lambda session: _restart(session, wanted))


async def _restart(session: Session, wanted: _Wanted) -> Exit:
    workload = await read_to_change(session, wanted.name, wanted.cities)
    if wanted.instances:
        await check_instances(session, workload, wanted.instances)
        replaced = await request_replacement(session, wanted.name, wanted.instances)
        _show(restart_view(replaced, instances=wanted.instances), wanted.wait.output)
        return await end_of_replacement(session, replaced, wanted.instances, wanted.wait)
    changed = await change_workload(
        session, wanted.name, lambda w: restarted(w, wanted.cities, session.now())
    )
    _show(restart_view(changed.after, wanted.cities), wanted.wait.output)
    return await end_of_rollout(session, wanted.name, wanted.wait, wanted.cities)


def _show(view: RestartedView, output: str) -> None:
    if output != "table":
        show_views("workload", [view], view, output)
        return
    for name in view.instances:
        show(f"instance/{name} is being replaced")
    if view.cities:
        show(f"workload/{view.name} restarted in {', '.join(view.cities)}")
    notify_paused(view.name, view.paused_cities)
