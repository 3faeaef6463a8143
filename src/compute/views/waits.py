"""How waiting for a Workload ended, in one line."""

from typing import Final

from compute.decide.progress import RolloutEnding
from compute.decide.progress.goals import Goal, GoalKind
from compute.views.rollouts import RolloutView
from compute.views.view import View

MISSING: Final = "missing"


class WaitView(View, frozen=True, kw_only=True):
    """One Workload that was waited for. ``state`` is that of a rollout's ending, or ``missing``."""

    name: str
    goal: str
    reached: bool
    state: str
    text: str  # a sentence without its subject, such as "is ready"
    city: str
    reason: str
    next: str  # one command; empty where there is nothing to do


def wait_view(name: str, goal: Goal, how: RolloutEnding, rollout: RolloutView) -> WaitView:
    """The end of waiting for a Workload that exists."""
    reached = how is RolloutEnding.DONE
    worst = rollout.open[0] if rollout.open and not reached else None
    return WaitView(
        name=name,
        goal=goal.text,
        reached=reached,
        state=how.value,
        text=_text(goal, how, rollout),
        city=worst.city if worst else "",
        reason=worst.reason if worst else "",
        next="" if reached else (worst.next if worst else "") or f"compute status {name}",
    )


def gone_view(name: str, goal: Goal, *, waited: bool) -> WaitView:
    """The end of waiting for a Workload that does not exist, or not any more.

    That is what a deletion is waited for, and what makes any other goal unreachable.
    """
    reached = goal.kind is GoalKind.DELETED
    missing = "was deleted by another client" if waited else "does not exist"
    return WaitView(
        name=name,
        goal=goal.text,
        reached=reached,
        state=RolloutEnding.DONE.value if reached else MISSING,
        text=goal.phrase if reached else missing,
        city="",
        reason="" if reached else "NotFound",
        next="" if reached else "compute workloads",
    )


def lost_view(name: str, goal: Goal) -> WaitView:
    """The end of waiting for a Workload whose server cannot be reached any more."""
    return WaitView(
        name=name,
        goal=goal.text,
        reached=False,
        state=RolloutEnding.UNKNOWN.value,
        text="has an unknown state: the server cannot be reached",
        city="",
        reason="Unavailable",
        next="compute doctor",
    )


def _text(goal: Goal, how: RolloutEnding, rollout: RolloutView) -> str:
    if how is RolloutEnding.DONE:
        return goal.phrase
    worst = rollout.open[0] if rollout.open else None
    where = f" in {worst.city}" if worst else ""
    why = f": {worst.why}" if worst and worst.why else ""
    match how:
        case RolloutEnding.FAILED:
            return f"failed{where}{why}"
        case RolloutEnding.UNKNOWN:
            return f"has an unknown state{where}{why}"
        case RolloutEnding.TIMED_OUT:
            return f"{goal.negation} yet{where}{why}"
        case _:
            return f"is {how.value}{where}{why}"
