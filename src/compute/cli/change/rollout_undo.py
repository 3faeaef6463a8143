"""`compute rollout undo`, also `compute rollback`: goes back to an earlier revision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import click

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.planned_writes import written
from compute.cli.change.waiting import (
    ROLLOUT_EXITS,
    WaitChoice,
    end_of_rollout,
    notify_paused,
    wait_options,
)
from compute.cli.change.workload_change import read_to_change
from compute.cli.completion import values
from compute.cli.exits import Exit, Failure
from compute.cli.output import phrases
from compute.cli.output.formats import output_option, show_views
from compute.cli.output.tables import indented, plain
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.workload import history
from compute.decide.workload.history import Refusal
from compute.decide.workload.undo_plan import UndoChoice, UndoPlan, plan_undo
from compute.views.changes import UndoStepView, UndoView, undo_view
from compute.views.reading import ProjectReader
from kubekit.api import times
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    choice: UndoChoice
    dry_run: bool
    yes: bool
    wait: WaitChoice


@compute_command(
    examples=(
        "compute rollout undo web",
        "compute rollout undo web --to-revision 3 --dry-run",
        "compute rollback web --city LHR --yes",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@click.option(
    "--to-revision", "--to", "revision", type=click.IntRange(min=0), default=0, metavar="N",
    shell_complete=values.revisions,
    help="The revision to go back to; without it the newest that ran in every city and differs.",
)  # fmt: skip
@click.option(
    "--template-only/--all",
    "template_only",
    default=True,
    help="Keep placements and scale as they are (the default), or go back with them too.",
)
@city_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@wait_options(default=True)
@output_option("table", "json", "yaml", "name")
def command(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    revision: int,
    template_only: bool,
    cities: Sequence[str],
    dry_run: bool,
    yes: bool,
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Go back to an earlier revision, everywhere or in some cities.

    It is a change like any other: the history gets a new revision, and nothing of it is rewritten. In
    single cities the earlier template stays until the next change of the workload.
    """
    if cities and not template_only:
        raise click.UsageError("--all is about the whole workload: leave out --city")
    wanted = _Wanted(
        name,
        UndoChoice(revision, whole=not template_only, cities=tuple(cities)),
        dry_run,
        yes,
        WaitChoice(wait, timeout, output),
    )
    return in_project(lambda session: _undo(session, wanted))


async def _undo(session: Session, wanted: _Wanted) -> Exit:
    output = wanted.wait.output
    workload = await read_to_change(session, wanted.name, wanted.choice.cities)
    revisions = await ProjectReader(session.client, session.namespace).history(wanted.name)
    plan = _planned(workload, revisions, wanted.choice)
    view = undo_view(plan, written=False)
    asks = not (wanted.yes or wanted.dry_run) and can_ask()
    if output == "table" or asks:
        _show_plan(view, session, show if wanted.dry_run else notify)
    if wanted.dry_run:
        _finish(view, output)
        return Exit.OK
    if asks and not confirmed("Undo?", default=True):
        notify("Aborted: nothing was changed.")
        return Exit.OK
    again = partial(_again, revisions, wanted.choice)
    await written(session, PlannedChange(workload, plan.workload, again))
    cities = _cities(plan, wanted.choice)
    _finish(undo_view(plan, written=True), output, cities)
    return await end_of_rollout(session, wanted.name, wanted.wait, cities)


def _planned(workload: Workload, revisions: ConfigMap | None, choice: UndoChoice) -> UndoPlan:
    plan = plan_undo(workload, revisions, choice)
    if isinstance(plan, UndoPlan):
        return plan
    raise _refused(workload, revisions, choice, plan)


def _refused(
    workload: Workload, revisions: ConfigMap | None, choice: UndoChoice, refusal: Refusal
) -> Failure:
    name = workload.metadata.name
    where = f" in {', '.join(choice.cities)}" if choice.cities else ""
    known = {revision.rev for revision in history.revisions(revisions)}
    is_unknown = bool(choice.to and known) and choice.to not in known
    return Failure(
        f"workload {name} cannot be undone{where}: {refusal.why}",
        Exit.NOT_FOUND if is_unknown else Exit.ERROR,
        next_step=f"compute rollout history {name}",
    )


def _again(revisions: ConfigMap | None, choice: UndoChoice, newest: Object | None) -> Object:
    """The same undo of a newer version; that version as it is if there is nothing to undo any more."""
    assert isinstance(newest, Workload)
    plan = plan_undo(newest, revisions, choice)
    return plan.workload if isinstance(plan, UndoPlan) else newest


def _cities(plan: UndoPlan, choice: UndoChoice) -> tuple[str, ...]:
    """The cities to follow; all of them unless some were named."""
    return tuple(city for step in plan.steps for city in step.cities) if choice.cities else ()


def _show_plan(view: UndoView, session: Session, say: Callable[[str], None]) -> None:
    """What is restored where."""
    for step in view.steps:
        say("\n".join(_step(view.name, step, session)))
    if view.unchanged_cities:
        say(f"Nothing to undo in {', '.join(view.unchanged_cities)}.")
    notify_paused(view.name, view.paused_cities)


def _step(name: str, step: UndoStepView, session: Session) -> list[str]:
    by = f", by {step.actor}" if step.actor else ""
    when = phrases.age(times.parse(step.timestamp), session.now()) if step.timestamp else ""
    ago = f", {when} ago" if when else ""
    title = plain(f"Undo {name} to revision {step.revision} ({step.image}{by}{ago})")
    where = f"in {', '.join(step.cities)}"
    return [f"{title} {where}", *indented(map(plain, step.changes))]


def _finish(view: UndoView, output: str, cities: Sequence[str] = ()) -> None:
    if output != "table":
        show_views("workload", [view], view, output)
    elif view.written:
        show(f"workload/{view.name} undone" + (f" in {', '.join(cities)}" if cities else ""))
    else:
        notify("Dry run: nothing was changed.")
