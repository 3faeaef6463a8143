"""Reading and changing conditions."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.decide.conditions import find, is_true, put, status_of
from kubekit.api.meta import EPOCH
from tests.support.compute.builders import NOW, condition

LATER = NOW + timedelta(hours=1)

KINDS = ("Available", "Programmed", "Ready", "QuotaGranted")


def said(kind):
    return st.builds(
        condition,
        st.just(kind),
        st.sampled_from(("True", "False", "Unknown")),
        st.sampled_from(("Pending", "Available", "ImageUnavailable")),
        st.sampled_from(("", "one", "two")),
        since=st.sampled_from((EPOCH, NOW)),
        generation=st.integers(0, 3),
    )


lists = st.lists(st.sampled_from(KINDS).flatmap(said), unique_by=lambda c: c.type)


def test_finds_a_condition_by_its_type():
    """A condition is found by type, and None is returned where it is absent."""
    ready = condition("Ready")

    assert find((condition("Available"), ready), "Ready") == ready
    assert find((), "Ready") is None


@pytest.mark.parametrize(("status", "true"), [("True", True), ("False", False), ("Unknown", False)])
def test_only_true_is_true(status, true):
    """What is not known is not so."""
    conditions = (condition("Ready", status),)

    assert is_true(conditions, "Ready") is true
    assert status_of(conditions, "Ready") == status


def test_an_absent_condition_is_unknown():
    """Silence is neither yes nor no."""
    assert status_of((), "Ready") == "Unknown"
    assert not is_true((), "Ready")


def test_put_appends_what_was_never_said():
    """A new condition starts now, to the second, at the end of the list."""
    got = put((condition("Ready"),), (condition("Available"),), LATER.replace(microsecond=7))

    assert got == (condition("Ready"), condition("Available", since=LATER))


def test_put_moves_the_transition_time_with_the_status():
    """The transition time answers "since when", so it moves when the status does."""
    got = put((condition("Ready", "False", since=NOW),), (condition("Ready", "True"),), LATER)

    assert got == (condition("Ready", "True", since=LATER),)


def test_put_keeps_the_transition_time_of_a_standing_status():
    """A new reason or message for the same status does not restart the clock."""
    old = condition("Ready", "False", "Pending", since=NOW)

    got = put(
        (old,), (condition("Ready", "False", "ImageUnavailable", "no tag", since=LATER),), LATER
    )

    assert got == (condition("Ready", "False", "ImageUnavailable", "no tag", since=NOW),)


def test_w14_put_refreshes_the_observed_generation():
    """A verdict that still holds is a verdict on the newest generation."""
    old = condition("Ready", since=NOW, generation=1)

    got = put((old,), (condition("Ready", generation=2),), LATER)

    assert got == (condition("Ready", since=NOW, generation=2),)


def test_of_two_conditions_of_one_type_the_first_counts():
    """The wire allows doubles; what is read and what is kept must be the same one."""
    doubled = (condition("Ready", "False", since=NOW), condition("Ready", "True", since=EPOCH))

    assert put(doubled, (), LATER) == doubled[:1]
    assert put(doubled, (condition("Ready", "False"),), LATER) == doubled[:1]


@given(lists, lists)
def test_put_twice_is_put_once(conditions, news):
    """Saying the same again changes nothing, however much later: the loop comes to rest."""
    once = put(conditions, news, NOW)

    assert put(once, news, LATER) == once


@given(lists, lists)
def test_put_keeps_the_order(conditions, news):
    """What was there stays in its place; what is new follows."""
    old = [c.type for c in conditions]

    got = [c.type for c in put(conditions, news, NOW)]

    assert got == old + [c.type for c in news if c.type not in old]


@given(lists, lists)
def test_put_applies_the_changes_and_leaves_the_rest(conditions, news):
    """Every condition is the changed one if there is one, else as it was; times move iff statuses do."""
    old, new = {c.type: c for c in conditions}, {c.type: c for c in news}
    for got in put(conditions, news, LATER):
        before, after = old.get(got.type, got), new.get(got.type, old.get(got.type, got))
        stands = got.type in old and before.status == after.status

        since = before.last_transition_time if stands else LATER
        assert got == msgspec.structs.replace(after, last_transition_time=since)
