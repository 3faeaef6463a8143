"""Where a rollout stands in one city, why, and since when.

The phase is judged anew at every look, from what is there and from how long nothing has moved.
What was done once stays done until something else is asked for: an Instance that falls ill later
is a matter of health, not of the rollout.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from compute.api.reasons import NeighbourReason, Reason, describe
from compute.api.times import format_time
from compute.decide import cause
from compute.decide.cause import Cause
from compute.decide.city import City

# No retry cures these: somebody has to deploy something else.
_TERMINAL: Final[frozenset[str]] = frozenset(
    {
        Reason.CONFIGURATION_ERROR,
        Reason.FAILED,
        Reason.IMAGE_UNAVAILABLE,
        Reason.INSTANCE_CRASHING,
    }
)
# Said of a deployment by those above its cell, so they hold though the cell has not spoken.
_FROM_ABOVE: Final[frozenset[str]] = frozenset(
    {
        NeighbourReason.RUNTIME_CLASS_NOT_SERVED,
        Reason.NETWORK_NOT_FOUND,
        Reason.NO_CELL_FOR_CITY,
        Reason.SUSPENDED,
    }
)


class Phase(StrEnum):
    """Where a city stands."""

    QUEUED = "Queued"  # its cell has not seen what is asked for
    PENDING = "Pending"  # no Instance of the template yet
    UPDATING = "Updating"
    BLOCKED = "Blocked"  # nothing moves, or somebody has to act
    PAUSED = "Paused"
    FAILED = "Failed"  # more waiting is known not to help
    DONE = "Done"
    UNREACHABLE = "Unreachable"  # what is known is too old to judge by


_MOVING: Final = frozenset({Phase.QUEUED, Phase.PENDING, Phase.UPDATING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait before the worse is assumed."""

    stall: timedelta = timedelta(seconds=30)  # nothing has moved: Blocked
    failure: timedelta = timedelta(seconds=60)  # an Instance cannot run: Failed
    silence: timedelta = timedelta(seconds=120)  # no word of the cell: Unreachable
    contact: timedelta = timedelta(seconds=60)  # we could not look: the outcome is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One placement in one city, as a table shows it."""

    placement: str
    city: str
    updated: int  # Instances of the template that is asked for
    ready: int
    old: int  # all other Instances
    desired: int
    phase: Phase
    why: str  # says no times, so that it changes only when something does
    reason: str
    since: datetime  # when what ``why`` says began
    goal: str
    course: Phase  # the phase, had nothing stalled
    moved: datetime  # when the numbers or the course last changed


@dataclass(frozen=True, slots=True)
class _Finding:
    phase: Phase
    why: str = ""
    reason: str = ""
    since: datetime | None = None


def judge(city: City, before: Row | None, now: datetime, patience: Patience) -> Row:
    """The row of a city, given the row that was shown before."""
    before = before if before and before.goal == city.goal else None
    found = _find(city, before, now, patience)
    numbers = (len(city.updated), city.ready, city.old, city.desired, found.phase)
    moved = before.moved if before and numbers == _numbers(before) else now
    shown = _stalled(city, found) if now - moved >= patience.stall else found
    return Row(
        placement=city.placement,
        city=city.city,
        updated=len(city.updated),
        ready=city.ready,
        old=city.old,
        desired=city.desired,
        phase=shown.phase,
        why=shown.why,
        reason=shown.reason,
        since=shown.since or moved,
        goal=city.goal,
        course=found.phase,
        moved=moved,
    )


def _numbers(row: Row) -> tuple[int, int, int, int, Phase]:
    return row.updated, row.ready, row.old, row.desired, row.course


def _find(city: City, before: Row | None, now: datetime, patience: Patience) -> _Finding:
    if city.done or (before and before.phase is Phase.DONE):
        return _Finding(Phase.DONE)
    found = (finder(city, now, patience) for finder in _FINDERS)
    return next((finding for finding in found if finding), _on_course(city))


def _unreachable(city: City, now: datetime, patience: Patience) -> _Finding | None:
    lost = [c for c in _of_deployment(city) if c.reason == Reason.CELL_UNREACHABLE]
    if lost:
        return _Finding(Phase.UNREACHABLE, _told(lost[0]), lost[0].reason, lost[0].since)
    heard = city.last_report
    if heard is None or now - heard < patience.silence:
        return None
    why = f"the cell was last heard of at {format_time(heard)}"
    return _Finding(Phase.UNREACHABLE, why, Reason.CELL_UNREACHABLE, heard)


def _paused(city: City, now: datetime, patience: Patience) -> _Finding | None:
    if not city.held_back:
        return None
    trouble = cause.first(_troubles(city))
    why = f"paused with {len(city.updated)} of {city.desired} updated"
    return _Finding(Phase.PAUSED, f"{why}; {_told(trouble)}" if trouble else why, Reason.PAUSED)


def _failed(city: City, now: datetime, patience: Patience) -> _Finding | None:
    fatal = [c for c in _of_instances(city) if c.reason in _TERMINAL and c.since]
    lasting = [c for c in fatal if c.since and now - c.since >= patience.failure]
    worst = cause.first(lasting)
    return _Finding(Phase.FAILED, _told(worst), worst.reason, worst.since) if worst else None


def _blocked(city: City, now: datetime, patience: Patience) -> _Finding | None:
    worst = cause.first(_troubles(city))
    return _Finding(Phase.BLOCKED, _told(worst), worst.reason, worst.since) if worst else None


# The first that applies is told. A pause explains a standstill better than anything below it.
_FINDERS: Final[tuple[Callable[[City, datetime, Patience], _Finding | None], ...]] = (
    _unreachable,
    _paused,
    _failed,
    _blocked,
)


def _on_course(city: City) -> _Finding:
    """What there is to do, when nothing is in the way of it."""
    left = len(city.instances)
    if city.scale is None:
        return _Finding(Phase.UPDATING, f"being withdrawn: {left} instances left")
    waits = _queued(city)
    if waits:
        return _Finding(Phase.QUEUED, waits)
    if not city.updated:
        return _Finding(Phase.PENDING, "no instance of the new template yet")
    share = f"{len(city.updated)} of {city.desired} updated, {city.ready} ready"
    return _Finding(Phase.UPDATING, share)


def _queued(city: City) -> str:
    """What has to happen before the cell can start; empty when it can."""
    deployment = city.deployment
    if not city.taken_up:
        return "the change has not been taken up yet"
    if deployment is None:
        return "there is no deployment for the city yet"
    if deployment.deleting:
        return "an earlier deployment is still being removed"
    if not city.handed_down:
        return "the deployment does not have the change yet"
    return "" if city.seen or city.updated else "the cell has not reported on the change yet"


def _stalled(city: City, found: _Finding) -> _Finding:
    """What is said once nothing has moved for too long."""
    if found.phase not in _MOVING:
        return found
    hint = next((*_of_instances(city), *_of_deployment(city)).__iter__(), None)
    why = f"nothing moves: {found.why}"
    if hint is None:
        return _Finding(Phase.BLOCKED, why)
    return _Finding(Phase.BLOCKED, f"{why}; {_told(hint)}", hint.reason)


def _troubles(city: City) -> Iterator[Cause]:
    """Everything that somebody has to act on."""
    if city.obstacle and not city.deployment:
        yield city.obstacle
    yield from (c for c in _of_instances(city) if c.needs_someone)
    for said in _of_deployment(city):
        # What Instances of an older template suffer from is what the rollout is there to cure.
        current = city.seen and said.reason not in _TERMINAL
        if said.needs_someone and (current or said.reason in _FROM_ABOVE):
            yield said
