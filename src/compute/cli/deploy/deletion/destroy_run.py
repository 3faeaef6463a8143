"""A deletion, from its summary to the end of the last instance."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from compute.api import labels
from compute.api.compute import Instance, Workload
from compute.cli.change.existing_workload import read_workload
from compute.cli.change.workload_change import WRITE
from compute.cli.deploy.deletion.destroy_wait import until_gone
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.phrases import counted, listed
from compute.cli.output.tables import plain, table
from compute.cli.shell.project_work import explained
from compute.cli.shell.prompts import confirmed, notify
from compute.cli.shell.session import Session
from compute.cli.streams import show
from compute.decide import joins
from compute.views.destroy_plans import DestroyView, destroy_view
from compute.views.reading import ProjectReader
from kubekit.api.errors import ApiError, Conflict, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import with_metadata

_MOST_CITIES: Final = 4


@dataclass(frozen=True, slots=True)
class DestroyMode:
    """Whether to ask and to wait, and what to keep."""

    yes: bool
    wait: bool
    keep_history: bool
    timeout: timedelta
    output: str


@dataclass(frozen=True, slots=True)
class _Doomed:
    """A workload to delete, its history, and what users see of it."""

    workload: Workload
    history: ConfigMap | None
    view: DestroyView


async def run_destroy(session: Session, names: Sequence[str], mode: DestroyMode) -> int:
    """Show what goes, ask, delete, and wait. The others are deleted even if a name does not exist."""
    doomed, failures = await _found(session, names)
    number = len(doomed) + len(failures)
    if doomed and not mode.yes:
        notify(_summary([each.view for each in doomed]))
        if not confirmed(_question([each.view for each in doomed]), default=False):
            notify("Aborted: nothing was deleted.")
            return Exit.OK
    gone: list[_Doomed] = []
    for each in doomed:
        failure = await _deleted(session, each, keep_history=mode.keep_history)
        if failure is None:
            gone.append(each)
            _report(each.view, mode)
        else:
            failures.append(failure)
    _show([each.view for each in gone], mode)
    problem = _problem(failures, number)
    code = await _end(session, [each.workload for each in gone], mode, problem)
    if problem is not None:
        raise problem
    return code


async def _end(
    session: Session, gone: Sequence[Workload], mode: DestroyMode, problem: Failure | None
) -> Exit:
    """Wait until all is gone, or say how to. A workload that was not deleted is the worse problem."""
    if gone and mode.wait:
        try:
            return await until_gone(session, gone, mode.timeout)
        except Failure as late:
            raise problem or late from late
    if gone and mode.output == "table":
        names = " ".join(workload.metadata.name for workload in gone)
        notify(f"Wait until all is gone with: {typed(f'compute wait {names} --for deleted')}")
    return Exit.OK


async def _found(session: Session, names: Sequence[str]) -> tuple[list[_Doomed], list[Failure]]:
    reader = ProjectReader(session.client, session.namespace)
    doomed: list[_Doomed] = []
    failures: list[Failure] = []
    instances = await reader.if_served(Instance) or ()
    for name in names:
        try:
            workload = await read_workload(session, name)
        except Failure as missing:
            failures.append(missing)
            continue
        history = await reader.history(name)
        uid = workload.metadata.uid
        own = [i for i in instances if _is_of(i, name, uid)]
        doomed.append(_Doomed(workload, history, destroy_view(workload, own, history)))
    return doomed, failures


def _is_of(instance: Instance, name: str, uid: str) -> bool:
    known = instance.metadata.labels.get(labels.WORKLOAD_UID)
    return known == uid if known else joins.workload_name(instance) == name


def _summary(views: Sequence[DestroyView]) -> str:
    rows = [
        (
            view.name,
            listed(view.placements),
            listed(view.cities, _MOST_CITIES),
            str(view.instances),
            str(view.revisions),
        )
        for view in views
    ]
    return table(("WORKLOAD", "PLACEMENTS", "CITIES", "INSTANCES", "REVISIONS"), rows)


def _question(views: Sequence[DestroyView]) -> str:
    what = f"workload {plain(views[0].name)}" if len(views) == 1 else f"{len(views)} workloads"
    number = sum(view.instances for view in views)
    return f"\nDelete {what} with {counted(number, 'instance')}?"


async def _deleted(session: Session, doomed: _Doomed, *, keep_history: bool) -> Failure | None:
    """Delete one workload; why that failed, if it did. The others are deleted nevertheless."""
    name = doomed.view.name
    try:
        if keep_history:
            await _orphan(session, doomed)
        await session.client.delete(doomed.workload)
    except NotFound:
        return None  # another client was faster
    except Conflict as error:
        return Failure(
            f"workload {name} was replaced by another of the same name; that one was not deleted",
            Exit.CONFLICT,
            next_step=f"compute status {name}",
            reason=error.reason,
        )
    except ApiError as error:
        failure = explained(error, session.target)
        return Failure(
            f"workload {name} was not deleted: {failure}",
            failure.code,
            next_step=failure.next_step or f"compute status {name}",
            reason=failure.reason,
        )
    return None


async def _orphan(session: Session, doomed: _Doomed) -> None:
    """Take the history from its workload, so that it is not deleted with it."""
    history, uid = doomed.history, doomed.workload.metadata.uid
    while history is not None:
        owners = tuple(o for o in history.metadata.owner_references if o.uid != uid)
        try:
            await session.client.patch(
                history, with_metadata(history, owner_references=owners), WRITE
            )
        except Conflict:  # a revision was recorded meanwhile
            reader = ProjectReader(session.client, session.namespace)
            history = await reader.history(doomed.view.name)
        except NotFound:
            return  # another client was faster: there is no history to keep
        else:
            return


def _report(view: DestroyView, mode: DestroyMode) -> None:
    if mode.output == "table":
        verb = "is being deleted already" if view.deleting else "deleted"
        kept = ", its history is kept" if mode.keep_history and view.revisions else ""
        show(f"workload/{plain(view.name)} {verb}{kept}")


def _show(views: Sequence[DestroyView], mode: DestroyMode) -> None:
    if mode.output == "name":
        show_names("workload", (view.name for view in views))
    elif mode.output != "table":
        show_data(views, mode.output)


def _problem(failures: Sequence[Failure], number: int) -> Failure | None:
    """The failure of a deletion of so many workloads: the first, with all causes; None if there is none."""
    if not failures or number == 1:
        return failures[0] if failures else None
    first = failures[0]
    return Failure(
        "; ".join(map(str, failures)) + f"; {number - len(failures)} of {number} deleted",
        first.code,
        next_step=first.next_step,
        reason=first.reason,
    )
