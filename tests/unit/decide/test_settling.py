"""What of an Instance is worth carrying on, and what will not last."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.decide.settling import MOMENT, is_settled, may_go_unsaid
from tests.builders import NOW, condition, instance

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
    ("gates", "before", "told"),
    [
        pytest.param(("Network", "Quota"), NEW, (WAITS, ASKED), id="asked for quota"),
        pytest.param(("Quota",), (), (WAITS, ASKED), id="says nothing yet"),
        pytest.param(("Network",), (WAITS, GRANTED), (WAITS, GRANTED), id="granted before"),
        pytest.param(("Network",), (WAITS,), (WAITS,), id="nobody speaks of quota"),
        pytest.param((), (WAITS, GRANTED), (STARTS, GRANTED), id="let through"),
    ],
)
def test_that_a_new_instance_waits_may_go_unsaid(gates, before, told):
    """For the rest of its first moment, and no longer."""
    new = instance(gates=gates, conditions=before)
    age = timedelta(seconds=0.5)
    assert may_go_unsaid(new, told, NOW) == MOMENT
    assert may_go_unsaid(new, told, NOW + age) == MOMENT - age
    assert may_go_unsaid(new, told, NOW + MOMENT) is None


@pytest.mark.parametrize(
    ("gates", "before", "told"),
    [
        pytest.param(("Quota",), NEW, (WAITS, GRANTED), id="quota was granted"),
        pytest.param(("Network", "Quota"), (WAITS, GRANTED), (WAITS, GRANTED), id="gate opens"),
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
            id="nobody answers",
        ),
        pytest.param(
            ("Network",),
            NEW,
            (condition("Ready", "False", "NetworkFailedToCreate"), ASKED),
            id="no network",
        ),
        pytest.param(("Quota",), (READY, ASKED), (WAITS, ASKED), id="served before"),
        pytest.param((), NEW, (ASKED,), id="nobody speaks of readiness"),
    ],
)
def test_what_is_news_is_said_at_once(gates, before, told):
    """An answer, a cause, and whatever a gate opens by."""
    assert may_go_unsaid(instance(gates=gates, conditions=before), told, NOW) is None


@pytest.mark.parametrize("born", [None, NOW + timedelta(seconds=1)], ids=["unknown", "to come"])
def test_an_age_that_cannot_be_told_keeps_nothing_back(born):
    """A clock that is ahead must not silence an Instance for as long as it is."""
    new = instance(gates=("Quota",), conditions=NEW, creation_timestamp=born)
    assert may_go_unsaid(new, (WAITS, ASKED), NOW) is None


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
def test_an_instance_whose_words_agree_is_settled(gates, conditions):
    """Nobody in its cell has anything to add."""
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
    """What follows from its other words is not said yet."""
    assert not is_settled(instance(gates=gates, conditions=conditions))


def test_an_instance_without_a_controller_has_no_gates():
    """It is judged by its conditions alone."""
    bare = instance(conditions=(*SERVES, READY))
    assert is_settled(replace(bare, spec=replace(bare.spec, controller=None)))
