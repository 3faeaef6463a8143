"""The interval between two passes of an object that aggregates many."""

import asyncio

import pytest

from kubekit.runtime.queueing.reconcile_throttle import ReconcileThrottle
from kubekit.runtime.requests import Request, cluster_name
from tests.support.kubekit.virtual_time import run

WEB = Request(cluster_name("cell-dfw"), "ns-1", "web-home-dfw")


@pytest.mark.parametrize(
    ("many", "to_count", "seconds"),
    [
        pytest.param(100, False, 0.1, id="few"),
        pytest.param(100, True, 0.5, id="few, and only to count"),
        pytest.param(1000, False, 0.25, id="many"),
        pytest.param(1000, True, 2.0, id="many, and only to count"),
    ],
)
def test_the_next_look_waits_by_the_number_of_the_many(many, to_count, seconds):
    """A rollout goes on four times a second at any size; what is merely counted waits longer."""

    async def story():
        throttle = ReconcileThrottle()
        assert throttle.wait(WEB) is None
        throttle.reconciled(WEB, many, to_count=to_count)
        early = throttle.wait(WEB)
        assert early is not None
        await asyncio.sleep(seconds)
        return early.total_seconds(), throttle.wait(WEB)

    early, left = run(story())
    assert 0.75 * seconds <= early <= seconds
    assert left is None


def test_what_began_together_is_not_looked_at_together():
    """A hundred cities that all come up at once are reconciled one after the other."""

    async def story():
        throttle = ReconcileThrottle()
        cities = [Request(cluster_name(f"cell-{n}"), "ns-1", "web") for n in range(100)]
        for city in cities:
            throttle.reconciled(city, 1000, to_count=True)
        return {throttle.wait(city) for city in cities}

    assert len(run(story())) == 100


@pytest.mark.parametrize("to_count", [True, False])
def test_what_sums_up_a_few_waits_for_nothing(to_count):
    """To find out that it is too early would cost as much, and come on top."""

    async def story():
        throttle = ReconcileThrottle()
        throttle.reconciled(WEB, 100, to_count=to_count)
        throttle.reconciled(WEB, 9, to_count=to_count)
        return throttle.wait(WEB)

    assert run(story()) is None


def test_what_rested_together_is_not_woken_together():
    """A change that reaches ten cities at once has their looks within a moment, not all at once."""

    async def story():
        throttle = ReconcileThrottle(staggered=True)
        cities = [Request(cluster_name(f"cell-{n}"), "ns-1", "web") for n in range(10)]
        for city in cities:
            throttle.reconciled(city, 1000, to_count=True)
        await asyncio.sleep(60)
        first = [throttle.wait(city) for city in cities]
        await asyncio.sleep(0.5)
        return first, [throttle.wait(city) for city in cities]

    first, then = run(story())
    waits = sorted(wait.total_seconds() for wait in first if wait is not None)
    assert len(set(waits)) == 10
    assert waits[-1] <= 0.5
    assert then == [None] * 10


@pytest.mark.parametrize(
    ("to_count", "rest"),
    [
        pytest.param(False, 60.0, id="there was more to do than to count"),
        pytest.param(True, 0.0, id="it was waited for"),
    ],
)
def test_a_look_that_is_due_is_not_put_off(to_count, rest):
    async def story():
        throttle = ReconcileThrottle(staggered=True)
        throttle.reconciled(WEB, 1000, to_count=to_count)
        early = throttle.wait(WEB)
        assert early is not None
        await asyncio.sleep(early.total_seconds() + rest)
        return throttle.wait(WEB)

    assert run(story()) is None
