"""The lines of `compute wait`."""

from datetime import timedelta

from compute.decide.progress import RolloutEnding, observe
from compute.decide.progress.goals import parse
from compute.views.rollouts import rollout_view
from compute.views.waits import gone_view, lost_view, wait_view
from tests.support.compute.builders import NOW
from tests.support.compute.progress_builders import BROKEN, asked, given, look, running

READY = parse("ready")
BROKEN_CITY = look(
    asked(),
    (given(counters={"ready_replicas": 0}),),
    (running(0, BROKEN),),
    NOW + timedelta(minutes=1),
)


def line(how, goal=READY, snapshot=BROKEN_CITY):
    rollout = rollout_view(snapshot, observe(snapshot), snapshot.at)
    return wait_view("web", goal, how, rollout)


def test_a_goal_that_is_reached_needs_no_next_command():
    """The line repeats the goal as a phrase."""
    view = line(RolloutEnding.DONE)

    assert (view.reached, view.text, view.next, view.city) == (True, "is ready", "", "")


def test_a_failure_names_the_city_and_the_cause():
    """The reason and the next command are those of the worst city."""
    view = line(RolloutEnding.FAILED)

    assert view.text == "failed in DFW: web-home-dfw-0: manifest unknown"
    assert (view.city, view.reason, view.reached) == ("DFW", "ImageUnavailable", False)
    assert view.next.startswith("compute ")


def test_other_endings_are_sentences():
    """Each says what is known."""
    why = "in DFW: web-home-dfw-0: manifest unknown"

    assert line(RolloutEnding.PAUSED).text == f"is paused {why}"
    assert line(RolloutEnding.BLOCKED).text == f"is blocked {why}"
    assert line(RolloutEnding.UNKNOWN).text == f"has an unknown state {why}"
    assert line(RolloutEnding.TIMED_OUT, parse("updated")).text == f"is not updated yet {why}"


def test_a_goal_may_be_out_of_reach_where_all_is_well():
    """A rollout that is done has no city to name."""
    done = look(asked(), (given(),), (running(),))
    view = line(RolloutEnding.TIMED_OUT, parse("paused"), done)

    assert (view.text, view.next) == ("is not paused yet", "compute status web")


def test_a_workload_that_is_gone():
    """That is the goal of a deletion, and the end of all others."""
    assert gone_view("web", parse("deleted"), waited=False).text == "is deleted"
    assert gone_view("web", READY, waited=False).text == "does not exist"
    assert gone_view("web", READY, waited=True).text == "was deleted by another client"


def test_a_server_that_is_lost():
    """Nothing is known of the workload then."""
    view = lost_view("web", READY)

    assert (view.state, view.reached) == ("unknown", False)
