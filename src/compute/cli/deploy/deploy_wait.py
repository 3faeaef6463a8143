"""The rollouts that a deploy has started, one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.rollout_follow import (
    EndedRollout,
    detached_code,
    ended_badly,
    ended_rollout,
)
from compute.cli.deploy.auto_undo import FailedDeploy, undone
from compute.cli.deploy.deploy_mode import DeployMode
from compute.cli.deploy.staged_changes import (
    first_cities,
    newly_paused,
    waiting_line,
    ways_on,
)
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide.progress import RolloutEnding
from compute.views.rollouts import RolloutView

_ONCE: Final = timedelta(milliseconds=1)  # enough to look at a rollout once


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change of a Workload, and the Workload that the server has stored."""

    change: PlannedChange
    workload: Workload

    @property
    def name(self) -> str:
        return self.workload.metadata.name


async def follow_changes(
    session: Session, changes: Sequence[StoredChange], mode: DeployMode
) -> int:
    """Follow the rollouts within one time limit. The first that does not succeed is the result.

    Ctrl-C detaches from all of them. What was seen of them is one document.
    """
    until = session.now() + mode.timeout if mode.timeout else None
    views: list[RolloutView] = []
    failures: list[Failure] = []
    code: Exit = Exit.OK
    for number, stored in enumerate(changes, 1):
        limit = _left(until, session.now())
        try:
            ended = await _ended(_inside(session, stored), stored, mode, limit)
        except Failure as gone:
            failures.append(gone)
            continue
        if ended is None:
            say_how_to_look(changes[number:])
            code = detached_code()
            break
        views.append(ended.view)
        if ended.how is not RolloutEnding.DONE:
            failures.append(await _failure(_inside(session, stored), stored, ended, mode))
    if mode.output in {"json", "yaml"} and views:
        show_data(views if len(changes) > 1 else views[0], mode.output)
    if failures:
        raise failures[0]
    return code


def _left(until: datetime | None, now: datetime) -> timedelta:
    """What is left of the time; zero is no limit."""
    return timedelta() if until is None else max(until - now, _ONCE)


def _inside(session: Session, stored: StoredChange) -> Session:
    """The session in the namespace of the Workload."""
    namespace = stored.workload.metadata.namespace
    return structs.replace(session, target=structs.replace(session.target, namespace=namespace))


def say_how_to_look(changes: Iterable[StoredChange]) -> None:
    """How to follow the rollouts that are not waited for."""
    for each in changes:
        _say(waiting_line(each.change))
        cities = first_cities(each.change)
        only = f" --city {','.join(cities)}" if cities else ""
        look = typed(f"compute rollout status {each.name}{only}")
        notify(f"Not waiting. Look again with: {look}")
        _say(*ways_on(each.change))


async def _ended(
    session: Session, stored: StoredChange, mode: DeployMode, limit: timedelta
) -> EndedRollout | None:
    """The end of one rollout, in the cities that it reaches."""
    ended = await ended_rollout(
        session, stored.name,
        cities=first_cities(stored.change), timeout=limit, output=mode.output,
    )  # fmt: skip
    if ended is None or mode.output != "table" or _is_undone(ended, mode):
        return ended
    further = ways_on(stored.change) if ended.how is RolloutEnding.DONE else ()
    _say(waiting_line(stored.change), *further)
    return ended


def _is_undone(ended: EndedRollout, mode: DeployMode) -> bool:
    return mode.auto_undo and ended.how is RolloutEnding.FAILED


async def _failure(
    session: Session, stored: StoredChange, ended: EndedRollout, mode: DeployMode
) -> Failure:
    """Why the rollout did not succeed, with how it was undone."""
    failure = ended_badly(*ended)
    if not _is_undone(ended, mode):
        return failure
    existing = stored.change.existing
    failed = FailedDeploy(
        before=existing if isinstance(existing, Workload) else None,
        after=stored.workload,
        paused=newly_paused(stored.change),
        failure=failure,
    )
    return await undone(session, failed, mode)


def _say(*lines: str) -> None:
    for line in filter(None, lines):
        notify(plain(line))
