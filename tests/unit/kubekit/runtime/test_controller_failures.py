"""Poisonous objects: their failures stay with their key."""

import asyncio
import logging
from itertools import pairwise

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.reconciling.passes import PassOver
from kubekit.runtime.requests import DONE, Request, Result
from tests.support.kubekit.runtime_builders import A, Reconciling, RuntimeWorld, config, run_story


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def recursing() -> None:
    recursing()


POISON = [
    RecursionError("deep"),
    TimeoutError("the reconciler's own"),
    asyncio.CancelledError("let slip"),
    ExceptionGroup("tasks", [ValueError("one"), KeyError("two")]),
    BaseExceptionGroup("tasks", [asyncio.CancelledError(), ValueError("one")]),
    Unspeakable(),
    AssertionError(),
    MemoryError(),
    GeneratorExit(),
]


@pytest.mark.parametrize("error", POISON, ids=lambda error: type(error).__name__)
def test_class_15_a_poisonous_object_harms_no_other(tmp_path, error):
    """Whatever a pass raises, its key is tried again and every other key gets its pass at once."""

    async def reconcile(request: Request) -> Result:
        if request.name == "poison":
            raise error
        return DONE

    async def story(world: RuntimeWorld) -> None:
        await world.write("poison")
        reconciler = Reconciling(reconcile)
        working = world.start(world.controller(reconciler, settings=ControllerSettings(workers=1)))
        for number in range(20):
            await asyncio.sleep(1)
            await world.write(f"good-{number}")
            await asyncio.sleep(0.001)
            assert f"good-{number}" in reconciler.names
        assert reconciler.names.count("poison") > 5
        assert not working.done()

    run_story(tmp_path, story)


def test_a_pass_that_returns_nothing_useful_is_an_error_of_its_key(tmp_path):
    """A reconciler that forgets its result does not stop the worker."""

    class Forgetful:
        async def reconcile(self, request: Request) -> Result:
            return None  # type: ignore[return-value]  # what the test is about

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(Forgetful())
        world.start(controller)
        await asyncio.sleep(1)
        assert controller.counters.panics > 1

    run_story(tmp_path, story)


def test_a_pass_that_ends_the_process_ends_the_process(tmp_path):
    """What the interpreter itself raises to end is not held up."""

    async def reconcile(_: Request) -> Result:
        raise SystemExit(3)

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        world.start(world.controller(Reconciling(reconcile)))
        await asyncio.sleep(1)

    with pytest.raises(SystemExit):
        run_story(tmp_path, story)


def test_a_pass_that_takes_too_long_is_ended_and_tried_again(tmp_path, caplog):
    """Its time being up is an error of its key, which waits as after any other."""

    async def reconcile(request: Request) -> Result:
        if request.name == "slow" and len(reconciler.asked) < 5:
            await asyncio.sleep(1000)
        return DONE

    reconciler = Reconciling(reconcile)

    async def story(world: RuntimeWorld) -> None:
        await world.write("slow")
        controller = world.controller(reconciler, settings=ControllerSettings(pass_limit=5))
        world.start(controller)
        await asyncio.sleep(100)
        assert controller.counters.timeouts == controller.counters.errors > 1
        assert controller.counters.panics == 0
        assert reconciler.asked[-1] == Request(A, "default", "slow")

    run_story(tmp_path, story)
    assert caplog.records[0].error == "TimeoutError: the pass took longer than 5 s"


def test_a_pass_that_answers_its_ending_with_another_error_was_too_late_all_the_same(tmp_path):
    """What a reconciler makes of being ended does not change why it was."""

    async def reconcile(_: Request) -> Result:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise ValueError("in the middle of something") from None
        return DONE

    async def story(world: RuntimeWorld) -> None:
        await world.write("slow")
        controller = world.controller(
            Reconciling(reconcile), settings=ControllerSettings(pass_limit=5)
        )
        world.start(controller)
        await asyncio.sleep(60)
        assert controller.counters.timeouts > 1

    run_story(tmp_path, story)


@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "ends too"])
def test_a_pass_that_is_ended_in_the_moment_it_returns_does_not_end_the_next(tmp_path, ends):
    """The worker takes the ending of one pass back, unless it was to end itself."""

    async def story(world: RuntimeWorld) -> None:
        async def reconcile(request: Request) -> Result:
            if reconciler.names.count("leaving") == 1 and request.name == "leaving":
                cluster = world.projects.get(A)
                controller.disengage(cluster)
                controller.engage(cluster)
                worker = asyncio.current_task()
                assert worker is not None
                if ends:
                    worker.cancel()
            return DONE

        reconciler = Reconciling(reconcile)
        controller = world.controller(reconciler, settings=ControllerSettings(workers=1))
        working = world.start(controller)
        await world.write("leaving")
        await asyncio.sleep(1)
        assert controller.counters.errors == 0
        assert working.done() is ends
        assert reconciler.names.count("leaving") == (1 if ends else 2)

    run_story(tmp_path, story)


def test_a_pass_that_does_not_end_loses_its_place_and_not_the_others_theirs(tmp_path, caplog):
    """A reconciler that ignores being cancelled holds its key, while another worker goes on."""
    release = asyncio.Event()

    async def reconcile(request: Request) -> Result:
        while request.name == "stubborn" and not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return DONE

    async def story(world: RuntimeWorld) -> None:
        await world.write("stubborn")
        reconciler = Reconciling(reconcile)
        settings = ControllerSettings(workers=1, pass_limit=5)
        controller = world.controller(reconciler, settings=settings)
        world.start(controller)
        await asyncio.sleep(20)
        await world.write("good")
        await world.write("stubborn", changed="yes")
        await asyncio.sleep(1)
        assert reconciler.names.count("stubborn") == 1
        assert "good" in reconciler.names
        release.set()
        await asyncio.sleep(1)
        assert reconciler.names.count("stubborn") == 2
        assert controller.counters.active == 0

    run_story(tmp_path, story)
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warned[0].request == "a/default/stubborn"


def test_a_stuck_pass_of_a_cluster_that_left_is_forgotten_when_it_ends(tmp_path):
    """Neither its being late nor the cluster's leaving asks for another pass there."""
    release = asyncio.Event()

    async def reconcile(request: Request) -> Result:
        while request.name == "stubborn" and not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return DONE

    async def story(world: RuntimeWorld) -> None:
        await world.write("stubborn")
        reconciler = Reconciling(reconcile)
        controller = world.controller(reconciler, settings=ControllerSettings(pass_limit=5))
        world.start(controller)
        await asyncio.sleep(20)
        await world.projects.disengage(A)
        release.set()
        await asyncio.sleep(600)
        assert reconciler.names.count("stubborn") == 1
        assert controller.counters.dropped == 1

    run_story(tmp_path, story)


def test_a_task_that_outlives_its_pass_cannot_write(tmp_path):
    """While the next pass of the key runs, nothing of the one before may write."""
    refused = []

    async def lingering(world: RuntimeWorld) -> None:
        await asyncio.sleep(3)
        try:
            await world.writer().create(config("late"))
        except PassOver as error:
            refused.append(str(error))

    async def story(world: RuntimeWorld) -> None:
        aside = []

        async def reconcile(_: Request) -> Result:
            aside.append(asyncio.ensure_future(lingering(world)))
            return DONE

        await world.write("one")
        world.start(world.controller(Reconciling(reconcile)))
        await asyncio.sleep(10)
        assert await world.client().find(ConfigMap, "late", "default") is None

    run_story(tmp_path, story)
    assert "a/default/one" in refused[0]


def test_passes_that_never_wait_let_others_have_their_turn(tmp_path):
    """A thousand objects that need no waiting do not keep the loop to themselves."""

    async def story(world: RuntimeWorld) -> None:
        reconciler = Reconciling()
        controller = world.controller(reconciler)
        for number in range(1000):
            controller.queue.add(Request(A, "default", f"o{number}"))
        world.start(controller)
        seen = []
        while len(reconciler.asked) < 1000:
            seen.append(len(reconciler.asked))
            await asyncio.sleep(0)
        assert max(after - before for before, after in pairwise(seen)) <= 100

    run_story(tmp_path, story)
