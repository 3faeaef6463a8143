"""What `compute wait` does."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import click

from compute.api import labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.change.existing_workload import not_found
from compute.cli.exits import Exit, Failure
from compute.cli.look.workload_names import workload_names
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.phrases import counted
from compute.cli.output.tables import plain
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.progress import (
    PhaseTimeouts,
    Rollout,
    RolloutEnding,
    RolloutVerdict,
    RolloutWait,
    ending,
    observe,
    verdict,
)
from compute.decide.progress.goals import Goal, UnknownGoal, goal_ending, parse
from compute.views.live import LiveObjects, live_objects
from compute.views.reading import ProjectObjects, ProjectReader
from compute.views.rollouts import rollout_view
from compute.views.waits import MISSING, WaitView, gone_view, lost_view, wait_view
from kubekit.client.options import EVERYTHING, ListOptions

_TICK: Final = 1.0  # seconds between two judgements while nothing changes
_TIMEOUTS: Final = PhaseTimeouts()
_MOST_SELECTED: Final = 100  # workloads; a selector of more makes an address that servers refuse
# The worst first: one exit code has to stand for all workloads.
_CODES: Final = {
    RolloutEnding.FAILED.value: Exit.FAILED,
    RolloutEnding.BLOCKED.value: Exit.BLOCKED,
    MISSING: Exit.NOT_FOUND,
    RolloutEnding.UNKNOWN.value: Exit.UNKNOWN,
    RolloutEnding.TIMED_OUT.value: Exit.TIMED_OUT,
    RolloutEnding.PAUSED.value: Exit.NOT_YET,
}


@dataclass(slots=True)
class _Awaited:
    """A workload whose end of waiting is not known yet."""

    workload: Workload
    waiting: RolloutWait
    rollout: Rollout | None = None

    @property
    def name(self) -> str:
        return self.workload.metadata.name

    @property
    def uid(self) -> str:
        return self.workload.metadata.uid


def run(names: Sequence[str], goal: str, timeout: timedelta, output: str) -> int:
    """Run it. The arguments are those of the command."""
    try:
        wanted = parse(goal)
    except UnknownGoal as error:
        raise click.BadParameter(str(error), param_hint="'--for'") from error
    known = workload_names(names, sys.stdin)
    return in_project(lambda session: _wait(session, known, wanted, (timeout, output)))


async def _wait(
    session: Session, names: Sequence[str], goal: Goal, how: tuple[timedelta, str]
) -> Exit:
    limit, output = how
    found = await asyncio.gather(
        *(session.client.find(Workload, name, session.namespace) for name in names)
    )
    waiting = RolloutWait(since=session.now(), limit=limit or None)
    decided: list[WaitView] = []
    for name, workload in zip(names, found, strict=True):
        if workload is None:
            decided.append(_shown(gone_view(name, goal, waited=False), output))
    awaited = [_Awaited(each, waiting) for each in found if each is not None]
    if awaited:
        decided += await _follow(session, awaited, goal, output)
    if output in {"json", "yaml"}:
        show_data(sorted(decided, key=lambda view: names.index(view.name)), output)
    return await _result(session, decided, goal)


async def _follow(
    session: Session, awaited: list[_Awaited], goal: Goal, output: str
) -> list[WaitView]:
    """Show each workload once it is decided, until all are."""
    decided: list[WaitView] = []
    selectors = _selectors(awaited)
    async with live_objects(
        session.client, session.environment, session.namespace, *selectors, selectors=selectors
    ) as live:
        await live.listed(_TICK)
        while awaited:
            views = await _all_judged(session, live, awaited, goal)
            awaited = [each for each in awaited if views[each.name] is None]
            decided += [_shown(view, output) for view in views.values() if view]
            if awaited:
                await live.changed(_TICK)
    return decided


def _selectors(awaited: Sequence[_Awaited]) -> Mapping[type, ListOptions]:
    """The objects of these workloads only, unless they are many."""
    uids = ",".join(each.uid for each in awaited)
    owned = ListOptions(label_selector=f"{labels.WORKLOAD_UID} in ({uids})")
    if len(awaited) > _MOST_SELECTED:
        owned = EVERYTHING
    return {Workload: EVERYTHING, WorkloadDeployment: owned, Instance: owned}


async def _all_judged(
    session: Session, live: LiveObjects, awaited: Iterable[_Awaited], goal: Goal
) -> dict[str, WaitView | None]:
    """How waiting for each workload ends now, by name; None while it goes on."""
    if not live.complete:
        return {each.name: _unlisted(each, goal, session.now()) for each in awaited}
    objects = ProjectObjects(live.all(Workload), live.all(WorkloadDeployment), live.all(Instance))
    parts = objects.by_workload()
    return {
        each.name: await _judged(session, live, (each, parts[each.uid]), goal)
        if each.uid in parts
        else gone_view(each.name, goal, waited=True)
        for each in awaited
    }


def _unlisted(each: _Awaited, goal: Goal, now: datetime) -> WaitView | None:
    """The same before everything is listed: nothing is known, and that not indefinitely."""
    each.waiting = each.waiting.after(RolloutVerdict.UNKNOWN, now)
    how = ending(RolloutVerdict.UNKNOWN, each.waiting, now, _TIMEOUTS)
    return None if how is None else lost_view(each.name, goal)


async def _judged(
    session: Session, live: LiveObjects, of: tuple[_Awaited, ProjectObjects], goal: Goal
) -> WaitView | None:
    """How waiting for one workload ends now, given its objects."""
    each, objects = of
    now, snapshot = session.now(), objects.snapshot(live.seen_at())
    each.workload = snapshot.workload
    each.rollout = observe(snapshot, each.rollout)
    each.waiting = each.waiting.after(verdict(each.rollout, now), now)
    how = goal_ending(goal, snapshot, each.rollout, each.waiting, now)
    if how is None:
        return None
    if live.lost_since is not None and how is not RolloutEnding.DONE:
        return lost_view(each.name, goal)
    # Without its history, an undo would be proposed where there is nothing to go back to.
    reader = ProjectReader(session.client, session.namespace)
    revisions = None if how is RolloutEnding.DONE else await reader.known_history(each.name)
    return wait_view(each.name, goal, how, rollout_view(snapshot, each.rollout, now, revisions))


def _shown(view: WaitView, output: str) -> WaitView:
    """Print the line of a workload that is decided."""
    if output == "table":
        show(plain(f"workload/{view.name} {view.text}"))
    elif output == "jsonl":
        show_data(view, output)
    elif output == "name" and view.reached:
        show_names("workload", [view.name])
    return view


async def _result(session: Session, decided: Sequence[WaitView], goal: Goal) -> Exit:
    """Success if every workload has reached the goal; else a failure that names the worst."""
    open_ = [view for view in decided if not view.reached]
    if not open_:
        return Exit.OK
    worst = min(open_, key=lambda view: list(_CODES).index(view.state))
    if len(decided) == 1 and worst.state == MISSING:
        raise await not_found(session, worst.name)
    if len(decided) == 1:
        cause = f"workload {worst.name} {worst.text}"
    else:
        number = counted(len(decided), "workload")
        cause = f"{len(open_)} of {number} did not reach {goal.text}; {worst.name} {worst.text}"
    raise Failure(
        cause, _CODES[worst.state], next_step=worst.next, reason=worst.reason, city=worst.city
    )
