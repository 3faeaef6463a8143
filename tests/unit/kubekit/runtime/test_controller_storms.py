"""Storms: passes that succeed, over and over, are seen all the same."""

import asyncio
from datetime import timedelta

import pytest

from kubekit.runtime.queueing.storms import StormDetector
from kubekit.runtime.reporting.counters import BusiestObject
from kubekit.runtime.requests import Request, Result
from tests.support.kubekit.runtime_builders import A, Reconciling, RuntimeWorld, run_story

ONE = Request(A, "default", "one")
STORM = "kubekit.runtime.queueing.storms"


def passing(storms: StormDetector, times: int, since: float, request: Request = ONE) -> None:
    for number in range(times):
        storms.passed(request, since + number * 0.1)


def test_a_storm_of_successful_passes_is_reported(tmp_path, caplog):
    """A controller that reconciles one object again and again is logged once in a minute."""

    async def reconcile(request: Request) -> Result:
        return Result(timedelta(seconds=0.2) if request.name == "one" else None)

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        await world.write("two")
        controller = world.controller(Reconciling(reconcile))
        world.start(controller)
        await asyncio.sleep(170)
        most, request = controller.counters.busiest.most(170.0)
        assert (most > 200, request) == (True, ONE)
        assert controller.counters.errors == 0

    run_story(tmp_path, story)
    warned = [record for record in caplog.records if record.name == STORM]
    assert [record.request for record in warned] == ["a/default/one"] * 3
    assert (warned[0].controller, warned[0].passes) == ("minder", 121)


def test_a_change_of_the_spec_is_a_reason_to_look(caplog):
    """An object whose spec changes while it is reconciled often is not logged."""
    generation = iter(range(1000))
    storms = StormDetector("minder", 20, lambda _: next(generation), BusiestObject())
    passing(storms, 100, since=0.0)
    assert caplog.records == []


def test_a_storm_is_reported_once_in_a_minute(caplog):
    """The next minute starts a new count."""
    storms = StormDetector("minder", 20, lambda _: 7, BusiestObject())
    passing(storms, 200, since=100.0)
    passing(storms, 15, since=160.0)
    assert len(caplog.records) == 1
    passing(storms, 100, since=161.5)
    assert len(caplog.records) == 2


def test_objects_are_counted_apart(caplog):
    """Many objects with a few passes each are no storm."""
    storms = StormDetector("minder", 20, lambda _: 7, BusiestObject())
    for number in range(100):
        passing(storms, 20, since=0.0, request=Request(A, "default", f"o{number}"))
    assert caplog.records == []


@pytest.mark.parametrize(
    "sources", [None, []], ids=["the object has gone", "no source of its kind"]
)
def test_a_storm_without_an_object_is_reported_too(tmp_path, caplog, sources):
    """What has no generation has not changed either."""

    async def reconcile(_: Request) -> Result:
        return Result(timedelta(seconds=0.2))

    async def story(world: RuntimeWorld) -> None:
        controller = world.controller(Reconciling(reconcile), sources)
        await asyncio.sleep(1)
        controller.queue.add(Request(A, "default", "nowhere"))
        world.start(controller)
        await asyncio.sleep(50)

    run_story(tmp_path, story)
    assert "a/default/nowhere" in [r.request for r in caplog.records if r.name == STORM]
