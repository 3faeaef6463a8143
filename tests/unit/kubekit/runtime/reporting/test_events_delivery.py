"""Events on their way: to planes that are away, that lose answers, or that are let go."""

import asyncio
import logging
from contextlib import suppress
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import DeleteOptions
from kubekit.plane.local import LocalClient
from kubekit.runtime.reporting.events import EventRecorder
from tests.sim.weather import FAIR, Weather
from tests.support.kubekit import plane_worlds, virtual_time
from tests.support.kubekit.event_builders import CONTROLLER, RecorderWorld, config, run_story


def test_a_namespace_that_is_gone_takes_its_events_along():
    """Nothing is tried for long, and the others are written."""

    async def story(scene: RecorderWorld) -> None:
        gone = ConfigMap(metadata=ObjectMeta(name="one", namespace="gone", uid="u1"))
        scene.say(gone)
        scene.say(await scene.config())
        assert (await scene.only()).metadata.namespace == "default"
        assert scene.recorder.dropped == 1

    run_story(story)


def test_an_event_in_a_terminating_namespace_is_ignored(caplog):
    """The server refuses it, and its namespace would have been deleted with it: no warning, no loss."""

    async def story(scene: RecorderWorld) -> None:
        ending = await scene.client.create(Namespace(metadata=ObjectMeta(name="ending")))
        metadata = ObjectMeta(name="one", namespace="ending", finalizers=("test.example/hold",))
        one = await scene.client.create(ConfigMap(metadata=metadata))
        await scene.client.delete(ending)
        await asyncio.sleep(1)
        scene.say(one)
        assert await scene.reported("ending") == ()
        assert scene.recorder.dropped == 0

    with caplog.at_level(logging.INFO):
        run_story(story)
    assert [record.getMessage() for record in caplog.records] == []


def test_events_outlive_a_while_without_the_plane():
    """They are tried again, and those of other planes do not wait."""

    async def story(scene: RecorderWorld) -> None:
        scene.link.part()
        scene.say(await scene.config("far"), client=scene.far)
        scene.say(await scene.config("near"))
        assert [event.metadata.name[:4] for event in await scene.reported()] == ["near"]
        await asyncio.sleep(5)
        scene.link.heal()
        await asyncio.sleep(30)
        assert len(await scene.reported()) == 2
        assert scene.recorder.dropped == 0

    run_story(story)


def test_an_event_that_cannot_be_written_is_given_up():
    """After a few attempts."""

    async def story(scene: RecorderWorld) -> None:
        scene.link.part()
        scene.say(await scene.config(), client=scene.far)
        await asyncio.sleep(120)
        assert scene.recorder.dropped == 1
        scene.link.heal()
        assert await scene.reported() == ()

    run_story(story)


def test_an_event_whose_response_was_lost_is_not_written_twice():
    """It has the same name at each attempt."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.link.weather = Weather(lost_response=1.0)
        scene.say(one, client=scene.far)
        await asyncio.sleep(4)
        scene.link.weather = FAIR
        scene.say(one, client=scene.far)
        await asyncio.sleep(30)
        event = await scene.only()
        assert event.series is not None
        assert event.series.count == 2

    run_story(story)


def test_an_event_that_expired_is_made_again_with_its_count():
    """Servers keep events for an hour or so, and a series may last longer."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        await scene.client.delete(await scene.only(), DeleteOptions())
        scene.say(one)
        event = await scene.only()
        assert event.series is not None
        assert event.series.count == 2

    run_story(story)


def test_an_event_that_another_client_changed_is_counted_on():
    """A label that was put on it is no reason to stop."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        event = await scene.only()
        metadata = replace(event.metadata, labels={"seen": "yes"})
        await scene.client.patch(event, replace(event, metadata=metadata))
        scene.say(one)
        event = await scene.only()
        assert event.series is not None
        assert (event.series.count, event.metadata.labels) == (2, {"seen": "yes"})

    run_story(story)


def test_draining_writes_what_was_counted():
    """A process that ends leaves no count behind."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        for _ in range(10):
            scene.say(one)
            await asyncio.sleep(1)
        await scene.recorder.drain(5)
        (event,) = (await scene.client.list(Event, "default")).items
        assert event.series is not None
        assert event.series.count == 10

    run_story(story)


def test_draining_ends_in_time():
    """A plane that does not answer keeps no process from ending."""

    async def story(scene: RecorderWorld) -> None:
        scene.link.part()
        scene.say(await scene.config(), client=scene.far)
        started = asyncio.get_running_loop().time()
        await scene.recorder.drain(3)
        assert asyncio.get_running_loop().time() == started + 3

    run_story(story)


def test_what_waits_for_a_plane_that_is_let_go_is_forgotten():
    """No event is sent to a cluster that was disengaged."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        scene.recorder.forget(scene.client)
        scene.recorder.forget(scene.client)
        assert await scene.reported() == ()

    run_story(story)


def test_a_recorder_at_rest_sets_no_timer():
    """Once everything is written and forgotten, nothing is left to do."""

    async def story(recorder: EventRecorder) -> None:
        with TemporaryDirectory() as directory:
            async with plane_worlds.opened(directory) as world:
                recorder.event(LocalClient(world.plane), config("one"), "Normal", "R", "n", "A")
                with suppress(TimeoutError):
                    async with asyncio.timeout(7200):
                        await recorder.run()
        await recorder.run()

    with pytest.raises(virtual_time.Deadlock):
        virtual_time.run(story(EventRecorder(CONTROLLER, "host_1", plane_worlds.environment())))


def test_a_plane_that_is_forgotten_while_its_events_are_held_back_ends_quietly(caplog):
    """What waits for the write limit is dropped with the plane, and no task fails."""

    async def story(scene: RecorderWorld) -> None:
        for number in range(60):
            scene.say(config(f"c{number}"))
        await asyncio.sleep(0.05)
        scene.recorder.forget(scene.client)
        await asyncio.sleep(5)
        assert len(await scene.reported()) == 50
        assert [record.message for record in caplog.records] == []

    run_story(story)
