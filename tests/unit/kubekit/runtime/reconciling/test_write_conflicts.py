"""Write conflict loops: the controller, the fields and the competing writers."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.runtime.controller import Controller
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.reconciling.write_conflicts import (
    WriteConflictBreaker,
    WriteConflictLoop,
    WriteConflictSettings,
    others,
)
from kubekit.runtime.reporting.counters import PassResult
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import own
from tests.support.kubekit.runtime_builders import (
    A,
    Reconciling,
    RuntimeWorld,
    annotated,
    run_story,
)

Entry = dict[str, Any]
WEB = ObjectKey(A, "compute.datumapis.com", "workloaddeployments", "default", "web-dfw-0")
FIELD = ("metadata", "annotations", "a")
OWNED: Entry = {"f:metadata": {"f:annotations": {"f:a": {}}}}
KUBECTL: Entry = {
    "manager": "kubectl-edit",
    "operation": "Update",
    "time": "2026-01-01T12:03:05Z",
    "fieldsV1": OWNED,
}
OURS: Entry = {
    "manager": "compute-federator",
    "operation": "Update",
    "time": "2026-01-01T12:03:04Z",
}


def write_conflicts(**more: float) -> WriteConflictBreaker:
    return WriteConflictBreaker("compute-federator", WriteConflictSettings(**more))  # type: ignore[arg-type]


def written(
    breaker: WriteConflictBreaker, times: int, since: float = 0.0, step: float = 1.0
) -> list[str]:
    """The messages for so many writes, one each step."""
    messages = [breaker.wrote(WEB, (FIELD,), since + n * step) for n in range(times)]
    return [message for message in messages if message]


def test_the_message_names_the_object_the_field_and_the_other_writer():
    """An operator can act on it without reading anything else."""
    breaker = write_conflicts()
    assert written(breaker, 30) == []
    breaker.saw(WEB, [KUBECTL, OURS], "compute-federator", (FIELD,))

    assert breaker.wrote(WEB, (FIELD,), 30.0) == (
        "workloaddeployments default/web-dfw-0: compute-federator wrote it 31 times within 60 s, "
        'each time .metadata.annotations["a"]; "kubectl-edit" (Update, 12:03:05Z) writes it too'
    )


def test_without_another_writer_the_message_says_so():
    """A controller that undoes its own writes fights with itself."""
    (message,) = written(write_conflicts(), 31)
    assert message.endswith(
        "no other writer is recorded, so it may be undoing what it wrote itself"
    )


def test_fields_that_are_not_written_each_time_are_counted():
    """The most frequent are named first, and at most three."""
    breaker = write_conflicts(limit=8)
    fields = [("a",), ("b",), ("a",), ("c",), ("d",), ("a",), ("b",), ("c",), ("a",), ("b",)]
    messages = [breaker.wrote(WEB, (path,), float(n)) for n, path in enumerate(fields)]
    assert "10 times within 60 s, mostly .a (4 times), .b (3 times), .c (2 times);" in str(
        messages[-1]
    )


def test_a_write_of_no_field_is_counted_too():
    """A patch that cannot be read as fields is still a write."""
    breaker = write_conflicts(limit=1)
    breaker.wrote(WEB, (), 0.0)
    assert "2 times within 60 s; no other" in str(breaker.wrote(WEB, (), 1.0))


def test_who_owns_the_fields_is_named_before_who_only_wrote_lately():
    """Of two others, the one whose field it is is the one to talk to."""
    breaker = write_conflicts(limit=5)
    written(breaker, 5)
    lately = {"manager": "scaler", "operation": "Apply", "time": "2026-01-01T12:03:00Z"}
    breaker.saw(WEB, [lately], "compute-federator", (FIELD,))
    breaker.saw(WEB, [KUBECTL, lately], "compute-federator", (FIELD,))
    breaker.saw(WEB, [KUBECTL | {"fieldsV1": {}}], "compute-federator", (FIELD,))
    message = str(breaker.wrote(WEB, (FIELD,), 5.0))
    assert message.endswith('; "kubectl-edit" (Update, 12:03:05Z) writes it too')


def test_a_recent_writer_is_named_when_no_manager_owns_the_fields():
    """After our own write we own the fields; another writer of the object is still reported."""
    breaker = write_conflicts(limit=5)
    written(breaker, 5)
    both: list[Entry] = [OURS | {"manager": name, "fieldsV1": {}} for name in ("x", "y")]
    breaker.saw(WEB, both, "compute-federator", (FIELD,))
    message = str(breaker.wrote(WEB, (FIELD,), 5.0))
    assert message.endswith('"x" (Update, 12:03:04Z), "y" (Update, 12:03:04Z) write the object too')


def test_times_of_one_server_are_compared_with_each_other():
    """Who wrote long before the last write, by the server's clock, is no party to it."""
    old = {"manager": "old", "operation": "Update", "time": "2026-01-01T11:00:00Z"}
    timeless = {"manager": "timeless", "operation": "Apply", "fieldsV1": OWNED}
    named = others([old, OURS, KUBECTL, timeless], "compute-federator", (FIELD,), 60.0)
    assert [str(writer) for writer in named] == [
        '"kubectl-edit" (Update, 12:03:05Z)',
        '"timeless" (Apply)',
    ]
    assert list(others([], "compute-federator", (FIELD,), 60.0)) == []


def test_while_it_rests_the_object_is_not_written():
    """The error says what is wrong, and for how long the object is left alone."""
    breaker = write_conflicts()
    (message,) = written(breaker, 31)
    with pytest.raises(WriteConflictLoop) as raised:
        breaker.check(WEB, 130.0)
    assert str(raised.value) == f"{message}; not written again for 200 s"
    assert raised.value.seconds_left == 200.0
    breaker.check(WEB, 331.0)
    breaker.check(WEB._replace(name="another"), 130.0)


def test_the_rest_doubles_up_to_an_hour_and_is_forgiven():
    """A fight that goes on is left alone for longer; one that is long over begins anew."""
    breaker = write_conflicts()
    rests, now = [], 0.0
    for _ in range(6):
        written(breaker, 31, since=now)
        with pytest.raises(WriteConflictLoop) as raised:
            breaker.check(WEB, now + 30)
        rests.append(raised.value.seconds_left)
        now += 31 + rests[-1]
    assert rests == [300, 600, 1200, 2400, 3600, 3600]
    now += 2 * 3600
    written(breaker, 31, since=now)
    with pytest.raises(WriteConflictLoop) as raised:
        breaker.check(WEB, now + 30)
    assert raised.value.seconds_left == 300


@given(st.lists(st.floats(0.0, 20.0), min_size=1, max_size=120))
def test_it_trips_exactly_when_more_than_the_limit_fall_into_one_window(gaps):
    """The window slides: no burst is missed because it lies between two of them."""
    breaker = write_conflicts(limit=10)
    now, times = 0.0, []
    for gap in gaps:
        now += gap
        times.append(now)
        crowded = len([time for time in times if time > now - 60.0]) > 10
        assert (breaker.wrote(WEB, (FIELD,), now) is not None) is crowded
        times = [] if crowded else times


def test_objects_that_rest_are_forgotten():
    """Memory follows the objects written lately, and has a bound of its own."""
    breaker = write_conflicts()
    for number in range(20_000):
        breaker.wrote(WEB._replace(name=f"o{number}"), (FIELD,), number / 1000)
    assert len(breaker) == 8192
    breaker.wrote(WEB, (FIELD,), 41.0)
    assert len(breaker) == 1


def test_a_fight_over_many_objects_is_seen():
    """A competing writer undoes the writes of many objects."""
    breaker = write_conflicts()
    many = [WEB._replace(name=f"o{number}") for number in range(1000)]
    run_story = [
        breaker.wrote(each, (FIELD,), round_ * 1.5) for round_ in range(31) for each in many
    ]
    assert all(word is None for word in run_story[:30_000])
    assert all(run_story[30_000:])


def test_a_look_that_came_too_late_is_of_no_use():
    """Managed fields of an object that is no longer counted are ignored."""
    breaker = write_conflicts()
    breaker.saw(WEB, [KUBECTL], "compute-federator", (FIELD,))
    assert len(breaker) == 0
    assert str(WEB._replace(namespace="")) == "workloaddeployments web-dfw-0"


def insisting(world: RuntimeWorld, value: str) -> Reconciling:
    """A reconciler that wants its own value in an annotation that another wants as well."""

    async def reconcile(request: Request) -> Result:
        client = world.writer(request.cluster)
        obj = await client.find(ConfigMap, request.name, request.namespace)
        if obj is not None and request.name == "web":
            await client.patch(obj, annotated(obj, a=value))
        return DONE

    return Reconciling(reconcile)


async def fight(world: RuntimeWorld, recorder: EventRecorder | None = None) -> list[Controller]:
    """Let two controllers, ``one`` and ``two``, fight over an annotation until they are stopped."""
    await world.write("web", text="1")
    controllers = [
        world.controller(insisting(world, value), name=name, recorder=recorder)
        for name, value in (("one", "1"), ("two", "2"))
    ]
    for controller in controllers:
        world.start(controller)
    await asyncio.sleep(200)
    return controllers


def test_two_controllers_that_undo_each_other_are_named(tmp_path, caplog):
    """Each is suspended, and reports the field and the other writer; neither pass fails."""

    async def story(world: RuntimeWorld) -> None:
        controllers = await fight(world)
        assert [controller.counters.write_conflicts for controller in controllers] == [1, 1]
        assert [controller.counters.errors for controller in controllers] == [0, 0]

    run_story(tmp_path, story)
    reasons = {r.controller: r.why for r in caplog.records if r.message == "write conflict loop"}
    for name, rival in (("one", "two"), ("two", "one")):
        said = reasons[name]
        assert said.startswith(f"configmaps default/web: {name} wrote it 31 times within 60 s, ")
        assert 'each time .metadata.annotations["a"]; ' in said
        assert f'"{rival}" (Update, ' in said
        assert said.endswith("writes it too")


def test_a_fight_stops_nothing_else(tmp_path):
    """The object is left alone, by both, while every other one is looked after."""

    async def story(world: RuntimeWorld) -> None:
        one, _ = await fight(world)
        before = await world.client().get(ConfigMap, "web", "default")
        await asyncio.sleep(60)
        assert await world.client().get(ConfigMap, "web", "default") == before
        passes = one.counters.results[PassResult.SUCCESS]
        await world.write("bystander")
        await asyncio.sleep(1)
        assert one.counters.results[PassResult.SUCCESS] == passes + 1

    run_story(tmp_path, story)


def test_a_write_conflict_loop_is_reported_on_the_object(tmp_path):
    """`kubectl describe` shows a warning with the text of the log."""

    async def story(world: RuntimeWorld) -> None:
        recorder = EventRecorder("minder", "test", world.environment)
        world.scope.spawn(recorder.run(), "events")
        await fight(world, recorder)
        web = await world.client().get(ConfigMap, "web", "default")
        events = (await world.client().list(Event, "default")).items
        said = [event for event in events if event.reason == "ReconcileFight"]
        assert {event.type for event in said} == {"Warning"}
        assert {event.regarding and event.regarding.uid for event in said} == {web.metadata.uid}
        assert sorted(event.note[:27] for event in said) == [
            "configmaps default/web: one",
            "configmaps default/web: two",
        ]

    run_story(tmp_path, story)


def test_trap_1_1_8_replacing_the_annotations_is_reported_with_the_key_it_removes(tmp_path, caplog):
    """A controller that sends the whole map fights with the one whose key it removes."""

    async def story(world: RuntimeWorld) -> None:
        async def wipe(request: Request) -> Result:
            obj = await world.writer().find(ConfigMap, request.name, request.namespace)
            if obj is not None and request.name == "web":
                bare = msgspec.structs.replace(obj.metadata, annotations={"mine": "1"})
                await world.writer().patch(obj, msgspec.structs.replace(obj, metadata=bare))
            return DONE

        await world.write("web", text="1")
        sources = [own(ConfigMap, world.projects)]
        wiping = world.controller(Reconciling(wipe), sources, name="wiper")
        world.start(wiping)
        world.start(world.controller(insisting(world, "2"), sources, name="data"))
        await asyncio.sleep(60)

    run_story(tmp_path, story)
    why = next(
        r.why
        for r in caplog.records
        if r.message == "write conflict loop" and r.controller == "wiper"
    )
    assert '.metadata.annotations["a"]' in why
    assert '"data" (Update, ' in why


def test_a_fight_ends_when_the_other_stops(tmp_path):
    """After its rest the object is written again, and all is well."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("web", text="1")
        one = world.controller(insisting(world, "1"), name="one")
        two = world.controller(insisting(world, "2"), name="two")
        world.start(one)
        stopped = world.start(two)
        await asyncio.sleep(30)
        stopped.cancel()
        await asyncio.sleep(4000)
        web = await world.client().get(ConfigMap, "web", "default")
        assert web.metadata.annotations == {"a": "1"}

    run_story(tmp_path, story)


STATUS = (("status", "conditions"),)


def test_a_status_that_comes_and_goes_is_no_fight():
    """A rollout says the same at each of its steps, and between them something else."""
    breaker = write_conflicts(limit=3)
    messages = [breaker.wrote(WEB, STATUS, now / 10, content=now % 2) for now in range(200)]
    assert messages == [None] * 200


def test_a_status_that_is_undone_each_time_is_a_write_conflict_loop():
    """Nothing is written that is there already: who says the same twice running was undone between."""
    breaker = write_conflicts(limit=3)
    messages = [breaker.wrote(WEB, STATUS, now / 10, content=7) for now in range(5)]
    assert messages[:4] == [None] * 4
    assert messages[4] is not None
