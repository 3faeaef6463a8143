"""An undo from its plan to its write, for `rollout undo` and for a deploy that undoes itself."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.planned_writes import written
from compute.cli.change.waiting import notify_paused
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.tables import indented, plain
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide.progress import RolloutSnapshot
from compute.decide.progress.rollouts import held_back
from compute.decide.workload.history import Refusal
from compute.decide.workload.undo_plan import UndoChoice, UndoPlan, plan_undo
from compute.views.changes import UndoStepView, UndoView, undo_view
from compute.views.reading import ProjectReader
from kubekit.api import times
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object


@dataclass(frozen=True, slots=True)
class PlannedUndo:
    """An undo that can be shown, and written as it was shown."""

    existing: Workload
    revisions: ConfigMap | None
    choice: UndoChoice
    plan: UndoPlan
    waiting: tuple[str, ...]  # paused cities that run another version, and keep it

    def view(self, *, written: bool) -> UndoView:
        return undo_view(self.plan, written=written)


async def planned_undo(
    session: Session, workload: Workload, revisions: ConfigMap | None, choice: UndoChoice
) -> PlannedUndo | Refusal:
    """The undo of a Workload, or why there is none."""
    plan = plan_undo(workload, revisions, choice)
    if isinstance(plan, Refusal):
        return plan
    waiting = await _held_back(session, plan) if plan.paused else ()
    return PlannedUndo(workload, revisions, choice, plan, waiting)


async def write_undo(session: Session, undo: PlannedUndo) -> None:
    """Write an undo, unless what it undoes has changed since it was planned."""
    again = partial(_again, undo.revisions, undo.choice)
    await written(session, PlannedChange(undo.existing, undo.plan.workload, again))


def show_undo(undo: PlannedUndo, session: Session, say: Callable[[str], None]) -> None:
    """What is restored where."""
    view = undo.view(written=False)
    for step in view.steps:
        say("\n".join(_step(view.name, step, session)))
    if view.unchanged_cities:
        say(f"Nothing to undo in {', '.join(view.unchanged_cities)}.")
    notify_paused(view.name, undo.waiting)
    kept = [city for city in view.paused_cities if city not in undo.waiting]
    if kept:
        only = f" --city {','.join(kept)}" if undo.waiting or undo.choice.cities else ""
        resume = typed(f"compute rollout resume {view.name}{only}")
        notify(
            f"Paused in {', '.join(kept)}, where this version runs already: nothing waits there. "
            f"Later changes will, until: {resume}"
        )


async def _held_back(session: Session, plan: UndoPlan) -> tuple[str, ...]:
    """The paused cities that the undo concerns and that run another version than it restores."""
    objects = await ProjectReader(session.client, session.namespace).of_workload(
        plan.workload.metadata.name
    )
    after = RolloutSnapshot(plan.workload, objects.deployments, objects.instances, session.now())
    return tuple(city for city in held_back(after) if city in plan.paused)


def _again(revisions: ConfigMap | None, choice: UndoChoice, newest: Object | None) -> Object:
    """The same undo of a newer version; that version as it is if there is nothing to undo any more."""
    assert isinstance(newest, Workload)
    plan = plan_undo(newest, revisions, choice)
    return plan.workload if isinstance(plan, UndoPlan) else newest


def _step(name: str, step: UndoStepView, session: Session) -> list[str]:
    by = f", by {step.actor}" if step.actor else ""
    when = phrases.age(times.parse(step.timestamp), session.now()) if step.timestamp else ""
    ago = f", {when} ago" if when else ""
    title = plain(f"Undo {name} to revision {step.revision} ({step.image}{by}{ago})")
    where = f"in {', '.join(step.cities)}"
    return [f"{title} {where}", *indented(map(plain, step.changes))]
