"""What is no fight, and what a fight must not stop: progress, and the end of an object."""

import asyncio

import msgspec
import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reconciling.write_conflicts import WriteConflictLoop, WriteConflictSettings
from tests.support.kubekit.runtime_builders import Reconciling, annotated, config, run_story

FINALIZER = "compute.datumapis.com/test"
FIVE = ControllerSettings(write_conflicts=WriteConflictSettings(limit=5))


def changed(obj, value):
    return msgspec.structs.replace(obj, data={"count": value})


def in_a_pass(tmp_path, do, settings=FIVE):
    """Do something in one pass; whatever it raises comes out."""
    outcome = []

    async def story(world):
        async def reconcile(request):
            if request.name != "one":
                return
            try:
                outcome.append(await do(world.writer()))
            except Exception as error:  # noqa: BLE001 - it is looked at below
                outcome.append(error)

        await world.client().create(config("one"))
        world.start(world.controller(Reconciling(reconcile), settings=settings))
        await asyncio.sleep(30)

    run_story(tmp_path, story)
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


async def fought_over(writer, *, finalizers=()):
    """An object that is left alone from here on, for what was written into it."""
    there = await writer.create(config("fought"))
    for finalizer in finalizers:
        there = await commit.add_finalizer(writer, there, finalizer)
    for number in range(6):
        there = await writer.patch(there, changed(there, str(number % 2)))
    with pytest.raises(WriteConflictLoop):
        await writer.patch(there, changed(there, "once more"))
    return there


def test_an_object_that_is_fought_over_can_be_deleted(tmp_path):
    """Its owner may be waiting for the deletion, which no writer can undo."""

    async def do(writer):
        await writer.delete(await fought_over(writer))
        return await writer.find(ConfigMap, "fought", "default")

    assert in_a_pass(tmp_path, do) is None


def test_class_6_an_object_that_is_fought_over_can_be_released(tmp_path):
    """Once it is to go our finalizer comes off it, or it would stay for as long as the rest."""

    async def do(writer):
        there = await fought_over(writer, finalizers=(FINALIZER,))
        with pytest.raises(WriteConflictLoop):
            await commit.add_finalizer(writer, there, "compute.datumapis.com/second")
        await writer.delete(there)
        leaving = await writer.get(ConfigMap, "fought", "default")
        with pytest.raises(WriteConflictLoop):
            await writer.patch(leaving, annotated(leaving, still="fought over"))
        await commit.remove_finalizer(writer, leaving, FINALIZER)
        return await writer.find(ConfigMap, "fought", "default")

    assert in_a_pass(tmp_path, do) is None


def test_a_deletion_that_is_what_is_repeated_is_stopped(tmp_path):
    """Another client creates the object again each time, without end: that is a loop like any other."""

    async def story(world):
        refused = []

        async def reconcile(request):
            there = await world.writer().get(ConfigMap, request.name, "default")
            try:
                await world.writer().delete(there)
            except WriteConflictLoop as fight:
                refused.append(fight)

        world.start(world.controller(Reconciling(reconcile), settings=FIVE))
        for _ in range(26):
            await world.client().create(config("fought"))
            await asyncio.sleep(1)
        assert refused == []
        await world.client().create(config("fought"))
        await asyncio.sleep(1)
        assert "each time its deletion" in str(refused[0])

    run_story(tmp_path, story)


def test_objects_of_one_name_are_counted_each_for_itself(tmp_path):
    """A policy that comes and goes with its deployments is created and deleted many times a minute."""

    async def do(writer):
        for _ in range(12):
            there = await writer.create(config("policy"))
            there = await writer.patch(there, annotated(there, kept="1"))
            await writer.delete(there)
        return await writer.find(ConfigMap, "policy", "default")

    assert in_a_pass(tmp_path, do) is None


def test_a_new_object_does_not_inherit_the_fight_of_an_earlier_one(tmp_path):
    """It may be created and written, while its name is suspended."""

    async def do(writer):
        await writer.delete(await fought_over(writer))
        made = await writer.create(config("fought"))
        return (await writer.patch(made, annotated(made, fresh="1"))).metadata.annotations

    assert in_a_pass(tmp_path, do) == {"fresh": "1"}


def test_a_creation_that_is_what_is_repeated_is_stopped(tmp_path):
    """The garbage collector deletes an object without an owner as fast as it is created."""

    async def do(writer):
        for _ in range(40):
            there = await writer.create(config("fought"))
            await writer.delete(there)

    with pytest.raises(WriteConflictLoop, match="its creation"):
        in_a_pass(tmp_path, do)


def test_a_blocked_pass_does_not_follow_every_watch_event(tmp_path):
    """The competing writer goes on ten times a second; each blocked pass would read live in vain."""
    passes = []

    async def story(world):
        await world.write("web", text="1")

        async def insist(request):
            there = await world.writer().find(ConfigMap, request.name, "default")
            passes.append(there)
            await world.writer().patch(there, annotated(there, a="1"))

        world.start(world.controller(Reconciling(insist), settings=FIVE))
        for number in range(600):
            there = await world.client().get(ConfigMap, "web", "default")
            await world.client().patch(there, annotated(there, a=f"other {number}"))
            await asyncio.sleep(0.1)

    run_story(tmp_path, story)
    assert 6 < len(passes) < 30


def test_writes_that_each_say_something_new_are_no_fight(tmp_path):
    """A status that counts a hundred instances as they come is progress, not a quarrel."""

    async def do(writer):
        there = await writer.create(config("status"))
        for number in range(60):
            there = await writer.patch(there, changed(there, str(number)))
        return there.data

    assert in_a_pass(tmp_path, do) == {"count": "59"}


@pytest.mark.parametrize(
    "said",
    [lambda n: "same" if n % 2 else "other", lambda n: f"2026-01-01T00:00:{n:02}Z"],
    ids=["to and fro", "only the time differs"],
)
def test_writes_that_say_the_same_again_are_a_fight(tmp_path, said):
    """Times are no news: a condition whose time is written anew each pass is a storm."""

    async def do(writer):
        there = await writer.create(config("status"))
        for number in range(10):
            there = await writer.patch(there, changed(there, said(number)))

    with pytest.raises(WriteConflictLoop):
        in_a_pass(tmp_path, do)


def test_news_without_end_is_a_fight_at_last(tmp_path):
    """A controller that counts its own passes in the object would never stop."""

    async def do(writer):
        there = await writer.create(config("status"))
        for number in range(105):
            there = await writer.patch(there, changed(there, str(number)))

    with pytest.raises(WriteConflictLoop):
        in_a_pass(tmp_path, do)
