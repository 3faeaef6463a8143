"""The rollouts that a deploy has started, one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.rollout_follow import follow_rollout
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
from compute.cli.output.tables import plain
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change of a Workload, and the Workload that the server has stored."""

    change: PlannedChange
    workload: Workload

    @property
    def name(self) -> str:
        return self.workload.metadata.name


async def follow_changes(
    session: Session, changes: Iterable[StoredChange], mode: DeployMode
) -> int:
    """Follow the rollouts. The first that does not succeed is the result."""
    failure: Failure | None = None
    for change in changes:
        namespace = change.workload.metadata.namespace
        inside = replace(session, target=replace(session.target, namespace=namespace))
        try:
            code = await _follow(inside, change, mode)
        except Failure as ended:
            failure = failure or ended
            continue
        if code is not Exit.OK:
            return code
    if failure is not None:
        raise failure
    return Exit.OK


def say_how_to_look(changes: Iterable[StoredChange]) -> None:
    """How to follow the rollouts that are not waited for."""
    for each in changes:
        _say(waiting_line(each.change))
        cities = first_cities(each.change)
        only = f" --city {','.join(cities)}" if cities else ""
        look = typed(f"compute rollout status {each.name}{only}")
        notify(f"Not waiting. Look again with: {look}")
        _say(*ways_on(each.change))


async def _follow(session: Session, stored: StoredChange, mode: DeployMode) -> Exit:
    """Follow one rollout, in the cities that it reaches."""
    change, is_table = stored.change, mode.output == "table"
    try:
        code = await follow_rollout(
            session, stored.name,
            cities=first_cities(change), timeout=mode.timeout, output=mode.output,
        )  # fmt: skip
    except Failure as ended:
        if mode.auto_undo and ended.code is Exit.FAILED:
            raise await _undone(session, stored, ended, mode) from ended
        if is_table:
            _say(waiting_line(change))
        raise
    if is_table:
        _say(waiting_line(change), *ways_on(change))
    return code


async def _undone(
    session: Session, stored: StoredChange, failure: Failure, mode: DeployMode
) -> Failure:
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
