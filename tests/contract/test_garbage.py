"""Dependents go when their owners go: the garbage collector."""

from typing import Any

import pytest

from kubekit.client.transport import Document
from tests.contract.collection import Collection, names, upto, version
from tests.contract.kinds import RED

pytestmark = pytest.mark.controllers
HOLD = "test.example/hold"


def owner_of(document: Document, **more: Any) -> Document:
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "name": document["metadata"]["name"],
        "uid": document["metadata"]["uid"],
        **more,
    }


async def child(collection: Collection, name: str, *owners: Document, **metadata: Any) -> Document:
    metadata = {"ownerReferences": list(owners), **metadata}
    fields = {"spec": RED} if collection.resource.kind == "Widget" else {"data": {}}
    return await collection.make(name, metadata=metadata, **fields)


async def gone(collection: Collection, name: str, since: str) -> None:
    """Wait until the object is deleted."""
    async with collection.watch(resource_version=since) as stream:
        await upto(stream, "DELETED", name)


async def test_a_dependent_follows_its_owner(widgets: Collection, config_maps: Collection):
    """The dependent may be of another kind."""
    parent = await widgets.make("parent", spec=RED)
    await child(config_maps, "child", owner_of(parent))
    since = version(await config_maps.list())
    await widgets.delete("parent", propagation="Background")
    await gone(config_maps, "child", since)


async def test_dependents_of_dependents_follow(widgets: Collection, config_maps: Collection):
    """A whole tree goes with its root."""
    root = await widgets.make("root", spec=RED)
    middle = await child(widgets, "middle", owner_of(root))
    await child(config_maps, "leaf", owner_of(middle))
    since = version(await config_maps.list())
    await widgets.delete("root", propagation="Background")
    await gone(config_maps, "leaf", since)
    assert names(await widgets.list()) == []


async def test_one_owner_that_stays_is_enough(widgets: Collection, config_maps: Collection):
    """A dependent of two goes with the second; the reference to the first is taken away."""
    first = await widgets.make("first", spec=RED)
    second = await widgets.make("second", spec=RED)
    made = await child(config_maps, "child", owner_of(first), owner_of(second))
    await widgets.delete("first", propagation="Background")
    async with config_maps.watch(resource_version=version(made)) as stream:
        events = await upto(stream, "MODIFIED", "child")
        owners = events[-1].object["metadata"]["ownerReferences"]
        assert [o["name"] for o in owners] == ["second"]
        await widgets.delete("second", propagation="Background")
        await upto(stream, "DELETED", "child")


async def test_an_owner_that_never_was(config_maps: Collection):
    """A dependent of an object that does not exist is garbage from the start."""
    since = version(await config_maps.list())
    absent = {"apiVersion": "v1", "kind": "ConfigMap", "name": "absent", "uid": "no-such-uid"}
    await child(config_maps, "child", absent)
    await gone(config_maps, "child", since)


async def test_an_owner_of_the_same_name_is_another(config_maps: Collection, widgets: Collection):
    """Owners are identified by their uid."""
    parent = await widgets.make("parent", spec=RED)
    since = version(await config_maps.list())
    await child(config_maps, "child", owner_of(parent) | {"uid": "of-an-earlier-parent"})
    await gone(config_maps, "child", since)
    assert (await widgets.get("parent"))["metadata"]["uid"] == parent["metadata"]["uid"]


async def test_orphans_stay(widgets: Collection, config_maps: Collection):
    """With orphaning the dependents lose the reference and live on."""
    parent = await widgets.make("parent", spec=RED)
    made = await child(config_maps, "child", owner_of(parent))
    since = version(await widgets.list())
    await widgets.delete("parent", propagation="Orphan")
    await gone(widgets, "parent", since)
    kept = (await config_maps.get("child"))["metadata"]
    assert "ownerReferences" not in kept
    assert kept["uid"] == made["metadata"]["uid"]


async def test_in_the_foreground_dependents_go_first(widgets: Collection, config_maps: Collection):
    """The owner stays, marked, until the dependents that block it are gone."""
    parent = await widgets.make("parent", spec=RED)
    block = owner_of(parent, blockOwnerDeletion=True)
    made = await child(config_maps, "child", block, finalizers=[HOLD])
    since = version(await widgets.list())
    async with config_maps.watch(resource_version=version(made)) as stream:
        await widgets.delete("parent", propagation="Foreground")
        events = await upto(stream, "MODIFIED", "child")
    assert "deletionTimestamp" in events[-1].object["metadata"]
    assert (await widgets.get("parent"))["metadata"]["finalizers"] == ["foregroundDeletion"]
    await config_maps.merge("child", {"metadata": {"finalizers": None}})
    await gone(widgets, "parent", since)


async def test_in_the_foreground_only_blockers_are_waited_for(
    widgets: Collection, config_maps: Collection
):
    """A dependent that does not block is deleted, but the owner does not wait for it."""
    parent = await widgets.make("parent", spec=RED)
    await child(config_maps, "child", owner_of(parent), finalizers=[HOLD])
    since = version(await widgets.list())
    await widgets.delete("parent", propagation="Foreground")
    await gone(widgets, "parent", since)
    await config_maps.merge("child", {"metadata": {"finalizers": None}})


async def test_a_cluster_scoped_owner(gadgets: Collection, config_maps: Collection, space: str):
    """An object in a namespace may belong to one that has none."""
    parent = await gadgets.make(space, spec={})
    await child(config_maps, "child", owner_of(parent))
    since = version(await config_maps.list())
    await gadgets.delete(space, propagation="Background")
    await gone(config_maps, "child", since)


async def test_a_dependent_without_a_living_owner_waits_for_its_finalizers(
    widgets: Collection, config_maps: Collection
):
    """Garbage is deleted like anything else: finalizers hold it."""
    parent = await widgets.make("parent", spec=RED)
    made = await child(config_maps, "child", owner_of(parent), finalizers=[HOLD])
    async with config_maps.watch(resource_version=version(made)) as stream:
        await widgets.delete("parent", propagation="Background")
        marked = (await upto(stream, "MODIFIED", "child"))[-1].object
        assert "deletionTimestamp" in marked["metadata"]
        await config_maps.merge("child", {"metadata": {"finalizers": None}})
        await upto(stream, "DELETED", "child")


async def test_what_has_no_owner_is_left_alone(widgets: Collection, config_maps: Collection):
    """Only dependents go."""
    parent = await widgets.make("parent", spec=RED)
    await config_maps.make("free", data={})
    await child(config_maps, "child", owner_of(parent))
    since = version(await config_maps.list())
    await widgets.delete("parent", propagation="Background")
    await gone(config_maps, "child", since)
    assert "free" in names(await config_maps.list())
