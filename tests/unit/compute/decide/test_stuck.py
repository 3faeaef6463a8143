"""Objects that need an operator."""

from datetime import timedelta

import pytest

from compute.decide.object_health import LATE, Stuck, stuck
from tests.support.compute.builders import NOW, condition, deployment, instance

LATER = NOW + LATE + timedelta(seconds=1)
WAITS = condition("Ready", "False", "NetworkNotFound", "there is no network x", since=NOW)
WELL = condition("Ready", "True", "Ready", since=NOW)


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ((WAITS,), "not Ready; NetworkNotFound: there is no network x"),
        ((), "nothing is known of Ready yet"),
    ],
)
def test_what_is_not_ready_for_minutes_is_stuck(conditions, why):
    """It is reported since when and why; a moment earlier it is only in progress."""
    assert stuck(instance(), conditions, "Ready", LATER) == Stuck(NOW, why)
    assert stuck(instance(), conditions, "Ready", NOW + LATE) is None


def test_what_is_ready_is_not_stuck():
    """However long that has been so."""
    assert stuck(instance(), (WELL,), "Ready", LATER) is None


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ((WELL,), "being deleted"),
        ((WAITS,), "being deleted; NetworkNotFound: there is no network x"),
    ],
)
def test_what_is_being_deleted_for_minutes_is_stuck(conditions, why):
    """Whether or not it still serves."""
    going = deployment(deletion_timestamp=NOW)
    assert stuck(going, conditions, "Ready", LATER) == Stuck(NOW, why)
    assert stuck(going, conditions, "Ready", NOW) is None
