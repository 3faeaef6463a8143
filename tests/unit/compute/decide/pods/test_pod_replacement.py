"""When a Pod that has ended is replaced."""

from datetime import timedelta

from hypothesis import given, strategies as st

from compute.decide.pods.pod_replacement import due_in
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, condition, instance
from tests.support.compute.pod_statuses import AGE, pod


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def due(unavailable: float | None, age: float) -> float:
    """Of a Pod of this age, whose Instance has been unavailable for so long."""
    since = NOW - seconds(unavailable or 0)
    available = condition("Available", "True" if unavailable is None else "False", since=since)
    made = instance(conditions=(available,))
    found = with_metadata(pod(), creation_timestamp=NOW - seconds(age))
    return due_in(made, found, NOW).total_seconds()


def test_a_pod_that_served_is_replaced_at_once():
    assert due(None, AGE.total_seconds()) <= 0
    assert due(0, AGE.total_seconds()) <= 0


def test_a_pod_that_was_refused_is_kept_for_a_moment():
    assert due(0, 1) == 4
    assert due(None, 1) == 4


def test_a_pod_is_kept_for_as_long_as_there_was_trouble_before_it():
    assert due(60, 20) == 20
    assert due(60, 40) == -20


def test_the_pauses_have_a_limit():
    assert due(86_400, 10) == 290


def test_without_a_time_it_is_as_if_it_was_new():
    assert due_in(instance(), with_metadata(pod(), creation_timestamp=None), NOW) == seconds(5)


@given(st.integers(5, 600))
def test_attempts_become_fewer(period):
    """If every Pod fails at once, there are no more than some attempts in ten minutes."""
    attempts, created = 0, 0.0
    while created <= period:
        attempts += 1
        held = min(max(created, 5.0), 300.0)
        assert due(period, period - created) == created + held - period
        created += held
    assert attempts <= 9
