import msgspec
import pytest

from compute.api.compute import Workload, WorkloadStatus
from compute.api.reasons import Reason
from compute.decide.explain.next_steps import best_command, commands, without_undo
from compute.decide.health import (
    CityState,
    HealthStatus,
    city_healths,
    severity,
    workload_health,
    worst_first,
)
from compute.decide.progress import Rollout, observe
from tests.support.compute.builders import NOW, condition, placement
from tests.support.compute.progress_builders import (
    BROKEN,
    LATER,
    OLD,
    asked,
    given,
    look,
    not_ready,
    running,
    unavailable,
)

AVAILABLE = condition("Available")
UNREACHABLE = condition(
    "Available", "Unknown", "CellUnreachable", "Cell lhr has not reported since noon", since=NOW
)
TWO_CITIES = placement("home", "DFW", "LHR")


def available(workload: Workload) -> Workload:
    """The Workload with the condition Available True."""
    return msgspec.structs.replace(
        workload,
        status=WorkloadStatus(
            observed_generation=workload.status.observed_generation, conditions=(AVAILABLE,)
        ),
    )


def judged(of, deployments, instances, before=None, at=NOW):
    """The states of the cities, and the health with its sentence."""
    snapshot = look(of, tuple(deployments), tuple(instances), at)
    rollout = observe(snapshot, before)
    cities = city_healths(rollout, snapshot.deployments, snapshot.instances)
    verdict = workload_health(of, cities)
    return [city.state for city in cities], verdict.health, verdict.message


def test_all_ready_is_available():
    states, health, message = judged(available(asked()), [given(1, AVAILABLE)], [running()])

    assert (states, health) == ([CityState.DONE], HealthStatus.AVAILABLE)
    assert message == "1 of 1 instance ready in DFW"


def test_a_crash_after_the_rollout_is_a_matter_of_health():
    """The rollout stays done; the city is down, or degraded while other Instances serve."""
    two = available(asked(placement(replicas=2)))
    good = [given(2, AVAILABLE)], [running(0), running(1)]
    before = observe(look(two, tuple(good[0]), tuple(good[1])))
    ill = [given(2, AVAILABLE)], [running(0), running(1, BROKEN)]
    dead = (
        [given(2, unavailable("ImageUnavailable", "no such image"))],
        [running(0, BROKEN), running(1, BROKEN)],
    )

    def states(deployments, instances):
        snapshot = look(two, tuple(deployments), tuple(instances))
        rollout = observe(snapshot, before)
        (city,) = city_healths(rollout, snapshot.deployments, snapshot.instances)
        return city.state, city.row.reason, workload_health(two, [city]).health

    counted = [given(2, AVAILABLE, counters={"ready_replicas": 1})]
    assert states(counted, ill[1]) == (
        CityState.DEGRADED,
        "ImageUnavailable",
        HealthStatus.DEGRADED,
    )
    assert states(*dead) == (CityState.DOWN, "ImageUnavailable", HealthStatus.UNAVAILABLE)


def test_an_unreachable_city_is_named_and_other_cities_still_serve():
    of = available(asked(TWO_CITIES))
    lost = given(1, UNREACHABLE, city="LHR")

    states, health, message = judged(
        of, [given(1, AVAILABLE), lost], [running(), running(city="LHR")]
    )

    assert states == [CityState.DONE, CityState.UNREACHABLE]
    assert (health, message) == (HealthStatus.DEGRADED, "LHR unreachable")
    (state,), alone, _ = judged(
        available(asked(placement("home", "LHR"))), [lost], [running(city="LHR")]
    )
    assert (state, alone) == (CityState.UNREACHABLE, HealthStatus.UNKNOWN)


def test_several_problems_are_named_with_the_worst_first():
    of = asked(placement("home", "DFW", "LHR", "SIN"))
    blocked = not_ready("QuotaExceeded", "no quota", since=NOW)
    deployments = [given(), given(city="LHR"), given(1, UNREACHABLE, city="SIN")]
    instances = [running(0, BROKEN), running(0, blocked, city="LHR")]
    before = observe(look(of, tuple(deployments), tuple(instances)))

    states, health, message = judged(of, deployments, instances, before, LATER)

    assert states == [CityState.FAILED, CityState.BLOCKED, CityState.UNREACHABLE]
    assert health is HealthStatus.UNAVAILABLE
    assert message == "DFW failed; LHR blocked; SIN unreachable"


@pytest.mark.parametrize(
    ("condition_status", "expected"),
    [
        ("True", HealthStatus.AVAILABLE),
        ("False", HealthStatus.UNAVAILABLE),
        ("Unknown", HealthStatus.UNKNOWN),
    ],
)
def test_a_paused_rollout_is_judged_by_what_serves(condition_status, expected):
    status = condition("Available", condition_status)
    of = asked(TWO_CITIES, paused=True, said=status)

    states, health, message = judged(
        of,
        [given(image=OLD), given(city="LHR", image=OLD)],
        [running(image=OLD), running(city="LHR", image=OLD)],
    )

    assert states == [CityState.PAUSED, CityState.PAUSED]
    assert health is expected
    assert message == "2 of 2 instances ready in 2 cities; paused in DFW, LHR"


def test_a_rollout_on_its_way_progresses():
    states, health, _ = judged(asked(), [], [])

    assert (states, health) == ([CityState.QUEUED], HealthStatus.PROGRESSING)


def test_a_deletion_says_what_is_left():
    of = asked()
    leaving = msgspec.structs.replace(
        of, metadata=msgspec.structs.replace(of.metadata, deletion_timestamp=NOW)
    )

    _, health, message = judged(leaving, [given()], [running()])

    assert (health, message) == (HealthStatus.DELETING, "being deleted, 1 instance left")


def test_the_worst_comes_first():
    of = asked(TWO_CITIES)
    snapshot = look(of, (given(), given(1, UNREACHABLE, city="LHR")), (running(),))
    cities = city_healths(observe(snapshot), snapshot.deployments, snapshot.instances)

    assert [city.row.city for city in worst_first(cities)] == ["LHR", "DFW"]
    assert min(HealthStatus, key=severity) is HealthStatus.UNAVAILABLE


def test_no_cities_are_no_problem():
    of = available(asked())

    assert (
        workload_health(of, city_healths(Rollout((), NOW), (), ())).health is HealthStatus.AVAILABLE
    )


STEP = "Run `compute deploy web --image IMAGE`, or `compute rollout undo web --city DFW`."


def test_the_command_of_a_next_step_is_one_that_can_be_typed():
    assert commands(STEP) == (
        "compute deploy web --image IMAGE",
        "compute rollout undo web --city DFW",
    )
    assert best_command(STEP, cities=("DFW",)) == "compute rollout undo web --city DFW"
    assert best_command(without_undo(STEP), cities=("DFW",)) == "compute deploy web --image IMAGE"
    assert best_command("Wait.") == ""


def test_an_undo_that_would_be_refused_is_left_out_of_every_next_step():
    for reason in Reason:
        step = without_undo(reason.next_step)
        assert "rollout undo" not in step
        assert step.count("`") % 2 == 0
        assert step.endswith((".", reason.next_step))
