"""The event recorder: events about an object are written to its plane, and limited."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.rbac import ClusterRole
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import ListOptions
from kubekit.runtime.reporting.events import EventRecorder
from tests.support.kubekit import plane_worlds
from tests.support.kubekit.event_builders import CONTROLLER, RecorderWorld, config, run_story

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_an_event_has_the_form_of_events_k8s_io():
    """Every part that a server insists on is there, in the places of v1."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.recorder.event(
            scene.client, one, "Normal", "Created", "the child was made", "CreateChild"
        )
        event = await scene.only()
        assert event.type == "Normal"
        assert (event.reason, event.action) == ("Created", "CreateChild")
        assert event.note == "the child was made"
        assert (event.reporting_controller, event.reporting_instance) == (CONTROLLER, "host_1")
        assert event.event_time == "2026-01-01T00:00:00.000000Z"
        assert event.series is None
        name, _, number = event.metadata.name.rpartition(".")
        assert (name, len(number), int(number, 16) >= 0) == ("one", 16, True)

    run_story(story)


def test_kubectl_finds_the_events_of_an_object_by_its_uid():
    """`kubectl describe` asks for the old shape by these fields."""

    async def story(scene: RecorderWorld) -> None:
        one, two = await scene.config("one"), await scene.config("two")
        scene.say(one)
        scene.say(two)
        await scene.reported()
        selector = (
            f"involvedObject.uid={one.metadata.uid},involvedObject.name=one,"
            "involvedObject.namespace=default,involvedObject.kind=ConfigMap"
        )
        options = ListOptions(field_selector=selector)
        found = (await scene.client.list(CoreEvent, "default", options)).items
        assert [event.involved_object.uid for event in found] == [one.metadata.uid]
        assert found[0].message == "it is so"

    run_story(story)


def test_an_event_carries_the_times_and_the_count_of_the_old_shape():
    """`kubectl get events --sort-by=.lastTimestamp` sorts by what every one of them has."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        await asyncio.sleep(0.25)
        scene.say(one)
        await scene.reported()
        (event,) = (await scene.client.list(CoreEvent, "default")).items
        assert (event.first_timestamp, event.last_timestamp) == (START, START)
        assert (event.count, event.source.component) == (1, CONTROLLER)

    run_story(story)


def test_the_times_and_the_count_of_the_old_shape_follow_the_series():
    """A series of three is one event with a count of three and the time of the last."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        for _ in range(3):
            scene.say(one)
            await asyncio.sleep(10)
        await scene.recorder.drain(5)
        (event,) = (await scene.client.list(CoreEvent, "default")).items
        assert event.series is not None
        assert (event.count, event.series.count) == (3, 3)
        assert event.first_timestamp == START
        assert event.last_timestamp == START + timedelta(seconds=20)

    run_story(story)


def test_what_is_said_again_becomes_a_series():
    """One Event counts, and says when it was last so."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        await asyncio.sleep(10)
        scene.say(one)
        event = await scene.only()
        assert event.series is not None
        assert event.series.count == 2
        assert event.series.last_observed_time == "2026-01-01T00:00:10.000000Z"
        assert event.event_time == "2026-01-01T00:00:00.000000Z"

    run_story(story)


@pytest.mark.parametrize(
    "other",
    [
        {"type": "Normal"},
        {"reason": "Refused"},
        {"note": "it is otherwise"},
        {"action": "Delete"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_differs_in_anything_is_another_event(other: dict[str, Any]):
    """Only the very same is counted together."""
    said: dict[str, Any] = {
        "type": "Warning",
        "reason": "Failed",
        "note": "it is so",
        "action": "Create",
    }

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.recorder.event(scene.client, one, **said)
        scene.recorder.event(scene.client, one, **said | other)
        assert len(await scene.reported()) == 2

    run_story(story)


def test_the_same_of_another_object_is_another_event():
    """Objects are distinguished by uid, so a new one of the same name is another."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        await scene.client.delete(one)
        scene.say(await scene.config())
        assert len(await scene.reported()) == 2

    run_story(story)


def test_the_same_after_a_long_rest_is_another_event():
    """A series ends after six minutes without it."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        scene.say(one)
        await asyncio.sleep(359)
        scene.say(one)
        assert len(await scene.reported()) == 1
        await asyncio.sleep(361)
        scene.say(one)
        assert len(await scene.reported()) == 2

    run_story(story)


def test_a_series_that_goes_on_is_written_seldom():
    """An hour of the same, each second, costs a dozen writes, and the end has the right count."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        before = scene.plane.store.revision
        for _ in range(3600):
            scene.say(one)
            await asyncio.sleep(1)
        assert scene.plane.store.revision - before <= 15
        await asyncio.sleep(500)
        event = await scene.only()
        assert event.series is not None
        assert event.series.count == 3600
        assert event.series.last_observed_time == "2026-01-01T00:59:59.000000Z"

    run_story(story)


def test_the_last_count_is_written_when_the_series_is_followed_by_a_new_one():
    """A count is written even if no sweep ran in between."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        for gap in (1, 1, 361):
            scene.say(one)
            await asyncio.sleep(gap)
        scene.say(one)
        counts = [event.series.count if event.series else 1 for event in await scene.reported()]
        assert sorted(counts) == [1, 3]

    run_story(story)


def test_a_storm_about_one_object_ends_after_25_and_leaves_others_alone():
    """One more is allowed each five minutes."""

    async def story(scene: RecorderWorld) -> None:
        one, two = await scene.config("one"), await scene.config("two")
        for number in range(1000):
            scene.say(one, reason=f"Problem{number}")
        scene.say(two)
        assert len(await scene.reported()) == 26
        assert scene.recorder.dropped == 975
        await asyncio.sleep(300)
        scene.say(one, reason="Another")
        scene.say(one, reason="OneTooMany")
        assert len(await scene.reported()) == 27

    run_story(story)


def test_more_than_ten_events_of_one_reason_are_combined_into_one():
    """Each of the first ten has its note; those after them are one event that counts."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        for number in range(100):
            scene.say(one, f"city {number} is stuck")
        events = await scene.reported()
        named = sorted(e.note for e in events if e.series is None)
        assert named == [f"city {number} is stuck" for number in range(10)]
        (rest,) = [e for e in events if e.series is not None]
        assert rest.note == "(combined from similar events): city 10 is stuck"
        assert rest.series is not None
        assert rest.series.count == 90
        assert scene.recorder.dropped == 0

    run_story(story)


def test_combined_messages_are_separate_again_after_a_long_pause():
    """A series ends after six minutes without it; so does what kept others out of sight."""

    async def story(scene: RecorderWorld) -> None:
        one = await scene.config()
        for number in range(12):
            scene.say(one, f"city {number} is stuck")
        await asyncio.sleep(400)
        scene.say(one, "city 99 is stuck")
        assert "city 99 is stuck" in [event.note for event in await scene.reported()]

    run_story(story)


def test_a_plane_is_written_to_at_a_bounded_rate():
    """Fifty events at once, and ten in each second after that: users' writes come first."""

    async def story(scene: RecorderWorld) -> None:
        for number in range(100):
            scene.say(config(f"c{number}"))
        assert 50 <= len(await scene.reported()) <= 61
        await asyncio.sleep(4)
        assert len(await scene.reported()) == 100
        assert scene.recorder.dropped == 0

    run_story(story)


def test_what_waits_for_a_plane_is_bounded():
    """A plane that is away for long costs a thousand events of memory, not more."""

    async def story(scene: RecorderWorld) -> None:
        scene.link.part()
        for number in range(1500):
            scene.say(config(f"c{number}"), client=scene.far)
        assert scene.recorder.dropped == 500

    run_story(story)


def test_events_of_what_has_no_namespace_go_to_default():
    """There is no other place that a server takes them in."""

    async def story(scene: RecorderWorld) -> None:
        made = await scene.client.create(Namespace(metadata=ObjectMeta(name="lab")))
        scene.say(made)
        event = await scene.only()
        assert event.metadata.namespace == "default"
        assert event.regarding is not None
        assert (event.regarding.kind, event.regarding.namespace) == ("Namespace", "")

    run_story(story)


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("system:controller:Node", "clusterrole"),
        ("a" * 253, "a" * 236),
        (("a" * 62 + ".") * 4, ("a" * 62 + ".") * 3 + "a" * 47),
        (("a" * 58 + ".") * 4 + "b", ("a" * 58 + ".") * 3 + "a" * 58),
    ],
    ids=["no name for an event", "too long", "long with dots", "cut after a dot"],
)
def test_an_event_always_has_a_name_that_a_server_takes(name, beginning):
    """It begins with the object's wherever that can be."""

    async def story(scene: RecorderWorld) -> None:
        scene.say(ClusterRole(metadata=ObjectMeta(name=name, uid="u")))
        event = await scene.only()
        assert event.metadata.name.rpartition(".")[0] == beginning

    run_story(story)


def test_a_lone_surrogate_does_not_stop_an_event():
    """Texts may come from anywhere; what has no bytes is replaced."""

    async def story(scene: RecorderWorld) -> None:
        scene.say(await scene.config(), "odd \ud800 text")
        assert (await scene.only()).note == "odd ? text"

    run_story(story)


TEXTS = {
    "empty": ("", ""),
    "long": ("x" * 5000, "x" * 1024),
    "long in many bytes": ("\N{SNOWMAN}" * 900, "\N{SNOWMAN}" * 341),
    "control characters": ("a\x00\x1b[31mb\r\n\x9bc", "a  [31mb \n c"),
}


@pytest.mark.parametrize(("text", "note"), TEXTS.values(), ids=TEXTS)
def test_a_plane_takes_whatever_is_said(text: str, note: str):
    """No text prevents an event, and no text has control characters."""

    async def story(scene: RecorderWorld) -> None:
        scene.recorder.event(scene.client, await scene.config(), "Normal", text, text, text)
        assert (await scene.only()).note == note

    run_story(story)


@pytest.mark.parametrize(
    ("controller", "instance", "why"),
    [
        ("not a name", "host", "cannot report events"),
        ("", "host", "cannot report events"),
        ("workload", "", "has no reporting instance"),
    ],
)
def test_a_reporter_that_servers_refuse_is_refused_at_once(controller, instance, why):
    """Else each of its events would be refused, one by one."""
    with pytest.raises(ValueError, match=why):
        EventRecorder(controller, instance, plane_worlds.environment())
