"""Waiting after failures."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, strategies as st

from kubekit.runtime.queueing.backoff import RequestBackoff
from kubekit.runtime.requests import Request, cluster_name

EAST = cluster_name("east")
KEY = Request(EAST, "ns", "a")
OTHER = Request(EAST, "ns", "b")


class Fixed(Random):
    """Chance that always says the same."""

    def __init__(self, value):
        super().__init__(0)
        self._value = value

    def random(self):
        return self._value


def test_each_failure_doubles_the_wait_up_to_the_most():
    """The waits start at 5 ms, double, and end at the longest there is."""
    backoff = RequestBackoff(Fixed(0.0), most=0.05)
    assert [backoff.next(KEY) for _ in range(6)] == [0.005, 0.01, 0.02, 0.04, 0.05, 0.05]


def test_keys_that_fail_together_do_not_come_back_together():
    """Chance takes up to half of each wait away."""
    backoff = RequestBackoff(Random(7))
    waits = {backoff.next(Request(EAST, "ns", str(number))) for number in range(100)}
    assert len(waits) == 100


@given(st.integers(), st.floats(0.001, 10), st.floats(0.001, 2000), st.integers(1, 40))
def test_waits_never_shrink_before_the_most_and_never_exceed_it(seed, first, most, failures):
    """With any random numbers, a failing key waits no less than before, and not indefinitely."""
    backoff = RequestBackoff(Random(seed), first=first, most=most)
    waits = [backoff.next(KEY) for _ in range(failures)]
    assert all(0 < wait <= most for wait in waits)
    doubling = [w for n, w in enumerate(waits) if first * 2**n <= most]
    assert all(before <= after for before, after in pairwise(doubling))


def test_success_begins_anew():
    """A key that succeeded is as if it had never failed; others are not touched."""
    backoff = RequestBackoff(Fixed(0.0))
    for key in (KEY, KEY, OTHER):
        backoff.next(key)
    backoff.forget(KEY)
    backoff.forget(KEY)
    assert (backoff.failures(KEY), backoff.failures(OTHER), len(backoff)) == (0, 1, 1)
    assert backoff.next(KEY) == 0.005


def test_nothing_is_kept_of_keys_that_succeed():
    """Forgetting the last failing key leaves nothing, and a stranger may be forgotten."""
    backoff = RequestBackoff(Fixed(0.0))
    backoff.next(KEY)
    backoff.forget(KEY)
    backoff.forget(OTHER)
    assert len(backoff) == 0


def test_a_disengaged_cluster_is_forgotten():
    """Keys of a cluster that left do not stay in memory."""
    backoff = RequestBackoff(Fixed(0.0))
    backoff.next(KEY)
    elsewhere = Request(cluster_name("west"), "ns", "a")
    backoff.next(elsewhere)
    backoff.drop(EAST)
    backoff.drop(EAST)
    assert (backoff.failures(KEY), backoff.failures(elsewhere)) == (0, 1)


@pytest.mark.parametrize("failures", [5_000])
def test_failing_indefinitely_gives_a_number(failures):
    """Thousands of failures do not overflow."""
    backoff = RequestBackoff(Fixed(0.0))
    assert [backoff.next(KEY) for _ in range(failures)][-1] == 1000.0
