"""Garbage collection: dependents are deleted, kept or orphaned, by the deletion's propagation."""

import asyncio
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import Conflict, NotFound
from kubekit.client.options import PLAIN_WRITE, Propagation
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.store.records import ChangeType, Draft
from tests.support.generated import depth
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import PlaneWorld, opened

PROPAGATIONS = ("Background", "Foreground", "Orphan")


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_dependents_go_with_their_owner(tmp_path, propagation):
    """Children and their children are gone when the plane is at rest."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        child = await world.create("child", owners=[parent])
        await world.create("grandchild", owners=[child])
        await world.create("unrelated")
        await world.delete("parent", propagation)
        return await world.names()

    assert _run(tmp_path, scenario) == ["unrelated"]


def test_orphaned_dependents_stay_and_forget_their_owner(tmp_path):
    """With orphan, only the reference goes."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        await world.create("child", owners=[parent])
        await world.delete("parent", "Orphan")
        return await world.names(), (await world.get("child"))["metadata"].get("ownerReferences")

    assert _run(tmp_path, scenario) == (["child"], None)


def test_a_dependent_of_two_owners_stays_with_the_one_that_is_left(tmp_path):
    """It forgets the owner that is gone, and goes with the last one."""

    async def scenario(world: PlaneWorld):
        one, two = await world.create("one"), await world.create("two")
        await world.create("child", owners=[one, two])
        await world.delete("one", "Background")
        between = await world.get("child")
        await world.delete("two", "Background")
        return [o["name"] for o in between["metadata"]["ownerReferences"]], await world.names()

    assert _run(tmp_path, scenario) == (["two"], [])


def test_an_owner_waits_in_the_foreground_for_dependents_that_block_it(tmp_path):
    """A finalizer on the child holds the parent too; without it both go."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        await world.create("child", owners=[parent], blocking=True, finalizers=["example.com/hold"])
        await world.delete("parent", "Foreground")
        held = await world.names()
        deleting = (await world.get("parent"))["metadata"]["finalizers"]
        await world.release("child")
        return held, deleting, await world.names()

    assert _run(tmp_path, scenario) == (["child", "parent"], ["foregroundDeletion"], [])


def test_a_dependent_that_does_not_block_is_not_waited_for(tmp_path):
    """The parent goes while its child is still held by a finalizer."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        await world.create("child", owners=[parent], finalizers=["example.com/hold"])
        await world.delete("parent", "Foreground")
        return await world.names()

    assert _run(tmp_path, scenario) == ["child"]


def test_objects_that_own_each_other_go_together(tmp_path):
    """A circle of blocking owners deleted in the foreground does not wait for itself."""

    async def scenario(world: PlaneWorld):
        first = await world.create("first")
        second = await world.create("second", owners=[first], blocking=True)
        await world.own("first", [second], blocking=True)
        await world.delete("first", "Foreground")
        return await world.names()

    assert _run(tmp_path, scenario) == []


def test_a_circle_that_is_deleted_as_a_whole_does_not_wait_for_itself(tmp_path):
    """Every member waits in the foreground already when the first one is reconciled."""

    async def scenario(world: PlaneWorld):
        first = await world.create("first")
        second = await world.create("second", owners=[first], blocking=True)
        third = await world.create("third", owners=[second], blocking=True)
        await world.own("first", [third], blocking=True)
        for name in ("first", "second", "third"):
            await world.ask_to_delete(name, "Foreground")
        await world.plane.rest()
        return await world.names()

    assert _run(tmp_path, scenario) == []


def test_a_circle_waits_for_a_dependent_outside_of_it(tmp_path):
    """Only what waits for the circle itself is not waited for."""

    async def scenario(world: PlaneWorld):
        first = await world.create("first")
        await world.own("first", [first], blocking=True)
        await world.create("held", owners=[first], blocking=True, finalizers=["example.com/hold"])
        await world.delete("first", "Foreground")
        held = await world.names()
        await world.release("held")
        return held, await world.names()

    assert _run(tmp_path, scenario) == (["first", "held"], [])


def test_an_owner_that_is_also_named_wrongly_is_still_there(tmp_path):
    """One reference that leads to the owner is enough, whatever another of its uid says."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        wrong = parent | {"metadata": parent["metadata"] | {"name": "missing"}}
        await world.create("child", owners=[parent, wrong])
        await world.plane.rest()
        return await world.names()

    assert _run(tmp_path, scenario) == ["child", "parent"]


def test_a_namespaced_owner_of_an_object_without_namespace_is_not_judged(tmp_path):
    """The namespace of the owner is unknown, so nothing is deleted for it."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "parent"}
        owned = {
            "name": "room",
            "ownerReferences": [reference | {"uid": parent["metadata"]["uid"]}],
        }
        kind = world.plane.kinds.require("v1", "Namespace")
        await world.plane.registry.create(kind, "", {"metadata": owned}, PLAIN_WRITE)
        await world.plane.rest()
        return world.plane.registry.get(kind, "", "room").key

    assert _run(tmp_path, scenario) == "room"


def test_a_dependent_that_goes_while_it_is_orphaned_holds_nothing_up(tmp_path):
    """The owner is requeued, although the dependent references it from another namespace."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        wrong = parent | {"apiVersion": "example.com/v9"}
        await world.create("child", owners=[wrong])
        store = world.plane.store

        def overtake(attempt: Attempt) -> None:
            record = store.find(world.kind.storage, "default/child")
            if attempt.key == "default/child" and record is not None:
                gone = Draft(
                    world.kind.storage,
                    record.key,
                    record.revision,
                    ChangeType.DELETED,
                    world.kind.head,
                    b'"name":"child","uid":"x"}}',
                )
                store.write(gone).add_done_callback(lambda _: None)

        world.plane.registry.admission.validating.append(overtake)
        await world.delete("parent", "Orphan")
        return await world.names()

    assert _run(tmp_path, scenario) == []


def test_the_next_object_of_the_same_name_is_no_owner(tmp_path):
    """Owners are known by uid: a new parent does not save the old one's child."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        await world.delete("parent", "Background")
        await world.create("parent")
        await world.create("child", owners=[parent])
        await world.plane.rest()
        return await world.names()

    assert _run(tmp_path, scenario) == ["parent"]


def test_an_owner_of_a_kind_that_is_not_served_is_taken_to_be_there(tmp_path):
    """It is unknown whether the owner exists, so nothing is deleted for it."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        parent |= {"apiVersion": "example.com/v9", "kind": "Unknown"}
        await world.create("child", owners=[parent])
        await world.plane.rest()
        return await world.names()

    assert _run(tmp_path, scenario) == ["child", "parent"]


def test_what_was_left_when_the_plane_stopped_is_collected_at_the_next_start(tmp_path):
    """The index is rebuilt from the stored objects."""

    async def prepare(world: PlaneWorld):
        parent = await world.create("parent")
        await world.create("child", owners=[parent])
        await world.ask_to_delete("parent", "Background")

    async def read(world: PlaneWorld):
        await world.plane.rest()
        return await world.names()

    _run(tmp_path, prepare)
    assert _run(tmp_path, read) == []


_names = st.sampled_from("abcde")
_create = st.tuples(st.just("create"), _names, st.sets(_names, max_size=2), st.booleans())
_delete = st.tuples(st.just("delete"), _names, st.sampled_from(PROPAGATIONS))


@settings(max_examples=depth.examples(150))
@given(st.lists(st.one_of(_create, _delete), max_size=14))
def test_what_is_left_is_what_a_naive_model_leaves(steps):
    """After any sequence of creations and deletions, exactly the right objects live."""

    async def scenario(world: PlaneWorld):
        model = _Model()
        for step in steps:
            match step:
                case ("create", str(name), set(owners), bool(blocking)):
                    if name in model.living:
                        continue
                    found = [await world.get(o) for o in sorted(owners & set(model.living))]
                    await world.create(name, owners=found, blocking=blocking)
                    model.create(name, owners)
                case ("delete", str(name), str(propagation)) if name in model.living:
                    await world.delete(name, cast("Propagation", propagation))
                    model.delete(name, propagation)
            await world.plane.rest()
            assert await world.names() == sorted(model.living)

    with TemporaryDirectory() as directory:
        _run(directory, scenario)


_owners = st.sets(_names, max_size=3)


@settings(max_examples=depth.examples(60))
@given(
    st.fixed_dictionaries(dict.fromkeys("abcde", _owners)),
    st.lists(st.tuples(_names, st.sampled_from(PROPAGATIONS)), unique_by=lambda wish: wish[0]),
)
def test_every_deletion_ends(owners_of, wishes):
    """For any owners and any concurrent deletions, a deleted object is removed and its name is free."""

    async def scenario(world: PlaneWorld):
        made = {name: await world.create(name) for name in owners_of}
        for name, owners in owners_of.items():
            await world.own(name, [made[owner] for owner in sorted(owners)], blocking=True)
        for name, propagation in wishes:
            with suppress(NotFound):
                await world.ask_to_delete(name, cast("Propagation", propagation))
        await world.plane.rest()
        left = [(await world.get(name))["metadata"] for name in await world.names()]
        named = {o["name"] for metadata in left for o in metadata.get("ownerReferences", ())}
        assert named <= {metadata["name"] for metadata in left}
        assert not any("deletionTimestamp" in metadata for metadata in left)

    with TemporaryDirectory() as directory:
        _run(directory, scenario)


@pytest.mark.parametrize("refusal", [Conflict("no"), NotFound("no")], ids=["409", "404"])
def test_w1_a_refusal_is_not_taken_for_an_object_that_moved_on(tmp_path, refusal):
    """A webhook may refuse with any reason: the deletion is retried later, and not at once."""

    async def scenario(world: PlaneWorld):
        parent = await world.create("parent")
        await world.create("child", owners=[parent])
        asked: list[str] = []

        def object_to(attempt: Attempt) -> None:
            if attempt.verb == "delete" and attempt.name == "child":
                asked.append(attempt.name)
                if len(asked) < 1000:
                    raise refusal

        world.plane.registry.admission.validating.append(object_to)
        await world.ask_to_delete("parent", "Background")
        await asyncio.sleep(10)
        world.plane.registry.admission.validating.remove(object_to)
        await world.plane.rest()
        return len(asked), await world.names()

    asked, left = _run(tmp_path, scenario)
    assert 2 < asked < 20
    assert left == []


class _Model:
    """Ownership as a set of names and a loop that runs until nothing changes."""

    def __init__(self):
        self.living: dict[str, set[str]] = {}

    def create(self, name, owners):
        self.living[name] = owners & set(self.living)

    def delete(self, name, propagation):
        del self.living[name]
        if propagation == "Orphan":
            for owners in self.living.values():
                owners.discard(name)
            return
        while lost := [n for n, o in self.living.items() if o and not o & set(self.living)]:
            for victim in lost:
                del self.living[victim]
        for owners in self.living.values():
            owners &= set(self.living)


def _run(directory, scenario):
    async def inside():
        async with opened(directory) as world:
            return await scenario(world)

    return virtual_time.run(inside())
