"""The story of a Workload: which events follow from what was written."""

import pytest
from msgspec.structs import replace

from compute.api.compute import WorkloadDeployment
from compute.api.reasons import Reason
from compute.decide.workload import workload_events
from compute.decide.workload.history import Revision
from tests.support.compute import builders
from tests.support.compute.builders import NOW, condition

FIRST = Revision(rev=1, changes="initial deploy", actor="kubectl", template_hash="a")


def deployment(*conditions, city="DFW", **meta) -> WorkloadDeployment:
    made = builders.deployment(**meta)
    spec = replace(made.spec, city_code=city)
    return replace(made, spec=spec, status=replace(made.status, conditions=conditions))


def available(message="1 of 1 instances ready"):
    return condition("Available", "True", Reason.STABLE_INSTANCE_FOUND, message)


def lacking(reason, status="False", message="0 of 1 instances ready; no image"):
    return condition("Available", status, reason, message)


NEW = deployment()
SERVES = deployment(available())
STUCK = deployment(lacking(Reason.IMAGE_UNAVAILABLE))
STARTING = deployment(lacking(Reason.INSTANCES_PROVISIONING))
SHORT = deployment(
    available("1 of 2 instances ready"),
    condition("ReplicasReady", "False", Reason.QUOTA_EXCEEDED, "Not enough quota"),
)
HELD = deployment(
    available(), condition("Paused", "True", Reason.PROPAGATION_SUSPENDED, "Changes are held back")
)
WITHOUT_QUOTA = deployment(lacking(Reason.QUOTA_NOT_GRANTED))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param(NEW, SERVES, "CityAvailable", id="serves"),
        pytest.param(STARTING, SERVES, "CityAvailable", id="serves after a start"),
        pytest.param(STUCK, SERVES, "CityAvailable", id="recovered"),
        pytest.param(SHORT, SERVES, "CityAvailable", id="whole again"),
        pytest.param(SERVES, STUCK, "ImageUnavailable", id="stuck"),
        pytest.param(SERVES, SHORT, "QuotaExceeded", id="stuck in part"),
        pytest.param(SERVES, HELD, "PropagationSuspended", id="held back"),
        pytest.param(HELD, SERVES, "CityAvailable", id="held back no longer"),
        pytest.param(STUCK, WITHOUT_QUOTA, "QuotaExceeded", id="stuck otherwise"),
    ],
)
def test_a_transition_of_a_city_is_an_event(before, after, reason):
    """Trouble that does not pass by itself is a warning by its own reason; its end is no warning."""
    news = workload_events.city(before, after)

    assert news is not None
    assert (news.type == "Normal", news.reason) == (reason == "CityAvailable", reason)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(NEW, NEW, id="nothing said"),
        pytest.param(NEW, STARTING, id="starting"),
        pytest.param(SERVES, STARTING, id="starting again"),
        pytest.param(STUCK, STARTING, id="repaired and not there yet"),
        pytest.param(SERVES, SERVES, id="the same"),
        pytest.param(STUCK, STUCK, id="stuck as before"),
        pytest.param(WITHOUT_QUOTA, SHORT, id="one fact by two names"),
        pytest.param(SERVES, deployment(lacking(Reason.STOPPED)), id="scaled to zero"),
        pytest.param(SERVES, deployment(lacking("Odd")), id="a reason that is not known"),
        pytest.param(
            SERVES,
            deployment(lacking(Reason.IMAGE_UNAVAILABLE), deletion_timestamp=NOW),
            id="being removed",
        ),
    ],
)
def test_ordinary_progress_is_no_event(before, after):
    """What passes by itself, was reported before, or was chosen by the user causes no event."""
    assert workload_events.city(before, after) is None


def test_a_city_that_recovers_says_from_what():
    """The end of a trouble names it, on the deployment and on the Workload alike."""
    news = workload_events.city(STUCK, SERVES)

    assert news is not None
    assert news.note == "DFW is available after ImageUnavailable: 1 of 1 instances ready"
    assert workload_events.city_of_workload(SERVES, news) == news


@pytest.mark.parametrize(
    ("deployment", "reason", "expected"),
    [
        pytest.param(SERVES, Reason.IMAGE_UNAVAILABLE, True, id="serves in part"),
        pytest.param(SERVES, Reason.PROVISIONING, False, id="passes by itself"),
        pytest.param(STUCK, Reason.IMAGE_UNAVAILABLE, False, id="its status says so"),
        pytest.param(SHORT, Reason.QUOTA_EXCEEDED, False, id="reported already"),
        pytest.param(SHORT, Reason.IMAGE_UNAVAILABLE, True, id="another trouble"),
        pytest.param(
            deployment(available(), deletion_timestamp=NOW),
            Reason.IMAGE_UNAVAILABLE,
            False,
            id="being removed",
        ),
    ],
)
def test_an_instance_with_a_problem_causes_an_event_of_a_city_that_serves(
    deployment, reason, expected
):
    """A rollout that is stuck at its first Instance leaves the city available."""
    news = workload_events.part_of_city(deployment, condition("Ready", "False", reason, "no image"))

    assert (news is not None) is expected
    assert news is None or (news.reason, news.note) == (reason, "no image")


def test_a_workload_says_which_city_is_stuck():
    """It has several, and one reason for all of them, by which they are counted together."""
    news = workload_events.city(SERVES, STUCK)

    assert news is not None
    event = workload_events.city_of_workload(STUCK, news)
    assert (event.type, event.reason) == ("Warning", "CityStuck")
    assert event.note == "DFW is stuck (ImageUnavailable): 0 of 1 instances ready; no image"


@pytest.mark.parametrize(
    ("recorded", "before", "reason"),
    [
        pytest.param(FIRST, None, "Created", id="first"),
        pytest.param(
            Revision(rev=2, changes="image a -> b", template_hash="b"),
            FIRST,
            "RolloutStarted",
            id="another template",
        ),
        pytest.param(
            Revision(rev=2, changes="minReplicas 1 -> 2", template_hash="a"),
            FIRST,
            "SpecChanged",
            id="another scale",
        ),
        pytest.param(
            Revision(rev=3, changes="rollback to rev #1", template_hash="a"),
            Revision(rev=2, template_hash="b"),
            "Undone",
            id="back",
        ),
    ],
)
def test_a_revision_is_an_event(recorded, before, reason):
    """What it says is what the history says; who made the change is named where it is known."""
    news = workload_events.revision(before, recorded)

    by = " (by kubectl)" if recorded.actor else ""
    assert (news.type, news.reason) == ("Normal", reason)
    assert news.note == f"Revision {recorded.rev}: {recorded.changes}{by}"


def test_a_revision_that_is_served_everywhere_ends_its_rollout():
    """The history marks it once."""
    news = workload_events.proven(FIRST)

    assert (news.reason, news.note) == ("RolloutFinished", "Revision 1 is served in every city")


def test_a_split_names_its_cities_as_far_as_there_is_room():
    """One event for all of them, however many."""
    many = [deployment(city=f"C{number:02}") for number in range(12)]

    made, removed = workload_events.split(many), workload_events.withdrawn(many[:1])
    assert made is not None
    assert removed is not None
    assert made.note == (
        "Split into 12 deployments: C00, C01, C02, C03, C04, C05, C06, C07, C08, C09 and 2 more"
    )
    assert (removed.reason, removed.note) == ("DeploymentsRemoved", "Removing 1 deployment: C00")
    assert workload_events.split([]) is None
    assert workload_events.withdrawn([]) is None


def paused(where=""):
    return condition("Paused", "True", Reason.PAUSED, f"paused{where}: changes are held back")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param((), (available(),), None, id="never paused"),
        pytest.param((), (paused(),), ("Paused", "Paused: changes are held back"), id="paused"),
        pytest.param((paused(),), (available(), paused()), None, id="still paused"),
        pytest.param(
            (paused(),),
            (paused(" in DFW"),),
            ("Paused", "Paused in DFW: changes are held back"),
            id="paused elsewhere",
        ),
        pytest.param(
            (paused(),),
            (),
            ("Resumed", "No city is paused any more: template changes are applied"),
            id="resumed",
        ),
        pytest.param((condition("Paused", "False"),), (), None, id="not paused before"),
    ],
)
def test_a_pause_and_its_end_are_events(before, after, expected):
    """Once for each pause that begins, changes or ends."""
    event = workload_events.pause(before, after)
    assert (event and (event.type, event.reason, event.note)) == (
        expected and ("Normal", *expected)
    )
