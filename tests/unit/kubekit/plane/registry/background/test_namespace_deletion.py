"""The end of a namespace: content first, then itself; nothing new meanwhile, nothing left after."""

import asyncio

import msgspec
import pytest

from kubekit.api.errors import Conflict, Forbidden, NotFound
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import PlaneWorld, opened


def test_a_namespace_goes_with_everything_in_it(tmp_path):
    """Deleting a namespace deletes its objects and then the namespace."""

    async def scenario(world: PlaneWorld):
        await _make_room(world)
        room = PlaneWorld(world.plane, "room")
        await room.create("a")
        await room.create("b")
        await _end_room(world)
        await world.plane.rest()
        return await room.names(), _room_is_there(world)

    assert _run(tmp_path, scenario) == ([], False)


def test_a_namespace_waits_for_finalizers_and_says_so(tmp_path):
    """While a finalizer holds an object, the namespace stays and names kind and finalizer."""

    async def scenario(world: PlaneWorld):
        await _make_room(world)
        room = PlaneWorld(world.plane, "room")
        await room.create("held", finalizers=["example.com/hold"])
        await _end_room(world)
        await world.plane.rest()
        messages = [c["message"] for c in (await _room(world))["status"]["conditions"]]
        await room.release("held")
        await world.plane.rest()
        return messages, _room_is_there(world)

    messages, there = _run(tmp_path, scenario)
    assert "configmaps has 1 resource instances" in messages[0]
    assert "example.com/hold in 1 resource instances" in messages[1]
    assert not there


def test_an_object_that_may_not_be_deleted_does_not_keep_the_others(tmp_path):
    """The rest is deleted, the conditions report what is left, and the namespace is removed at the end."""

    async def scenario(world: PlaneWorld):
        await _make_room(world)
        room = PlaneWorld(world.plane, "room")
        for name in ("a", "b", "c"):
            await room.create(name)

        def object_to(attempt: Attempt) -> None:
            if attempt.verb == "delete" and attempt.key == "room/a":
                raise Forbidden("a stays")

        world.plane.registry.admission.validating.append(object_to)
        await _end_room(world)
        await asyncio.sleep(1)
        left = await room.names()
        messages = [c["message"] for c in (await _room(world))["status"]["conditions"]]
        world.plane.registry.admission.validating.clear()
        await world.plane.rest()
        return left, messages[0], _room_is_there(world)

    left, message, there = _run(tmp_path, scenario)
    assert left == ["a"]
    assert "configmaps has 1 resource instances" in message
    assert not there


@pytest.mark.parametrize("refusal", [Conflict("a stays"), NotFound("a stays")], ids=["409", "404"])
def test_w1_a_refusal_is_not_taken_for_an_object_that_is_gone(tmp_path, refusal):
    """A webhook may refuse with any reason: the deletion is retried from time to time."""

    async def scenario(world: PlaneWorld):
        await _make_room(world)
        room = PlaneWorld(world.plane, "room")
        await room.create("a")
        asked: list[str] = []

        def object_to(attempt: Attempt) -> None:
            if attempt.verb == "delete" and attempt.key == "room/a":
                asked.append(attempt.key)
                raise refusal

        world.plane.registry.admission.validating.append(object_to)
        await _end_room(world)
        await asyncio.sleep(10)
        world.plane.registry.admission.validating.remove(object_to)
        await world.plane.rest()
        return len(asked), _room_is_there(world)

    asked, there = _run(tmp_path, scenario)
    assert 2 < asked < 20
    assert not there


def test_nothing_is_created_in_a_namespace_that_ends(tmp_path):
    """Creation is refused while it ends, and after it has ended."""

    async def scenario(world: PlaneWorld):
        await _make_room(world)
        room = PlaneWorld(world.plane, "room")
        await room.create("held", finalizers=["example.com/hold"])
        await _end_room(world)
        with pytest.raises(Forbidden, match="terminat"):
            await room.create("late")
        await room.release("held")
        await world.plane.rest()
        with pytest.raises(NotFound, match='namespaces "room" not found'):
            await room.create("later")

    _run(tmp_path, scenario)


def test_the_end_of_a_namespace_is_finished_after_a_restart(tmp_path):
    """A plane that stopped in between takes the work up again."""

    async def start(world: PlaneWorld):
        await _make_room(world)
        await PlaneWorld(world.plane, "room").create("a")
        await _end_room(world)

    async def is_present(world: PlaneWorld):
        await world.plane.rest()
        return _room_is_there(world)

    _run(tmp_path, start)
    assert _run(tmp_path, is_present) is False


def _kind(world):
    return world.plane.kinds.require("v1", "Namespace")


async def _make_room(world):
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "room"}}
    await world.plane.registry.create(_kind(world), "", document, PLAIN_WRITE)


async def _end_room(world):
    await world.plane.registry.delete(_kind(world), "", "room", PLAIN_DELETE)


async def _room(world):
    return msgspec.json.decode(world.plane.registry.get(_kind(world), "", "room").data)


def _room_is_there(world):
    return world.plane.store.find(_kind(world).storage, "room") is not None


def _run(directory, scenario):
    async def inside():
        async with opened(directory) as world:
            return await scenario(world)

    return virtual_time.run(inside())
