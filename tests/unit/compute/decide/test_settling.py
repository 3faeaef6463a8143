"""What of an Instance is worth carrying on, and what will not last."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.decide.settling import LONGEST, SHORTEST, StartupTime, is_settled, report_delay
from tests.support.compute.builders import NOW, condition, instance

WAITS = condition("Ready", "False", "SchedulingGatesPresent", generation=1)
STARTS = condition("Ready", "False", "PendingProgramming", generation=1)
ASKED = condition("QuotaGranted", "Unknown", "PendingEvaluation", generation=1)
GRANTED = condition("QuotaGranted", "True", "QuotaAvailable", generation=1)
DENIED = condition("QuotaGranted", "False", "QuotaExceeded", generation=1)
SERVES = (condition("Programmed"), condition("Available"))
READY = condition("Ready", generation=1)
NEW = (
    condition("Ready", "Unknown", "Pending"),
    condition("QuotaGranted", "Unknown", "PendingEvaluation"),
)


@pytest.mark.parametrize(
    ("gates", "before", "conditions"),
    [
        pytest.param(("Network", "Quota"), NEW, (WAITS, ASKED), id="asked for quota"),
        pytest.param(("Quota",), (), (WAITS, ASKED), id="says nothing yet"),
        pytest.param(("Network",), (WAITS, GRANTED), (WAITS, GRANTED), id="granted before"),
        pytest.param(("Network",), (WAITS,), (WAITS,), id="no quota condition"),
        pytest.param((), (WAITS, GRANTED), (STARTS, GRANTED), id="let through"),
        pytest.param((), NEW, (STARTS, GRANTED), id="granted and let through"),
    ],
)
def test_that_a_new_instance_waits_need_not_be_reported(gates, before, conditions):
    """For the rest of its first moment, and no longer."""
    new = instance(gates=gates, conditions=before)
    age = timedelta(seconds=0.5)
    assert report_delay(new, conditions, NOW) == SHORTEST
    assert report_delay(new, conditions, NOW + age) == SHORTEST - age
    assert report_delay(new, conditions, NOW + SHORTEST) is None


@pytest.mark.parametrize(
    ("gates", "before", "conditions"),
    [
        pytest.param(
            ("Quota",),
            NEW,
            (condition("Ready", "False", "PendingQuota"), DENIED),
            id="quota was denied",
        ),
        pytest.param(
            ("Quota",),
            NEW,
            (WAITS, condition("QuotaGranted", "Unknown", "QuotaBackendUnavailable")),
            id="no answer",
        ),
        pytest.param(
            ("Network",),
            NEW,
            (condition("Ready", "False", "NetworkFailedToCreate"), ASKED),
            id="no network",
        ),
        pytest.param(("Quota",), (READY, ASKED), (WAITS, ASKED), id="served before"),
        pytest.param((), NEW, (ASKED,), id="no Ready condition"),
    ],
)
def test_a_change_of_state_is_reported_at_once(gates, before, conditions):
    """A bad answer, and a cause."""
    assert report_delay(instance(gates=gates, conditions=before), conditions, NOW) is None


def test_what_takes_no_longer_than_it_took_the_others_may_go_unsaid():
    """Where many start at once each of them takes longer, which is not reported."""
    usual, slow = StartupTime(), timedelta(seconds=7)
    usual.record(slow)
    new = instance(gates=("Quota",), conditions=NEW)

    assert usual.settling_time == 2 * slow
    assert report_delay(new, (WAITS, ASKED), NOW + slow, usual.settling_time) == slow
    assert report_delay(new, (WAITS, ASKED), NOW + 2 * slow, usual.settling_time) is None


def test_what_is_usual_comes_back_to_a_moment():
    """Once they start quickly again, one that does not is reported as soon as before."""
    usual = StartupTime()
    usual.record(timedelta(seconds=30))
    for _ in range(60):
        usual.record(timedelta(seconds=0.1))

    assert usual.settling_time == SHORTEST


@pytest.mark.parametrize(
    "age", [timedelta(seconds=-1), LONGEST + SHORTEST], ids=["to come", "ages"]
)
def test_what_no_clock_agrees_on_is_not_usual(age):
    """An age that cannot be true, or is that of a trouble, changes nothing."""
    usual = StartupTime()
    usual.record(age)

    assert usual.settling_time == SHORTEST


def test_nothing_is_kept_back_for_longer_than_a_minute():
    """However slow the others were."""
    usual = StartupTime()
    usual.record(LONGEST)

    assert usual.settling_time == LONGEST


@pytest.mark.parametrize("born", [None, NOW + timedelta(seconds=1)], ids=["unknown", "to come"])
def test_an_unknown_age_holds_nothing_back(born):
    """A clock that is ahead must not silence an Instance for as long as it is."""
    new = instance(gates=("Quota",), conditions=NEW, creation_timestamp=born)
    assert report_delay(new, (WAITS, ASKED), NOW) is None


@pytest.mark.parametrize(
    ("gates", "conditions"),
    [
        pytest.param((), (*SERVES, READY, GRANTED), id="serves"),
        pytest.param((), (*SERVES, READY), id="serves where there is no quota"),
        pytest.param(("Network", "Quota"), (WAITS, ASKED), id="waits for both"),
        pytest.param(("Network",), (WAITS, GRANTED), id="waits for its network"),
        pytest.param(("Quota",), (WAITS, DENIED), id="is denied"),
        pytest.param((), (condition("Ready", "False", "Pending", generation=1),), id="starts"),
        pytest.param(("Network",), (*SERVES, WAITS), id="is held back"),
    ],
)
def test_an_instance_whose_conditions_agree_is_settled(gates, conditions):
    """Its cell has nothing to add."""
    assert is_settled(instance(gates=gates, conditions=conditions))


@pytest.mark.parametrize(
    ("gates", "conditions"),
    [
        pytest.param((), (), id="not judged"),
        pytest.param((), (*SERVES, replace(READY, observed_generation=0)), id="judged before"),
        pytest.param(("Quota",), (WAITS, GRANTED), id="its gate opens"),
        pytest.param((), (*SERVES, WAITS, GRANTED), id="serves, and does not say so"),
        pytest.param((), (condition("Programmed"), READY), id="says so, and does not serve"),
        pytest.param((), (*SERVES, READY, DENIED), id="serves, and has lost its quota"),
        pytest.param(("Network",), (*SERVES, READY), id="serves, and is held back"),
    ],
)
def test_an_instance_that_is_about_to_be_written_is_not_settled(gates, conditions):
    """What follows from its other conditions is not reported yet."""
    assert not is_settled(instance(gates=gates, conditions=conditions))


def test_an_instance_without_a_controller_has_no_gates():
    """It is judged by its conditions alone."""
    bare = instance(conditions=(*SERVES, READY))
    assert is_settled(replace(bare, spec=replace(bare.spec, controller=None)))
