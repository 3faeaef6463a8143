"""What a client waits for, and when waiting is over."""

from datetime import timedelta

import pytest

from compute.api import annotations
from compute.decide.progress import RolloutEnding, RolloutWait, observe
from compute.decide.progress.goals import Goal, GoalKind, UnknownGoal, goal_ending, parse
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, condition
from tests.support.compute.progress_builders import BROKEN, OLD, asked, given, look, running

MINUTE = timedelta(minutes=1)
READY, UPDATED, PAUSED, DELETED = (Goal(kind) for kind in list(GoalKind)[:4])
AVAILABLE = Goal(GoalKind.CONDITION, "Available")
NONE_READY = {"ready_replicas": 0}
DONE = look(asked(), (given(),), (running(),))
FAILED = look(asked(), (given(counters=NONE_READY),), (running(0, BROKEN),), at=NOW + MINUTE)
MOVING = look(asked(), (given(counters={"updated_replicas": 0}),), (running(image=OLD),))


def how(goal, snapshot, *, limit=None, later=timedelta(0)):
    waiting = RolloutWait(since=NOW, limit=limit)
    return goal_ending(goal, snapshot, observe(snapshot), waiting, snapshot.at + later)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ready", READY),
        ("deleted", DELETED),
        ("condition=Available", AVAILABLE),
        ("condition=Paused=False", Goal(GoalKind.CONDITION, "Paused", "False")),
        ("condition=Paused=", Goal(GoalKind.CONDITION, "Paused", "True")),
    ],
)
def test_goals_have_names(text, expected):
    """A condition is True unless another status is named."""
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "done", "condition", "condition=", "ready=True"])
def test_other_texts_are_refused(text):
    """The error names what can be waited for."""
    with pytest.raises(UnknownGoal, match=r"ready, updated, paused, deleted or|name the condition"):
        parse(text)


def test_goals_are_phrases():
    """Both halves of a sentence about a Workload."""
    assert (READY.text, READY.phrase, READY.negation) == ("ready", "is ready", "is not ready")
    assert AVAILABLE.text == "condition=Available=True"
    assert AVAILABLE.phrase == "has the condition Available=True"
    assert AVAILABLE.negation == "does not have the condition Available=True"


def test_ready_is_the_end_of_the_rollout():
    """Everything runs what is asked for, and is ready."""
    assert how(READY, DONE) is RolloutEnding.DONE
    assert how(READY, MOVING) is None
    assert how(READY, FAILED) is RolloutEnding.FAILED


def test_updated_does_not_need_ready_instances():
    """All instances have the template, and no others are left."""
    starting = look(
        asked(),
        (given(counters=NONE_READY),),
        (running(0, condition("Ready", "False", "Starting")),),
    )

    assert how(UPDATED, starting) is RolloutEnding.DONE
    assert how(UPDATED, MOVING) is None


def test_an_unreachable_city_is_not_known_to_be_updated():
    """Its instances are as they were last seen."""
    lost = condition("Available", "Unknown", "CellUnreachable", since=NOW)

    snapshot = look(asked(), (given(1, lost, counters=NONE_READY),), (running(),))

    assert how(UPDATED, snapshot) is None


def test_paused_needs_a_pause_and_cities_at_rest():
    """A city that has nothing to update is at rest as well."""
    held = look(asked(paused=True), (given(),), (running(image=OLD),))
    at_rest = look(asked(paused=True), (given(),), (running(),))

    assert how(PAUSED, held) is RolloutEnding.DONE
    assert how(PAUSED, at_rest) is RolloutEnding.DONE
    assert how(PAUSED, DONE) is None
    assert how(PAUSED, DONE, limit=MINUTE, later=MINUTE) is RolloutEnding.TIMED_OUT


def test_a_pause_ends_waiting_for_an_update():
    """It goes on only when the user resumes it; a condition may be reached all the same."""
    held = look(asked(paused=True), (given(),), (running(image=OLD),))

    assert how(READY, held) is RolloutEnding.PAUSED
    assert how(UPDATED, held) is RolloutEnding.PAUSED
    assert how(AVAILABLE, held) is None


def test_a_pause_of_other_cities_counts_for_these_alone():
    """A city that is not in the spec is not paused."""
    named = with_metadata(asked(), annotations={annotations.PAUSED_CITIES: "LHR"})

    assert how(PAUSED, look(named, (given(),), (running(),))) is None


def test_a_condition_counts_for_the_newest_spec():
    """A condition of an earlier generation says nothing."""
    old = asked(said=condition("Available", generation=1))
    new = asked(said=condition("Available", generation=2))
    unnumbered = asked(said=condition("Available"))
    off = asked(said=condition("Available", "False"))

    assert how(AVAILABLE, look(old)) is None
    assert how(AVAILABLE, look(new)) is RolloutEnding.DONE
    assert how(AVAILABLE, look(unnumbered)) is RolloutEnding.DONE
    assert how(Goal(GoalKind.CONDITION, "Available", "false"), look(off)) is RolloutEnding.DONE
    assert how(AVAILABLE, DONE) is None


def test_a_deletion_is_waited_for_until_the_workload_is_gone():
    """While the object is there it is not deleted; a failure does not hold up the deletion."""
    leaving = look(with_metadata(asked(), deletion_timestamp=NOW))

    assert how(DELETED, DONE) is None
    assert how(DELETED, FAILED) is None
    assert how(READY, leaving) is None
    assert how(DELETED, leaving, limit=MINUTE, later=MINUTE) is RolloutEnding.TIMED_OUT


def test_what_is_still_moving_at_the_limit_is_late():
    """The ending of the rollout decides what is reported."""
    assert how(READY, MOVING, limit=MINUTE, later=MINUTE) is RolloutEnding.TIMED_OUT
