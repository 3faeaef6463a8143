"""A deploy from its plan to the end of its rollouts."""

from compute.api.compute import Workload
from compute.cli.change.planned_writes import written
from compute.cli.deploy.deploy_inputs import DeployInputs
from compute.cli.deploy.deploy_mode import DeployMode
from compute.cli.deploy.deploy_wait import StoredChange, follow_changes, say_how_to_look
from compute.cli.deploy.deploy_writes import written_objects
from compute.cli.deploy.plan_text import plan_text
from compute.cli.deploy.planning import DeployPlan, plan_of
from compute.cli.deploy.saved_manifest import SavedManifest, manifest_to_save
from compute.cli.deploy.stale_readers import stale_readers
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.tables import plain
from compute.cli.shell.access_gate import require_access
from compute.cli.shell.prompts import confirmed, notify
from compute.cli.shell.session import Session
from compute.cli.streams import show


async def run_deploy(session: Session, inputs: DeployInputs, mode: DeployMode) -> int:
    """Plan, ask, write, and wait for the rollouts."""
    if mode.writes:
        await require_access(session)
    plan = await plan_of(session, inputs)
    saved = _to_save(plan, mode)
    if not plan.view.differs:
        return _unchanged(plan, inputs, mode, saved)
    _refuse_unanswered(session, plan, mode)
    if mode.output == "table" or (mode.asks and mode.writes):
        say = notify if mode.writes else show
        say(plan_text(plan.view, session.target.where))
        for note in plan.notes:
            notify(f"\n{plain(note)}")
    if not mode.writes:
        return await _dry(session, plan, mode, saved)
    if not _goes_on(plan, mode):
        notify("Aborted: nothing was changed.")
        return Exit.OK
    return await _write(session, plan, inputs, mode, saved)


def _to_save(plan: DeployPlan, mode: DeployMode) -> SavedManifest | None:
    if mode.save is None:
        return None
    (change,) = plan.workloads
    assert isinstance(change.wanted, Workload)
    return manifest_to_save(change.wanted, mode.save, yes=mode.yes)


def _unchanged(
    plan: DeployPlan, inputs: DeployInputs, mode: DeployMode, saved: SavedManifest | None
) -> int:
    """The end of a deploy that has nothing to do."""
    if inputs.note:
        notify("Nothing changes, so there is no revision that the note could be on.")
    if saved is not None:
        saved.write()
    _emit(plan, mode)
    if mode.output == "table":
        titles = ", ".join(change.title for change in plan.changes)
        verb = "is" if len(plan.changes) == 1 else "are"
        say = notify if mode.writes else show
        say(f"No changes: {plain(titles)} {verb} as wanted.")
        for note in plan.notes:
            notify(plain(note))
    return Exit.OK


async def _dry(
    session: Session, plan: DeployPlan, mode: DeployMode, saved: SavedManifest | None
) -> int:
    """The end of a deploy that only shows what it would do."""
    if mode.dry_run == "server":
        for change in plan.changes:
            if change.is_change and change.wanted.metadata.namespace not in plan.new_namespaces:
                await written(session, change, dry_run=True)
    if saved is not None:
        saved.write()
    _emit(plan, mode)
    if mode.output == "table" and mode.dry_run:
        accepted = "; the server accepts it" if mode.dry_run == "server" else ""
        notify(f"\nDry run: nothing was changed{accepted}.")
    return Exit.DIFFERS if mode.exit_code else Exit.OK


def _emit(plan: DeployPlan, mode: DeployMode) -> None:
    """Print the plan in a format for programs."""
    if mode.output == "name":
        # For `compute wait -`, so other kinds are not among them.
        show_names("workload", (change.wanted.metadata.name for change in plan.workloads))
    elif mode.output in {"json", "yaml"}:
        show_data(plan.view, mode.output)


def _goes_on(plan: DeployPlan, mode: DeployMode) -> bool:
    """Whether the user wants it."""
    if not mode.asks:
        return True
    notify()
    for name in plan.view.missing_networks:
        if not confirmed(f"Create the network {name}?", default=True):
            return False
    if plan.view.shortage:
        return confirmed("Some instances will wait for quota. Apply?", default=False)
    return confirmed("Apply?", default=True)


def _refuse_unanswered(session: Session, plan: DeployPlan, mode: DeployMode) -> None:
    """Without a terminal, what needs an answer needs -y."""
    if mode.yes or mode.asks or not mode.writes:
        return
    for namespace, name in plan.missing:
        inside = "" if namespace == session.namespace else f" -n {namespace}"
        raise Failure(
            f"network {name} does not exist, and nothing was changed; -y creates it",
            Exit.NOT_FOUND,
            next_step=f"compute networks create {name}{inside}",
        )
    if plan.view.shortage:
        raise Failure(
            f"the quota is too small: {plan.view.shortage}; nothing was changed, and -y deploys "
            "it anyway",
            Exit.BLOCKED,
            next_step="compute quota",
            reason="QuotaExceeded",
        )


async def _write(
    session: Session,
    plan: DeployPlan,
    inputs: DeployInputs,
    mode: DeployMode,
    saved: SavedManifest | None,
) -> int:
    stored = await written_objects(session, plan, quiet=mode.output != "table")
    if saved is not None:
        saved.write()
    if mode.output == "table":
        await _say_what_follows(session, plan, inputs)
    changes = [
        StoredChange(change, workload)
        for change, workload in stored
        if change.is_change and isinstance(workload, Workload)
    ]
    if mode.detach or not changes:
        _emit(plan, mode)
        if mode.output == "table":
            say_how_to_look(changes)
        return Exit.OK
    if mode.output == "name":
        _emit(plan, mode)
    return await follow_changes(session, changes, mode)


async def _say_what_follows(session: Session, plan: DeployPlan, inputs: DeployInputs) -> None:
    """What a user might expect, and what does not happen by itself."""
    if inputs.publishes_nothing:
        notify("The port is open in the container only: this platform publishes no URLs.")
    for title, workload in await stale_readers(session, plan.changes):
        restart = typed(f"compute restart {workload}")
        notify(plain(f"{workload} keeps the old values of {title} until: {restart}"))
