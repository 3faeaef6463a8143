"""Only the leader works, until the lease is lost or the process is stopped."""

import asyncio
import logging

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.reconciling.passes import NotLeading, PassOver
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.scope import cancel_and_wait
from tests.support.kubekit.runtime_builders import (
    Reconciling,
    RuntimeWorld,
    config,
    run_story,
    term,
)


def sleeping(seconds: float, finished: list[str] | None = None) -> Reconciling:
    """A reconciler that takes its time over one object, and says when it came to the end."""

    async def reconcile(request: Request) -> Result:
        if request.name == "one":
            await asyncio.sleep(seconds)
            if finished is not None:
                finished.append(request.name)
        return DONE

    return Reconciling(reconcile)


def test_losing_the_lead_cancels_every_pass_at_once(tmp_path):
    """No pass continues after the cancellation; their requests wait for the next term."""

    async def story(world: RuntimeWorld) -> None:
        finished: list[str] = []
        reconciler = sleeping(50, finished)
        controller = world.controller(reconciler)
        await world.write("one")
        working = world.start(controller, term())
        await asyncio.sleep(10)
        await cancel_and_wait(working)
        assert asyncio.get_running_loop().time() == 10.0
        assert (finished, controller.counters.active) == ([], 0)
        world.start(controller, term(number=2))
        await asyncio.sleep(60)
        assert finished == ["one"]

    run_story(tmp_path, story)


def test_no_pass_begins_once_the_term_is_over(tmp_path):
    """Between the end of the term and the cancellation no pass starts, and no request is lost."""

    async def story(world: RuntimeWorld) -> None:
        reconciler = Reconciling()
        controller = world.controller(reconciler)
        reign = term(seconds=10)
        world.start(controller, reign)
        await asyncio.sleep(11)
        await world.write("one")
        await asyncio.sleep(20)
        assert "one" not in reconciler.names
        reign.until += 100  # a renewal whose answer was late
        await asyncio.sleep(1)
        assert reconciler.names.count("one") == 1

    run_story(tmp_path, story)


def test_a_write_after_the_term_is_refused(tmp_path, caplog):
    """A pass that is under way when the term ends cannot write; its key is put back."""
    caplog.set_level(logging.INFO)

    async def story(world: RuntimeWorld) -> None:
        async def reconcile(request: Request) -> Result:
            if request.name == "one":
                await asyncio.sleep(20)
                await world.writer().create(config("late"))
            return DONE

        await world.write("one")
        controller = world.controller(Reconciling(reconcile))
        working = world.start(controller, term(seconds=10))
        await asyncio.sleep(100)
        assert await world.client().find(ConfigMap, "late", "default") is None
        assert controller.counters.errors == 0
        await cancel_and_wait(working)
        world.start(controller, term())
        await asyncio.sleep(21)
        assert await world.client().find(ConfigMap, "late", "default")

    run_story(tmp_path, story)
    refused = [
        record for record in caplog.records if getattr(record, "result", "") == "not leading"
    ]
    assert refused[0].error.endswith("term 1 is over")


def test_a_task_that_outlives_its_cancellation_cannot_write(tmp_path, caplog):
    """A pass that goes on after the lead was lost is named, and refused at each write."""
    caught: list[BaseException] = []

    async def story(world: RuntimeWorld) -> None:
        async def reconcile(request: Request) -> Result:
            if request.name == "one":
                try:
                    await asyncio.sleep(100)
                except asyncio.CancelledError:
                    await asyncio.sleep(5)
                try:
                    await world.writer().create(config("late"))
                except (NotLeading, PassOver) as error:
                    caught.append(error)
            return DONE

        await world.write("one")
        reign = term(seconds=100)
        controller = world.controller(Reconciling(reconcile))
        working = world.start(controller, reign)
        await asyncio.sleep(10)
        reign.end()
        await cancel_and_wait(working)
        assert asyncio.get_running_loop().time() == 11.0
        await asyncio.sleep(10)
        assert await world.client().find(ConfigMap, "late", "default") is None

    run_story(tmp_path, story)
    assert [type(error) for error in caught] == [NotLeading]
    outliving = [record for record in caplog.records if "does not end after" in record.message]
    assert outliving[0].request == "a/default/one"


def test_draining_finishes_the_passes_in_hand_and_begins_none(tmp_path):
    """What is under way comes to its end; what waits is left for the next process."""

    async def story(world: RuntimeWorld) -> None:
        finished: list[str] = []
        reconciler = sleeping(20, finished)
        controller = world.controller(reconciler, settings=ControllerSettings(workers=1))
        await world.write("one")
        working = world.start(controller, term())
        await asyncio.sleep(10)
        await world.write("two")
        before = asyncio.get_running_loop().time()
        await controller.drain(30)
        assert finished == ["one"]
        assert asyncio.get_running_loop().time() - before <= 10
        await asyncio.sleep(0)
        assert working.done()
        assert "two" not in reconciler.names

    run_story(tmp_path, story)


def test_draining_cuts_off_what_takes_too_long_and_names_it(tmp_path, caplog):
    """Past the limit the passes in hand are cancelled, and the log says which."""

    async def story(world: RuntimeWorld) -> None:
        finished: list[str] = []
        controller = world.controller(sleeping(50, finished))
        await world.write("one")
        working = world.start(controller)
        await asyncio.sleep(1)
        await controller.drain(5)
        await asyncio.sleep(0)
        assert asyncio.get_running_loop().time() == 6.0
        assert (finished, working.done(), controller.counters.active) == ([], True, 0)

    run_story(tmp_path, story)
    cut = [record for record in caplog.records if "because the process ends" in record.message]
    assert [(record.request, record.seconds) for record in cut] == [("a/default/one", 6.0)]


def test_draining_a_controller_that_never_worked_is_done_at_once(tmp_path):
    """A process that never led has nothing to finish, and does not start afterwards."""

    async def story(world: RuntimeWorld) -> None:
        reconciler = Reconciling()
        controller = world.controller(reconciler)
        await world.write("one")
        await controller.drain(30)
        assert asyncio.get_running_loop().time() == 0.0
        await controller.run(term())
        assert reconciler.asked == []

    run_story(tmp_path, story)


def test_a_broken_worker_ends_the_controller(tmp_path):
    """A fault of the controller's own is no matter of one key, and is not hidden."""

    class Broken:
        number = 1

        def holds(self) -> bool:
            raise ZeroDivisionError

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(Reconciling())
        with pytest.raises(ZeroDivisionError):
            await controller.run(Broken())

    run_story(tmp_path, story)
