"""Removing objects: conditions, finalizers, dependents, whole collections."""

import pytest

from kubekit.api.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Invalid,
    MethodNotAllowed,
    NotFound,
)
from kubekit.client.options import ListOptions
from tests.contract.collection import Collection, names, version
from tests.contract.kinds import RED

HOLD = {"finalizers": ["test.example/hold"]}


async def release(collection: Collection, name: str) -> None:
    await collection.merge(name, {"metadata": {"finalizers": None}})


async def test_a_deleted_object_is_gone(widgets: Collection):
    """The answer is a success that names the object."""
    made = await widgets.make("one", spec=RED)
    status = await widgets.delete("one")
    assert (status["kind"], status["status"]) == ("Status", "Success")
    assert status["details"] == {
        "name": "one",
        "group": "contract.datumapis.com",
        "kind": "widgets",
        "uid": made["metadata"]["uid"],
    }
    with pytest.raises(NotFound):
        await widgets.get("one")


async def test_what_is_not_there_cannot_be_deleted(widgets: Collection):
    """A second delete says that there is nothing."""
    await widgets.make("one", spec=RED)
    await widgets.delete("one")
    with pytest.raises(NotFound):
        await widgets.delete("one")


async def test_a_delete_may_insist_on_a_uid(widgets: Collection):
    """Only that very object is removed, not another of its name."""
    made = await widgets.make("one", spec=RED)
    other = "11111111-1111-4111-8111-111111111111"
    with pytest.raises(Conflict) as refusal:
        await widgets.delete("one", uid=other)
    assert other in refusal.value.message
    await widgets.delete("one", uid=made["metadata"]["uid"])
    assert names(await widgets.list()) == []


async def test_a_delete_may_insist_on_a_version(widgets: Collection):
    """The object is removed only as the client knows it."""
    made = await widgets.make("one", spec=RED)
    changed = await widgets.merge("one", {"spec": {"colour": "blue"}})
    with pytest.raises(Conflict) as refusal:
        await widgets.delete("one", resource_version=version(made))
    assert version(made) in refusal.value.message
    await widgets.delete("one", resource_version=version(changed))
    assert names(await widgets.list()) == []


async def test_both_conditions_must_hold(widgets: Collection):
    """A right version does not excuse a wrong uid."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(Conflict):
        await widgets.delete("one", uid="other", resource_version=version(made))
    assert await widgets.get("one") == made


async def test_a_finalizer_holds_an_object(widgets: Collection):
    """A delete only marks it, and answers with the marked object."""
    made = await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one")
    assert marked["kind"] == "Widget"
    assert marked["metadata"]["deletionTimestamp"] >= made["metadata"]["creationTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert marked["metadata"]["generation"] == 2
    assert await widgets.get("one") == marked
    await release(widgets, "one")


async def test_a_marked_object_is_marked_once(widgets: Collection):
    """Deleting it again changes nothing."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one")
    again = await widgets.delete("one")
    assert again["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    assert version(await widgets.get("one")) == version(marked)
    await release(widgets, "one")


async def test_the_last_finalizer_lets_go(widgets: Collection):
    """The write that removes the last finalizer removes the object."""
    await widgets.make(
        "one", metadata={"finalizers": ["test.example/a", "test.example/b"]}, spec=RED
    )
    await widgets.delete("one")
    await widgets.merge("one", {"metadata": {"finalizers": ["test.example/b"]}})
    assert (await widgets.get("one"))["metadata"]["finalizers"] == ["test.example/b"]
    last = await widgets.merge("one", {"metadata": {"finalizers": None}})
    assert last["metadata"]["name"] == "one"
    with pytest.raises(NotFound):
        await widgets.get("one")


async def test_an_update_lets_go_too(widgets: Collection):
    """It does not matter by which verb the last finalizer goes."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one")
    del marked["metadata"]["finalizers"]
    await widgets.update(marked)
    with pytest.raises(NotFound):
        await widgets.get("one")


async def test_a_marked_object_gets_no_new_finalizers(widgets: Collection):
    """Who did not hold the object before its deletion cannot begin to."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    await widgets.delete("one")
    with pytest.raises(Invalid) as refusal:
        await widgets.merge("one", {"metadata": {"finalizers": ["test.example/hold", "a.b/c"]}})
    assert "metadata.finalizers: Forbidden: no new finalizers can be added" in refusal.value.message
    await release(widgets, "one")


async def test_a_marked_object_can_still_be_changed(widgets: Collection):
    """Controllers report on an object to its end."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    await widgets.delete("one")
    stopping = await widgets.merge("one", {"status": {"phase": "Stopping"}}, "status")
    assert stopping["status"]["phase"] == "Stopping"
    changed = await widgets.merge("one", {"spec": {"colour": "blue"}})
    assert changed["spec"]["colour"] == "blue"
    await release(widgets, "one")


async def test_a_deletion_cannot_be_taken_back(widgets: Collection):
    """The mark stays, whatever a client writes."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one")
    patch = {"metadata": {"deletionTimestamp": None, "labels": {"a": "b"}}}
    patched = await widgets.merge("one", patch)
    assert patched["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    await release(widgets, "one")


async def test_the_name_is_not_free_while_the_object_is_held(widgets: Collection):
    """A marked object still has its name."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    await widgets.delete("one")
    with pytest.raises(AlreadyExists):
        await widgets.make("one", spec=RED)
    await release(widgets, "one")


async def test_a_grace_of_nothing_does_not_outweigh_a_finalizer(widgets: Collection):
    """Grace is for what runs; a finalizer holds all the same."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one", grace_period_seconds=0)
    assert marked["metadata"]["finalizers"] == ["test.example/hold"]
    await release(widgets, "one")


async def test_a_grace_does_not_delay_what_does_not_run(widgets: Collection):
    """An object without anything running is gone at once."""
    await widgets.make("one", spec=RED)
    await widgets.delete("one", grace_period_seconds=30)
    assert names(await widgets.list()) == []


@pytest.mark.parametrize(
    ("propagation", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
)
async def test_how_dependents_go_is_written_on_the_owner(
    widgets: Collection, propagation, finalizer: str
):
    """The answer shows the finalizer that the garbage collector works by."""
    await widgets.make("one", metadata=HOLD, spec=RED)
    marked = await widgets.delete("one", propagation=propagation)
    assert sorted(marked["metadata"]["finalizers"]) == sorted([finalizer, "test.example/hold"])
    await release(widgets, "one")


async def test_background_needs_no_finalizer(widgets: Collection):
    """The owner goes first and its dependents after it."""
    await widgets.make("one", spec=RED)
    assert (await widgets.delete("one", propagation="Background"))["status"] == "Success"


async def test_an_unknown_propagation_is_refused(widgets: Collection):
    """The refusal names the field, and nothing is deleted."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises((Invalid, BadRequest)) as refusal:
        await widgets.delete("one", propagation="Sideways")
    assert "propagationPolicy" in refusal.value.message
    assert await widgets.get("one") == made


async def test_a_trial_delete_deletes_nothing(widgets: Collection):
    """A dry run answers like the real thing."""
    made = await widgets.make("one", spec=RED)
    assert (await widgets.delete("one", dry_run=True))["status"] == "Success"
    assert await widgets.get("one") == made


async def test_a_trial_delete_of_a_held_object_marks_nothing(widgets: Collection):
    """A dry run shows the mark without making it."""
    made = await widgets.make("one", metadata=HOLD, spec=RED)
    assert "deletionTimestamp" in (await widgets.delete("one", dry_run=True))["metadata"]
    assert await widgets.get("one") == made
    await release(widgets, "one")


async def test_a_collection_is_cleared(widgets: Collection, transport):
    """All objects of the namespace go, and none of another; the answer lists them."""
    other = Collection(transport, widgets.resource, "default")
    foreign = (await other.make(metadata={"generateName": "foreign-"}, spec=RED))["metadata"][
        "name"
    ]
    for name in "abc":
        await widgets.make(name, spec=RED)
    cleared = await widgets.clear()
    assert (cleared["kind"], sorted(names(cleared))) == ("WidgetList", ["a", "b", "c"])
    assert names(await widgets.list()) == []
    assert (await other.get(foreign))["metadata"]["name"] == foreign
    await other.delete(foreign)


@pytest.mark.parametrize(
    ("which", "left"),
    [
        (ListOptions(label_selector="n=a"), ["b", "c"]),
        (ListOptions(field_selector="metadata.name!=a"), ["a"]),
        (ListOptions(label_selector="n=a", field_selector="metadata.name=b"), ["a", "b", "c"]),
    ],
    ids=["labels", "fields", "both"],
)
async def test_a_selection_is_cleared(widgets: Collection, which: ListOptions, left: list[str]):
    """Only what the selectors mean goes."""
    for name in "abc":
        await widgets.make(name, metadata={"labels": {"n": name}}, spec=RED)
    await widgets.clear(which)
    assert names(await widgets.list()) == left


async def test_clearing_nothing_is_no_mistake(widgets: Collection):
    """An empty collection is cleared already."""
    assert names(await widgets.clear()) == []


async def test_clearing_respects_finalizers(widgets: Collection):
    """Held objects are marked and stay."""
    await widgets.make("held", metadata=HOLD, spec=RED)
    await widgets.make("free", spec=RED)
    await widgets.clear()
    listing = await widgets.list()
    assert names(listing) == ["held"]
    assert "deletionTimestamp" in listing["items"][0]["metadata"]
    await release(widgets, "held")


async def test_a_trial_clearing_deletes_nothing(widgets: Collection):
    """A dry run over a collection leaves it whole."""
    await widgets.make("a", spec=RED)
    await widgets.clear(dry_run=True)
    assert names(await widgets.list()) == ["a"]


async def test_all_namespaces_are_not_cleared_at_once(widgets: Collection):
    """A collection is cleared in one namespace."""
    with pytest.raises((MethodNotAllowed, NotFound)):
        await widgets.everywhere.clear()


async def test_namespaces_are_not_cleared_at_once(namespaces: Collection):
    """A request to delete every namespace is a mistake."""
    with pytest.raises(MethodNotAllowed):
        await namespaces.clear(ListOptions(label_selector="no-such-label=x"))
