"""A controller: what follows from how a pass ends."""

import asyncio
import logging
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from opentelemetry.trace import get_current_span

from compute.api.annotations import TRACEPARENT
from kubekit.api.errors import (
    NAMESPACE_TERMINATING,
    AlreadyExists,
    Conflict,
    Forbidden,
    Unavailable,
)
from kubekit.api.status import StatusCause, StatusDetails
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.queueing.backoff import RequestBackoff
from kubekit.runtime.queueing.outcomes import PassOutcomes
from kubekit.runtime.reconciling.write_conflicts import WriteConflictLoop
from kubekit.runtime.reporting.counters import ControllerCounters, PassResult
from kubekit.runtime.reporting.tracing import Tracing
from kubekit.runtime.requests import DONE, NotEngaged, Request, Result, TerminalError
from tests.support.kubekit import virtual_time
from tests.support.kubekit.runtime_builders import (
    A,
    B,
    Reconciling,
    RuntimeWorld,
    annotated,
    config,
    run_story,
)

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PASSES = "kubekit.runtime.queueing.pass_log"


def failing(*errors: BaseException) -> Reconciling:
    """A reconciler that fails in these ways, one after the other, at one object; then it is well."""
    left = list(errors)

    async def reconcile(request: Request) -> Result:
        if request.name == "one" and left:
            raise left.pop(0)
        return DONE

    return Reconciling(reconcile)


def run_controller(directory, reconciler, seconds=600.0, settings=None):
    """The counters of a controller after it has worked on one object for a while."""
    kept = []

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(reconciler, settings=settings or ControllerSettings())
        world.start(controller)
        await asyncio.sleep(seconds)
        kept.append(controller.counters)

    run_story(directory, story)
    return kept[0]


def lines(caplog):
    """The lines that passes of the object left in the log."""
    return [r for r in caplog.records if r.name == PASSES and r.request == "a/default/one"]


def test_every_object_is_looked_at_once(tmp_path):
    """Objects that exist when a controller starts, and later ones, get one pass each."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        reconciler = Reconciling()
        world.start(world.controller(reconciler))
        await asyncio.sleep(1)
        await world.write("two")
        await asyncio.sleep(600)
        assert reconciler.names.count("one") == 1
        assert reconciler.names.count("two") == 1

    run_story(tmp_path, story)


def test_an_object_is_looked_at_again_after_the_time_it_asked_for(tmp_path):
    """Passes that ask for ten seconds come every ten seconds."""
    times = []

    async def reconcile(_: Request) -> Result:
        times.append(round(asyncio.get_running_loop().time()))
        return Result(timedelta(seconds=10))

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(Reconciling(reconcile))
        world.start(controller)
        await asyncio.sleep(35)
        assert controller.counters.results[PassResult.REQUEUE_AFTER] == len(times)

    run_story(tmp_path, story)
    assert sorted(set(times)) == [0, 10, 20, 30]


def test_asking_for_a_look_at_once_does_not_stop_the_clock(tmp_path):
    """A pass that wants another one now still lets time go by in between."""

    async def reconcile(_: Request) -> Result:
        return Result(timedelta(0))

    reconciler = Reconciling(reconcile)
    run_controller(tmp_path, reconciler, seconds=0.5)
    assert 10 < reconciler.names.count("one") <= 501


@pytest.mark.parametrize("race", [Conflict, AlreadyExists])
def test_a_lost_race_is_tried_again_quickly_and_is_no_error(tmp_path, race, caplog):
    """Another writer was faster: that is no error, and the next pass is soon."""
    caplog.set_level(logging.INFO)
    reconciler = failing(race("moved on"), race("moved on"))
    counters = run_controller(tmp_path, reconciler, seconds=0.5)

    assert [line.result for line in lines(caplog)] == ["race", "race", "done"]
    assert (counters.errors, counters.panics) == (0, 0)
    assert counters.results[PassResult.REQUEUE] == 2


def test_a_creation_in_a_terminating_namespace_is_no_error(tmp_path, caplog):
    """It is tried again with backoff: the object that asks for it will be gone soon."""
    caplog.set_level(logging.INFO)
    counters = run_controller(tmp_path, failing(*(terminating() for _ in range(100))))

    assert {line.result for line in lines(caplog)} == {"namespace terminating"}
    assert 5 < counters.results[PassResult.REQUEUE] < 20
    assert (counters.errors, counters.panics) == (0, 0)


def terminating():
    """The refusal of a creation in a namespace that is being deleted."""
    causes = (StatusCause(reason=NAMESPACE_TERMINATING),)
    return Forbidden("it is being terminated", StatusDetails(causes=causes))


def test_a_race_that_is_always_lost_becomes_an_error(tmp_path):
    """A name that another owns is taken every time, and must be seen."""
    reconciler = failing(*(AlreadyExists("taken") for _ in range(100)))
    counters = run_controller(tmp_path, reconciler)

    assert counters.results[PassResult.REQUEUE] == 5
    assert 5 < counters.errors < 20
    assert counters.panics == 0


def test_races_are_counted_in_a_row(tmp_path):
    """A pass that succeeds resets the count."""

    async def reconcile(_: Request) -> Result:
        if len(reconciler.asked) % 4:
            raise Conflict("moved on")
        return Result(timedelta(seconds=1))

    reconciler = Reconciling(reconcile)
    counters = run_controller(tmp_path, reconciler, seconds=60)

    assert counters.errors == 0
    assert counters.results[PassResult.REQUEUE] > 20


def test_an_error_is_tried_again_after_a_time_that_doubles(tmp_path):
    """Ten failures in a row take seconds, not minutes, and then it is well."""
    reconciler = failing(*(Unavailable("away") for _ in range(10)))
    counters = run_controller(tmp_path, reconciler)

    assert counters.errors == 10
    assert counters.results[PassResult.SUCCESS] >= 1
    assert counters.panics == 0


def test_success_forgets_the_failures(tmp_path):
    """After a pass that went well the next failure waits as shortly as the first."""

    async def reconcile(_: Request) -> Result:
        if len(reconciler.asked) % 3:
            raise OSError("away")
        return Result(timedelta(seconds=1))

    reconciler = Reconciling(reconcile)
    run_controller(tmp_path, reconciler, seconds=30)
    assert len(reconciler.asked) > 60


def test_a_terminal_error_is_not_tried_again(tmp_path, caplog):
    """Only a change of the object brings another pass."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        reconciler = failing(TerminalError("no such city"))
        controller = world.controller(reconciler)
        world.start(controller)
        await asyncio.sleep(3600)
        assert reconciler.names.count("one") == 1
        assert (controller.counters.terminal, controller.counters.errors) == (1, 1)
        await world.write("one", changed="yes")
        await asyncio.sleep(1)
        assert reconciler.names.count("one") == 2

    run_story(tmp_path, story)
    assert lines(caplog)[0].error == "TerminalError: no such city"


def test_a_pass_that_needs_a_cluster_which_has_gone_is_dropped_quietly(tmp_path, caplog):
    """It is neither an error nor tried again."""
    caplog.set_level(logging.INFO)
    reconciler = failing(NotEngaged(A))
    counters = run_controller(tmp_path, reconciler)

    assert counters.errors == 0
    assert [(line.result, line.levelname) for line in lines(caplog)] == [("not engaged", "INFO")]


def test_a_fight_is_left_alone_for_as_long_as_it_says(tmp_path, caplog):
    """The request is requeued for when the object may be written again."""
    caplog.set_level(logging.INFO)
    reconciler = failing(WriteConflictLoop("two write it", 300.0))
    run_controller(tmp_path, reconciler, seconds=299)
    assert reconciler.names.count("one") == 1
    assert lines(caplog)[0].requeue_after == 300.0


@pytest.mark.parametrize(
    ("parts", "result"),
    [
        ([NotEngaged(A), TerminalError("never")], "terminal error"),
        ([TerminalError("never"), Conflict("moved on")], "race"),
        ([Conflict("moved on"), Conflict("moved on")], "race"),
        ([Conflict("moved on"), Unavailable("away")], "error"),
        ([Forbidden("no"), Unavailable("away")], "error"),
        ([NotEngaged(A), NotEngaged(B)], "not engaged"),
    ],
)
def test_of_a_group_the_part_decides_that_asks_most_for_another_try(
    tmp_path, parts, result, caplog
):
    """What several tasks of a pass raise together is judged by each of them."""
    caplog.set_level(logging.INFO)
    run_controller(tmp_path, failing(ExceptionGroup("tasks", parts)))
    assert lines(caplog)[0].result == result


def test_a_terminating_namespace_hides_no_other_error_of_a_group(tmp_path, caplog):
    """What is no error by itself does not excuse what is one."""
    caplog.set_level(logging.INFO)
    run_controller(tmp_path, failing(ExceptionGroup("tasks", [terminating(), Unavailable("away")])))
    assert lines(caplog)[0].result == "error"


def test_each_pass_leaves_one_line(tmp_path, caplog):
    """The line has the controller, the request, the outcome, the time and the writes."""
    caplog.set_level(logging.DEBUG)
    run_controller(tmp_path, failing(Unavailable("away")))
    first, second = lines(caplog)

    assert (first.controller, first.result, first.error) == ("minder", "error", "Unavailable: away")
    assert first.levelname == "ERROR"
    assert first.requeue_after < 0.01
    assert (second.result, second.writes, second.levelname) == ("done", 0, "INFO")
    assert getattr(second, "pass") > getattr(first, "pass")
    assert second.seconds == 0.0
    assert not hasattr(second, "requeue_after")


def test_the_level_of_quiet_passes_can_be_set(tmp_path, caplog):
    """With level DEBUG only passes that failed are logged at INFO."""
    caplog.set_level(logging.INFO)
    run_controller(
        tmp_path, failing(Unavailable("away")), settings=ControllerSettings(level=logging.DEBUG)
    )
    assert [line.result for line in lines(caplog)] == ["error"]


def test_a_traceback_is_shown_once_for_each_place(tmp_path, caplog):
    """The second failure of the same kind in the same place has a line, and no traceback."""

    async def reconcile(_: Request) -> Result:
        if len(reconciler.asked) <= 3:
            raise LookupError(f"number {len(reconciler.asked)}")
        if len(reconciler.asked) <= 5:
            raise LookupError("elsewhere")
        return DONE

    reconciler = Reconciling(reconcile)
    counters = run_controller(tmp_path, reconciler)
    failed = [line for line in caplog.records if line.name == PASSES]

    assert [line.exc_info is not None for line in failed] == [True, False, False, True, False]
    assert failed[2].error == "LookupError: number 3"
    assert counters.panics == 5


def test_the_tracebacks_remembered_are_bounded(tmp_path, caplog):
    """However many places fail, what is remembered of them does not grow without end."""

    async def reconcile(_: Request) -> Result:
        if len(reconciler.asked) <= 600:
            raise type(f"E{len(reconciler.asked) % 300}", (Exception,), {})
        return DONE

    reconciler = Reconciling(reconcile)
    settings = ControllerSettings(longest_backoff=0.01)
    run_controller(tmp_path, reconciler, settings=settings)
    shown = [line for line in caplog.records if line.name == PASSES and line.exc_info]

    assert len(shown) == 600  # each is a class of its own


def test_what_is_counted(tmp_path):
    """Passes, how they ended, and the busiest object are counted for the scrape."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(failing(Unavailable("away")))
        world.start(controller)
        await asyncio.sleep(30)
        assert controller.counters.workers == 16
        assert controller.counters.active == 0
        assert controller.counters.busiest.most(30.0) == (2, Request(A, "default", "one"))
        text = world.metrics.text().decode()
        assert 'controller_runtime_reconcile_total{controller="minder",result="error"} 1.0' in text
        assert 'workqueue_depth{controller="minder",name="minder"} 0.0' in text

    run_story(tmp_path, story)


@pytest.mark.parametrize(
    ("tracing", "expected"), [(Tracing(), 0x0AF7651916CD43DD8448EB211C80319C), (None, 0)]
)
def test_a_pass_is_part_of_the_trace_that_its_object_carries(tmp_path, tracing, expected):
    """What a reconciler does is found below the request that made the object."""
    traces = []

    async def reconcile(request: Request) -> Result:
        if request.name == "one":
            traces.append(get_current_span().get_span_context().trace_id)
        return DONE

    async def story(world: RuntimeWorld) -> None:
        said = annotated(config("one"), **{TRACEPARENT: TRACE})
        await world.client().create(said)
        world.start(world.controller(Reconciling(reconcile), tracing=tracing))
        await asyncio.sleep(1)

    run_story(tmp_path, story)
    assert traces == [expected]


def test_a_reconciler_that_returns_none_gets_an_error_with_the_fix():
    """The return at its end was forgotten: the error says what belongs there."""
    nothing: Any = None
    outcomes = PassOutcomes(RequestBackoff(Random(1)), Random(1), ControllerCounters())

    with pytest.raises(TypeError, match="reconcile returned None; return DONE or a Result"):
        outcomes.succeeded(Request(A, "default", "one"), nothing)


def test_the_last_moment_of_a_rest_stops_no_clock():
    """A timer may come a hair too early: a requeue after that hair would repeat at the same time."""
    outcomes = PassOutcomes(RequestBackoff(Random(1)), Random(1), ControllerCounters())

    async def end_pass() -> float | None:
        request = Request(A, "default", "one")
        return outcomes.failed_with(request, WriteConflictLoop("left alone", 1e-10)).requeue_after

    assert virtual_time.run(end_pass()) == 0.001
