"""Reasons and conditions as people look them up."""

import pytest

from compute.api.conditions import ConditionType
from compute.api.reasons import NeighbourReason, Owner, Reason
from compute.views.explain.glossary import (
    OWNERS,
    condition_named,
    condition_names,
    condition_view,
    reason_named,
    reason_names,
)


@pytest.mark.parametrize("reason", [*Reason, *NeighbourReason])
def test_every_reason_can_be_explained(reason):
    """In any letter case, with its meaning, who acts, and what to do."""
    view = reason_named(reason.swapcase())

    assert view is not None
    assert view.reason == reason
    assert view.meaning
    assert view.next_step
    assert view.acts == OWNERS[view.owner]


def test_every_owner_has_words():
    """So no view fails for a new one."""
    assert set(OWNERS) == set(Owner)


def test_a_reason_names_its_conditions_and_what_it_means_for_a_rollout():
    """A reader learns where it is seen, and whether waiting helps."""
    view = reason_named("ImageUnavailable")

    assert view is not None
    assert "Ready (Instance)" in view.conditions
    assert view.notes == ("Waiting does not help, so a rollout that meets it fails.",)
    assert view.set_by == "compute"


def test_a_reason_of_a_neighbour_says_so():
    """Its writer is another component."""
    view = reason_named("NoClusterFit")

    assert view is not None
    assert view.set_by == "a service that compute works with"


@pytest.mark.parametrize("name", condition_names())
def test_every_condition_can_be_explained(name):
    """In any letter case, with the objects that have it."""
    view = condition_named(name.upper())

    assert view is not None
    assert view.condition == name
    assert view.objects


def test_a_condition_lists_its_reasons_for_each_kind():
    """Ready means one thing, with other reasons on other objects."""
    view = condition_view(ConditionType.QUOTA_GRANTED)

    (use,) = view.objects
    assert use.on == "Instance"
    assert "QuotaExceeded" in use.reasons


def test_an_unknown_word_has_no_meaning():
    """Neither as a reason nor as a condition."""
    assert reason_named("Sunny") is None
    assert condition_named("Sunny") is None


def test_names_are_sorted_and_unique():
    """A reason that two components set is one word."""
    assert list(reason_names()) == sorted(set(reason_names()))
    assert list(condition_names()) == sorted(set(condition_names()))
