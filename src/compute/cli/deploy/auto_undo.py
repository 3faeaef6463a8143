"""Undoing a deploy whose rollout failed. It stays a failed deploy, with the cause that it had."""

from dataclasses import dataclass

from compute.api.compute import Workload
from compute.cli.change.rollout_follow import ended_badly, ended_rollout
from compute.cli.change.undo_writes import PlannedUndo, planned_undo, show_undo, write_undo
from compute.cli.change.workload_change import read_to_change
from compute.cli.deploy.deploy_mode import DeployMode
from compute.cli.exits import Failure
from compute.cli.output.tables import plain
from compute.cli.shell.errors import failure_of
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide.deployment.template import template_hash
from compute.decide.progress import RolloutEnding
from compute.decide.workload.undo_plan import UndoChoice
from compute.views.reading import ProjectReader
from kubekit.api.errors import ApiError


@dataclass(frozen=True, slots=True)
class FailedDeploy:
    """A Workload before and after a deploy whose rollout failed, and the cities that the deploy paused."""

    before: Workload | None
    after: Workload
    paused: tuple[str, ...]
    failure: Failure

    @property
    def name(self) -> str:
        return self.after.metadata.name


async def undone(session: Session, failed: FailedDeploy, mode: DeployMode) -> Failure:
    """Undo the deploy, follow that, and return the failure with how it went."""
    try:
        undo = await _planned(session, failed)
        if isinstance(undo, str):
            return _with(failed.failure, f"nothing was undone: {undo}")
        await _write(session, failed, undo, mode)
        return await _followed(session, failed, undo, mode)
    except Failure as refused:
        return _with(failed.failure, f"nothing was undone: {refused}", refused.next_step)
    except ApiError as error:
        look = f"compute rollout status {failed.name}"
        return _with(failed.failure, f"the undo did not succeed: {failure_of(error)}", look)


async def _planned(session: Session, failed: FailedDeploy) -> PlannedUndo | str:
    """The undo, or why there is none: only what this deploy has changed is undone."""
    if failed.before is None:
        return f"{failed.name} is new, so there is no earlier revision"
    wanted = template_hash(failed.after.spec.template)
    if template_hash(failed.before.spec.template) == wanted:
        return "the deploy did not change the template"
    workload = await read_to_change(session, failed.name)
    if template_hash(workload.spec.template) != wanted:
        return f"another client has changed {failed.name} since"
    revisions = await ProjectReader(session.client, session.namespace).history(failed.name)
    undo = await planned_undo(session, workload, revisions, UndoChoice(resumes=failed.paused))
    return undo if isinstance(undo, PlannedUndo) else undo.why


async def _write(
    session: Session, failed: FailedDeploy, undo: PlannedUndo, mode: DeployMode
) -> None:
    if mode.output != "table":
        await write_undo(session, undo)
        return
    notify("The rollout failed, so --auto-undo goes back:")
    show_undo(undo, session, notify)
    if failed.paused:
        notify(f"Not paused any more in {', '.join(failed.paused)}.")
    await write_undo(session, undo)
    notify(plain(f"workload/{failed.name} undone"))


async def _followed(
    session: Session, failed: FailedDeploy, undo: PlannedUndo, mode: DeployMode
) -> Failure:
    """Follow the undo. Its revision is named whatever the end is."""
    revision = undo.plan.steps[0].revision.rev
    look = f"compute rollout status {failed.name}"
    try:
        ended = await ended_rollout(
            session, failed.name, timeout=mode.timeout, output=_quiet(mode.output)
        )
        if ended is None:
            return _with(failed.failure, f"it is being undone to revision {revision}", look)
        if ended.how is not RolloutEnding.DONE:
            raise ended_badly(*ended)
    except Failure as stuck:
        how = f"it was undone to revision {revision}, but {stuck}"
        return _with(failed.failure, how, stuck.next_step or look)
    history = f"compute rollout history {failed.name}"
    return _with(failed.failure, f"it was undone to revision {revision}", history)


def _quiet(output: str) -> str:
    """Formats with one document have that of the deploy; lines of JSON go on."""
    return output if output in {"table", "jsonl"} else "name"


def _with(failure: Failure, how: str, next_step: str = "") -> Failure:
    """The failure with how the undo went: its cause, code and city stay."""
    return Failure(
        f"{failure}; {how}",
        failure.code,
        next_step=next_step or failure.next_step,
        reason=failure.reason,
        city=failure.city,
    )
