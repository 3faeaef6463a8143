"""`compute rollout restart`, also `compute restart`: replaces instances without any other change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from compute.cli.change.instance_replacement import (
    check_instances,
    end_of_replacement,
    request_replacement,
)
from compute.cli.change.waiting import (
    ROLLOUT_EXITS,
    WaitChoice,
    end_of_rollout,
    notify_paused,
    wait_options,
)
from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option, show_views
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument
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


@compute_command(
    examples=(
        "compute restart web",
        "compute restart web --city DFW,LHR",
        "compute rollout restart web --instance web-default-dfw-0",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@city_option
@click.option(
    "--instance", "instances", multiple=True, metavar="NAME", shell_complete=values.instances,
    help="Replace this instance alone; may be given several times.",
)  # fmt: skip
@wait_options(default=True)
@output_option("table", "json", "yaml", "name")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    cities: Sequence[str],
    instances: Sequence[str],
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Replace every instance by one of the same template, in each city as in any other rollout.

    With --city only there; with --instance only these. A restart of single cities is no revision.
    """
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
