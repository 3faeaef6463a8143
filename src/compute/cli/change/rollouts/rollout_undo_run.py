"""What `compute rollout undo` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from compute.api.compute import Workload
from compute.cli.change.undo_writes import PlannedUndo, planned_undo, show_undo, write_undo
from compute.cli.change.waiting import WaitChoice, end_of_rollout
from compute.cli.change.workload_change import read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.output.formats import show_views
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.workload import history
from compute.decide.workload.history import Refusal
from compute.decide.workload.undo_plan import UndoChoice
from compute.views.changes import UndoView
from compute.views.reading import ProjectReader
from kubekit.api.kinds.core import ConfigMap


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    choice: UndoChoice
    dry_run: bool
    yes: bool
    wait: WaitChoice


def run(  # noqa: PLR0913 -- one parameter for each option
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
    """Run it. The arguments are those of the command."""
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
    undo = await _planned(session, workload, wanted.choice)
    asks = not (wanted.yes or wanted.dry_run) and can_ask()
    if output == "table" or asks:
        show_undo(undo, session, show if wanted.dry_run else notify)
    if wanted.dry_run:
        _finish(undo.view(written=False), output)
        return Exit.OK
    if asks and not confirmed("Undo?", default=True):
        notify("Aborted: nothing was changed.")
        return Exit.OK
    await write_undo(session, undo)
    cities = _cities(undo)
    _finish(undo.view(written=True), output, cities)
    return await end_of_rollout(session, wanted.name, wanted.wait, cities)


async def _planned(session: Session, workload: Workload, choice: UndoChoice) -> PlannedUndo:
    revisions = await ProjectReader(session.client, session.namespace).history(
        workload.metadata.name
    )
    undo = await planned_undo(session, workload, revisions, choice)
    if isinstance(undo, PlannedUndo):
        return undo
    raise _refused(workload, revisions, choice, undo)


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


def _cities(undo: PlannedUndo) -> tuple[str, ...]:
    """The cities to follow; all of them unless some were named."""
    return (
        tuple(city for step in undo.plan.steps for city in step.cities)
        if undo.choice.cities
        else ()
    )


def _finish(view: UndoView, output: str, cities: Sequence[str] = ()) -> None:
    if output != "table":
        show_views("workload", [view], view, output)
    elif view.written:
        show(f"workload/{view.name} undone" + (f" in {', '.join(cities)}" if cities else ""))
    else:
        notify("Dry run: nothing was changed.")
