"""The phase of a rollout in one city, why, and since when.

The phase is derived from each snapshot: from the objects, and from how long nothing has changed. A
city that is done stays done until something else is requested: a later failure of an Instance is a
matter of health, not of the rollout.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from compute.api.conditions import ConditionType
from compute.api.reasons import Reason, Trait, has
from compute.decide.conditions import find
from compute.decide.deployment import drains
from compute.decide.explain import cause
from compute.decide.explain.cause import Cause
from compute.decide.explain.titles import count
from compute.decide.progress.city import CityProgress
from kubekit.api.times import format_time


class Phase(StrEnum):
    """The phase of a city."""

    QUEUED = "Queued"  # its cell has not observed what is asked for
    PENDING = "Pending"  # no Instance of the template yet
    UPDATING = "Updating"
    BLOCKED = "Blocked"  # no progress, or the user or an operator has to act
    PAUSED = "Paused"
    FAILED = "Failed"  # waiting is known not to help
    DONE = "Done"
    UNREACHABLE = "Unreachable"  # the last report is too old


_MOVING: Final = frozenset({Phase.QUEUED, Phase.PENDING, Phase.UPDATING})


class PhaseTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait before each phase of failure is assumed."""

    stall: timedelta = timedelta(seconds=30)  # no progress: Blocked
    failure: timedelta = timedelta(seconds=10)  # an Instance cannot run, at its second try: Failed
    silence: timedelta = timedelta(seconds=120)  # no report of the cell: Unreachable
    contact: timedelta = timedelta(seconds=60)  # no snapshot could be taken: the outcome is unknown


class CityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One placement in one city, as a table shows it."""

    placement: str
    city: str
    updated: int  # Instances of the template that is asked for
    ready: int
    old: int  # all other Instances
    desired: int
    phase: Phase
    why: str  # contains no times, so that it changes only when the cause does
    reason: str
    since: datetime | None  # since when ``why`` holds; None if there is no earlier row to tell
    goal: str
    course: Phase  # the phase without the stall
    moved: datetime  # when the numbers or the course last changed
    failing_since: datetime | None  # when an Instance first could not run; None while all can


class _Finding(msgspec.Struct, frozen=True):
    phase: Phase
    why: str = ""
    reason: str = ""
    since: datetime | None = None


def judge(
    city: CityProgress, before: CityRow | None, now: datetime, timeouts: PhaseTimeouts
) -> CityRow:
    """The row of a city, given its previous row."""
    is_first = before is None
    before = before if before and before.goal == city.goal else None
    finding = _find(city, before, now, timeouts)
    numbers = (len(city.updated), city.ready, city.old, city.desired, finding.phase)
    moved = before.moved if before and numbers == _numbers(before) else now
    reported = _stalled(city, finding) if now - moved >= timeouts.stall else finding
    return CityRow(
        placement=city.placement,
        city=city.city,
        updated=len(city.updated),
        ready=city.ready,
        old=city.old,
        desired=city.desired,
        phase=reported.phase,
        why=reported.why,
        reason=reported.reason,
        since=reported.since or (None if is_first else moved),
        goal=city.goal,
        course=finding.phase,
        moved=moved,
        failing_since=_failing_since(city, before, now),
    )


def _numbers(row: CityRow) -> tuple[int, int, int, int, Phase]:
    return row.updated, row.ready, row.old, row.desired, row.course


def _find(
    city: CityProgress, before: CityRow | None, now: datetime, timeouts: PhaseTimeouts
) -> _Finding:
    """The first finding that applies. A pause explains a lack of progress better than the rest."""
    if city.done or (before and before.phase is Phase.DONE):
        return _Finding(Phase.DONE)
    unreachable = _unreachable(city, now, timeouts)
    if unreachable or city.scale is None:
        return unreachable or _withdrawn(city)
    started = before is not None and before.course in {Phase.PENDING, Phase.UPDATING}
    return (
        _paused(city)
        or _suspended_on_hub(city)
        or _failed(city, before, now, timeouts)
        or _blocked(city)
        or _queued(city, started=started)
        or _working(city)
    )


def _unreachable(city: CityProgress, now: datetime, timeouts: PhaseTimeouts) -> _Finding | None:
    lost = [c for c in _reports(city) if c.reason == Reason.CELL_UNREACHABLE]
    if lost:
        return _because(Phase.UNREACHABLE, lost[0])
    last_report = city.last_report
    if last_report is None or now - last_report < timeouts.silence:
        return None
    why = f"the cell last reported at {format_time(last_report)}"
    return _Finding(Phase.UNREACHABLE, why, Reason.CELL_UNREACHABLE, last_report)


def _paused(city: CityProgress) -> _Finding | None:
    if not city.held_back:
        return None
    why = f"paused with {len(city.updated)} of {city.desired} updated"
    return _Finding(Phase.PAUSED, _and(why, _trouble(city)), Reason.PAUSED)


def _suspended_on_hub(city: CityProgress) -> _Finding | None:
    """An operator of the hub has suspended the city: until that ends no change reaches it."""
    deployment = city.deployment
    held = find(deployment.status.conditions, ConditionType.PAUSED) if deployment else None
    if deployment is None or held is None or held.status != "True":
        return None
    return _because(Phase.PAUSED, cause.of_condition(deployment, held))


def _failed(
    city: CityProgress, before: CityRow | None, now: datetime, timeouts: PhaseTimeouts
) -> _Finding | None:
    terminal, since = _terminal_cause(city), _failing_since(city, before, now)
    if terminal is None or since is None or now - since < timeouts.failure:
        return None
    return replace(_because(Phase.FAILED, terminal), since=since)


def _failing_since(city: CityProgress, before: CityRow | None, now: datetime) -> datetime | None:
    """Since when an Instance has been unable to run.

    Its condition has the time since when it is not ready, but for most of that time it may have waited
    for something else. So the time of the condition counts only if there is no previous row.
    """
    terminal = _terminal_cause(city)
    if terminal is None:
        return None
    return (before.failing_since if before else terminal.since) or now


def _terminal_cause(city: CityProgress) -> Cause | None:
    return cause.first(c for c in _of_instances(city) if has(c.reason, Trait.TERMINAL))


def _blocked(city: CityProgress) -> _Finding | None:
    trouble = _trouble(city)
    return _because(Phase.BLOCKED, trouble) if trouble else None


def _queued(city: CityProgress, *, started: bool) -> _Finding | None:
    """What has to happen before the cell can start; None when it can, or already has."""
    deployment = city.deployment
    if not city.observed:
        why = "the change has not been observed yet"
    elif deployment is None:
        why = "there is no deployment for the city yet"
    elif deployment.deleting:
        why = "an earlier deployment is still being removed"
    elif not city.propagated:
        why = "the deployment does not have the change yet"
    elif not (city.observed_by_cell or started):
        why = "the cell has not reported on the change yet"
    else:
        return None
    return _Finding(Phase.QUEUED, why)


def _working(city: CityProgress) -> _Finding:
    updated, surplus = len(city.updated), len(city.updated) - city.desired
    if not updated:
        return _with_hint(_Finding(Phase.PENDING, "no instance of the template yet"), city)
    if surplus > 0:
        return _Finding(Phase.UPDATING, f"{count(surplus, 'instance')} more than asked for")
    share = f"{updated} of {city.desired} updated, {city.ready} ready"
    return _with_hint(_Finding(Phase.UPDATING, share), city)


def _withdrawn(city: CityProgress) -> _Finding:
    remaining = count(len(city.instances), "instance")
    why = f"not asked for any more, {remaining} left"
    reasons = drains.explained((city.deployment,) if city.deployment else ())
    return _Finding(Phase.UPDATING, "; ".join([why, *(each.message for each in reasons)]))


def _stalled(city: CityProgress, found: _Finding) -> _Finding:
    """The finding once there was no progress for too long."""
    if found.phase not in _MOVING:
        return found
    stalled = replace(found, phase=Phase.BLOCKED)
    return stalled if found.reason else _with_hint(stalled, city)


def _because(phase: Phase, of: Cause) -> _Finding:
    return _Finding(phase, of.summary, of.reason, of.since)


def _with_hint(found: _Finding, city: CityProgress) -> _Finding:
    hint = cause.deepest(*_of_instances(city), *_of_others(city))
    return replace(found, why=_and(found.why, hint), reason=hint.reason if hint else "")


def _and(why: str, hint: Cause | None) -> str:
    return f"{why}; {hint.summary}" if hint else why


def _trouble(city: CityProgress) -> Cause | None:
    """The cause that the user or an operator has to act on, and that best explains the rest."""
    causes = (*_of_instances(city), *_of_others(city))
    return cause.deepest(*(c for c in causes if c.needs_action))


def _of_instances(city: CityProgress) -> Iterator[Cause]:
    for instance in city.updated:
        instance_cause = cause.of_instance(instance)
        if instance_cause:
            yield instance_cause


def _of_others(city: CityProgress) -> Iterator[Cause]:
    """The reports of the deployment, as far as they are of the requested spec; else those above it.

    Problems of Instances of an older template are ignored: the rollout replaces them.
    """
    yield from city.above
    for report in _reports(city):
        is_of_template = city.observed_by_cell and not has(report.reason, Trait.TERMINAL)
        if is_of_template or has(report.reason, Trait.FROM_ABOVE):
            yield report


def _reports(city: CityProgress) -> tuple[Cause, ...]:
    return cause.reports(city.deployment) if city.deployment else ()
