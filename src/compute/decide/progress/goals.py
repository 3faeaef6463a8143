"""What a client can wait for, whether it is so, and when waiting for it is over.

ready          every city runs what is asked for, and all instances are ready
updated        every instance has the template that is asked for, ready or not
paused         a pause is in effect, and nothing moves in the cities that it names
deleted        the Workload is gone
condition=X    the Workload has the condition X, for its newest spec; =V for another status
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from compute.api.compute import Workload
from compute.decide.conditions import find
from compute.decide.overrides import paused_cities
from compute.decide.progress.endings import RolloutEnding, RolloutWait, ending
from compute.decide.progress.phases import CityRow, Phase, PhaseTimeouts
from compute.decide.progress.rollouts import Rollout, RolloutSnapshot, RolloutVerdict, verdict

_CONDITION: Final = "condition"
_TIMEOUTS: Final = PhaseTimeouts()


class GoalKind(StrEnum):
    """What can be waited for."""

    READY = "ready"
    UPDATED = "updated"
    PAUSED = "paused"
    DELETED = "deleted"
    CONDITION = _CONDITION


_ALONE: Final = tuple(kind for kind in GoalKind if kind is not GoalKind.CONDITION)
# A pause is the end for a client that waits for an update.
_ENDED_BY_PAUSE: Final = frozenset({GoalKind.READY, GoalKind.UPDATED})


class UnknownGoal(ValueError):
    """The text is nothing that can be waited for. The message says what is."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a client waits for."""

    kind: GoalKind
    condition: str = ""
    status: str = "True"

    @property
    def text(self) -> str:
        """The goal as `parse` reads it."""
        if self.kind is GoalKind.CONDITION:
            return f"{_CONDITION}={self.condition}={self.status}"
        return self.kind.value

    @property
    def phrase(self) -> str:
        """The goal after the name of a Workload: ``is ready``."""
        if self.kind is GoalKind.CONDITION:
            return f"has the condition {self.condition}={self.status}"
        return f"is {self.kind}"

    @property
    def negation(self) -> str:
        """The same for one that has not reached it: ``is not ready``."""
        if self.kind is GoalKind.CONDITION:
            return f"does not have the condition {self.condition}={self.status}"
        return f"is not {self.kind}"


def parse(text: str) -> Goal:
    """The goal that a text names. Raises `UnknownGoal`."""
    kind, _, rest = text.partition("=")
    if kind == _CONDITION:
        name, _, status = rest.partition("=")
        if not name:
            raise UnknownGoal("name the condition, as in condition=Available")
        return Goal(GoalKind.CONDITION, name, status or "True")
    if text not in _ALONE:
        known = ", ".join(_ALONE)
        raise UnknownGoal(f"{text!r} cannot be waited for; use {known} or condition=NAME[=STATUS]")
    return Goal(GoalKind(text))


def is_reached(goal: Goal, snapshot: RolloutSnapshot, rollout: Rollout, now: datetime) -> bool:
    """Whether the goal is reached while the Workload exists. One that is being deleted reaches none."""
    workload = snapshot.workload
    if workload.deleting or goal.kind is GoalKind.DELETED:
        return False
    match goal.kind:
        case GoalKind.READY:
            return verdict(rollout, now) is RolloutVerdict.DONE
        case GoalKind.UPDATED:
            return all(map(_is_updated, rollout.rows))
        case GoalKind.PAUSED:
            return _is_paused(workload, rollout)
        case _:
            return _has_condition(workload, goal)


def goal_ending(
    goal: Goal, snapshot: RolloutSnapshot, rollout: Rollout, waiting: RolloutWait, now: datetime
) -> RolloutEnding | None:
    """How waiting for the goal ends now; None while it goes on.

    A failed rollout reaches no goal by waiting, except its deletion.
    """
    if is_reached(goal, snapshot, rollout, now):
        return RolloutEnding.DONE
    how = ending(verdict(rollout, now, _TIMEOUTS), waiting, now, _TIMEOUTS)
    if how is None or not _goes_on(goal, how):
        return how
    over = waiting.limit is not None and now - waiting.since >= waiting.limit
    return RolloutEnding.TIMED_OUT if over else None


def _goes_on(goal: Goal, how: RolloutEnding) -> bool:
    """Whether the goal may be reached after the rollout has ended like that."""
    if how is RolloutEnding.FAILED:
        return goal.kind is GoalKind.DELETED
    if how is RolloutEnding.PAUSED:
        return goal.kind not in _ENDED_BY_PAUSE
    return how is RolloutEnding.DONE


def _is_updated(row: CityRow) -> bool:
    """Whether every instance of a city is known to have the template."""
    return row.phase is not Phase.UNREACHABLE and row.updated == row.desired and not row.old


def _is_paused(workload: Workload, rollout: Rollout) -> bool:
    cities = paused_cities(workload)
    at_rest = {Phase.PAUSED, Phase.DONE}
    return bool(cities) and all(r.phase in at_rest for r in rollout.rows if r.city in cities)


def _has_condition(workload: Workload, goal: Goal) -> bool:
    condition = find(workload.status.conditions, goal.condition)
    if condition is None or condition.status.casefold() != goal.status.casefold():
        return False
    observed = condition.observed_generation or workload.status.observed_generation
    return observed >= workload.metadata.generation
