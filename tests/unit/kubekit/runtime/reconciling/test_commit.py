"""Writing differences on a real plane."""

import msgspec
import pytest

from kubekit.api.errors import Conflict
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.plane.local import LocalClient
from kubekit.runtime.reconciling import commit
from tests.support.kubekit.plane_worlds import opened
from tests.support.kubekit.virtual_time import run


def box(data, name="box", **metadata):
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", **metadata), data=data)


def on_a_plane(directory, story):
    async def scenario():
        async with opened(directory) as world:
            await story(LocalClient(world.plane))

    run(scenario())


def test_ensure_makes_what_is_missing(tmp_path):
    """Nothing of that name: the fresh object is created as it is."""

    async def story(client):
        made = await commit.create_or_patch(client, box({"a": "1"}), lambda present: present)
        assert (made.data, made.metadata.uid != "") == ({"a": "1"}, True)

    on_a_plane(tmp_path, story)


def test_ensure_writes_nothing_twice(tmp_path):
    """What is there already is not written again: its version stays."""

    async def story(client):
        made = await commit.create_or_patch(client, box({"a": "1"}), with_data({"a": "1"}))
        again = await commit.create_or_patch(client, box({"a": "1"}), with_data({"a": "1"}))
        assert again == made

    on_a_plane(tmp_path, story)


def test_ensure_brings_what_is_there_to_where_it_should_be(tmp_path):
    """Only the caller's part changes; the rest of what is there stays."""

    async def story(client):
        await client.create(box({"a": "1"}, labels={"theirs": "kept"}))
        patched = await commit.create_or_patch(client, box({"a": "2"}), with_data({"a": "2"}))
        assert (patched.data, patched.metadata.labels) == ({"a": "2"}, {"theirs": "kept"})

    on_a_plane(tmp_path, story)


def test_create_or_patch_survives_a_faster_writer(tmp_path):
    """Another writer creates the object after the read: it is patched, and nothing fails."""

    class Slow(LocalClient):
        async def find(self, kind, name, namespace=""):
            found = await super().find(kind, name, namespace)
            if found is None:
                await self.create(box({"a": "0"}))
            return found

    async def story(client):
        slow = Slow(client.raw._plane)
        patched = await commit.create_or_patch(slow, box({"a": "2"}), with_data({"a": "2"}))
        assert patched.data == {"a": "2"}

    on_a_plane(tmp_path, story)


def with_data(data):
    return lambda present: msgspec.structs.replace(present, data=data)


def test_trap_maps_are_merged_and_never_replaced(tmp_path):
    """Two controllers write annotations of one object at once: neither wipes the other's key."""

    def annotated(own):
        def renewed(present):
            notes = commit.merge_maps(present.metadata.annotations, own)
            metadata = msgspec.structs.replace(present.metadata, annotations=notes)
            return msgspec.structs.replace(present, metadata=metadata)

        return renewed

    async def story(client):
        await client.create(box({}))
        await commit.create_or_patch(client, box({}), annotated({"a": "1", "gone": "x"}))
        await commit.create_or_patch(client, box({}), annotated({"b": "2"}))
        last = await commit.create_or_patch(client, box({}), annotated({"gone": None}))
        settled = await commit.create_or_patch(client, box({}), annotated({"a": "1"}))
        assert last.metadata.annotations == {"a": "1", "b": "2"}
        assert settled.metadata.resource_version == last.metadata.resource_version

    on_a_plane(tmp_path, story)


def test_a_finalizer_is_put_on_once_and_taken_off(tmp_path):
    """Others' finalizers stay; putting on what is on, and taking off what is off, write nothing."""

    async def story(client):
        made = await client.create(box({}, finalizers=("theirs.example/x",)))
        held = await commit.add_finalizer(client, made, "ours.example/y")
        assert await commit.add_finalizer(client, held, "ours.example/y") is held
        await commit.remove_finalizer(client, held, "ours.example/y")
        left = await client.get(ConfigMap, "box", "default")
        await commit.remove_finalizer(client, left, "ours.example/y")

        assert held.metadata.finalizers == ("theirs.example/x", "ours.example/y")
        assert left.metadata.finalizers == ("theirs.example/x",)
        assert await client.get(ConfigMap, "box", "default") == left

    on_a_plane(tmp_path, story)


def test_releasing_what_has_gone_is_no_failure(tmp_path):
    """The object went on its own: there is nothing left to release."""

    async def story(client):
        made = await client.create(box({}, finalizers=("ours.example/y",)))
        await client.delete(made)
        dying = await client.get(ConfigMap, "box", "default")
        await commit.remove_finalizer(client, dying, "ours.example/y")
        await commit.remove_finalizer(client, dying, "ours.example/y")

    on_a_plane(tmp_path, story)


def test_a_finalizer_is_not_taken_off_blindly(tmp_path):
    """The object was written since it was read: read again, decide again."""

    async def story(client):
        made = await client.create(box({"a": "1"}, finalizers=("ours.example/y",)))
        await client.patch(made, with_data({"a": "2"})(made))
        with pytest.raises(Conflict):
            await commit.remove_finalizer(client, made, "ours.example/y")

    on_a_plane(tmp_path, story)
