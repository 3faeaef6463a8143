"""Deleting objects: conditions, finalizers, propagation, many at once."""

import asyncio
from typing import cast

import pytest

from kubekit.api.errors import Conflict, Forbidden, Invalid, MethodNotAllowed, NotFound, Timeout
from kubekit.client.options import DeleteOptions, ListOptions, Propagation
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.registry_builders import (
    SPACE,
    World,
    document_of,
    names,
    scenario,
    version,
)

HELD = {"finalizers": ["example.com/hold"]}


@scenario
async def test_an_object_that_nothing_holds_is_gone(world: World):
    """The answer is its last state, at the revision of its end."""
    made = await world.widgets.make("a")
    deleted = await world.widgets.delete("a")
    assert deleted.gone
    assert deleted.record.revision == world.store.revision == int(version(made)) + 1
    with pytest.raises(NotFound):
        await world.widgets.delete("a")


@scenario
async def test_a_finalizer_holds_an_object(world: World):
    """It gets a deletionTimestamp, and that counts as a change of the generation."""
    await world.widgets.make("a", HELD)
    deleted = await world.widgets.delete("a")
    metadata = document_of(deleted)["metadata"]
    assert not deleted.gone
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert metadata["generation"] == 2


@scenario
async def test_a_marked_object_is_marked_once(world: World):
    """A second delete writes nothing and answers with the same."""
    await world.widgets.make("a", HELD)
    first = await world.widgets.delete("a")
    await asyncio.sleep(10)
    assert await world.widgets.delete("a") == first


@scenario
async def test_a_delete_may_insist_on_the_uid(world: World):
    """A recreated object is not the one of the precondition."""
    made = await world.widgets.make("a")
    with pytest.raises(Conflict, match=r"the UID in the precondition \(x\) does not match"):
        await world.widgets.delete("a", DeleteOptions(uid="x"))
    assert (await world.widgets.delete("a", DeleteOptions(uid=made["metadata"]["uid"]))).gone


@scenario
async def test_a_delete_may_insist_on_the_version(world: World):
    """An object that has moved on is not deleted."""
    made = await world.widgets.make("a")
    with pytest.raises(Conflict, match=r"the ResourceVersion in the precondition \(1\)"):
        await world.widgets.delete("a", DeleteOptions(resource_version="1"))
    assert (await world.widgets.delete("a", DeleteOptions(resource_version=version(made)))).gone


@scenario
async def test_a_delete_without_conditions_does_not_lose_a_race(world: World):
    """Another change in between is taken into account, not a reason to fail."""
    await world.widgets.make("a")
    changed, deleted = await asyncio.gather(
        world.widgets.merge("a", {"metadata": HELD}), world.widgets.delete("a")
    )
    assert changed.record.revision < deleted.record.revision
    assert not deleted.gone


@pytest.mark.parametrize(
    ("propagation", "finalizer"),
    [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")],
    ids=["orphan", "foreground"],
)
@scenario
async def test_how_dependents_go_is_written_on_the_owner(world: World, propagation, finalizer):
    """The collector finds it there, and takes it off when it is done."""
    await world.widgets.make("a")
    deleted = await world.widgets.delete("a", DeleteOptions(propagation=propagation))
    assert document_of(deleted)["metadata"]["finalizers"] == [finalizer]


@scenario
async def test_background_takes_the_other_wishes_off(world: World):
    """Nothing waits for dependents any more, so the object is removed."""
    await world.widgets.make("a")
    await world.widgets.delete("a", DeleteOptions(propagation="Foreground"))
    assert (await world.widgets.delete("a", DeleteOptions(propagation="Background"))).gone


@scenario
async def test_a_wish_may_change(world: World):
    """The later one counts; other finalizers stay."""
    await world.widgets.make("a", HELD)
    await world.widgets.delete("a", DeleteOptions(propagation="Foreground"))
    await world.widgets.delete("a", DeleteOptions(propagation="Orphan"))
    again = await world.widgets.delete("a", DeleteOptions(propagation="Orphan"))
    assert document_of(again)["metadata"]["finalizers"] == [*HELD["finalizers"], "orphan"]


@scenario
async def test_a_wish_on_the_object_counts_if_none_is_said(world: World):
    """A finalizer that was there before says how dependents go."""
    await world.widgets.make("a", {"finalizers": ["orphan"]})
    assert not (await world.widgets.delete("a")).gone


@scenario
async def test_an_unknown_propagation_is_refused(world: World):
    """The field is named, and nothing is deleted."""
    made = await world.widgets.make("a")
    with pytest.raises(Invalid, match="propagationPolicy: Unsupported value"):
        await world.widgets.delete("a", DeleteOptions(propagation=cast("Propagation", "Sideways")))
    assert world.widgets.get("a") == made


@pytest.mark.parametrize("propagation", ["", "Foreground"], ids=["gone", "held"])
@scenario
async def test_a_trial_deletes_nothing(world: World, propagation):
    """The answer tells what would be."""
    made = await world.widgets.make("a")
    options = DeleteOptions(dry_run=True, propagation=propagation)
    deleted = await world.widgets.delete("a", options)
    assert deleted.gone is (not propagation)
    assert world.widgets.get("a") == made


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
@scenario
async def test_some_namespaces_stay(world: World, name):
    """The first namespaces cannot be deleted."""
    with pytest.raises(Forbidden, match="this namespace may not be deleted"):
        await world.namespaces.delete(name)


@scenario
async def test_a_namespace_that_is_deleted_twice_ends_once(world: World):
    """Both clients get the same result, also at the same time."""
    first, second = await asyncio.gather(
        world.namespaces.delete(SPACE), world.namespaces.delete(SPACE)
    )
    assert first == second
    assert not first.gone
    assert document_of(first)["status"]["phase"] == "Terminating"


@scenario
async def test_namespaces_are_not_deleted_all_at_once(world: World):
    """No server offers that."""
    with pytest.raises(MethodNotAllowed):
        await world.namespaces.clear()


@scenario
async def test_a_collection_is_deleted_as_far_as_it_is_meant(world: World):
    """The answer lists what was asked to go, as it was before."""
    for name in "abc":
        await world.widgets.make(name, {"labels": {"which": name}})
    await world.widgets.make("held", {**HELD, "labels": {"which": "a"}})
    page = await world.widgets.clear(ListOptions(label_selector="which in (a,b)"))
    assert names(page) == ["a", "b", "held"]
    assert names(await world.widgets.list()) == ["c", "held"]


@scenario
async def test_a_collection_spans_namespaces(world: World):
    """Without a namespace, objects of all of them go."""
    await world.namespaces.make("other")
    await world.widgets.make("a")
    await world.collection("example.com/v1", "Widget", "other").make("b")
    await world.collection("example.com/v1", "Widget", "").clear()
    assert len(world.store.collection("example.com/widgets")) == 0


@scenario
async def test_what_another_deletes_meanwhile_is_no_failure(world: World):
    """Two clients that delete the same collection both succeed."""
    for name in "abc":
        await world.widgets.make(name)
    await asyncio.gather(world.widgets.clear(), world.widgets.clear())
    assert names(await world.widgets.list()) == []


@scenario
async def test_w1_a_delete_that_is_always_too_late_ends(world: World):
    """If a plugin changes the object on every attempt, the retries end."""
    await world.config_maps.make("a")
    asked: list[str] = []

    async def meddle(attempt: Attempt) -> None:
        if attempt.verb == "delete":
            asked.append(attempt.name)
            await world.config_maps.merge("a", {"data": {"n": str(len(asked))}})
            await asyncio.sleep(5)

    world.registry.admission.validating.append(meddle)
    with pytest.raises(Timeout, match="other clients keep changing it"):
        await world.config_maps.delete("a")
    assert 2 < len(asked) < 20


@scenario
async def test_nothing_goes_on_after_a_refusal_to_delete_many(world: World):
    """The refusal is returned after all others are done."""
    for name in ("a", "b", "c"):
        await world.config_maps.make(name)

    async def refuse(attempt: Attempt) -> None:
        if attempt.name == "a":
            raise Forbidden("not this one")
        await asyncio.sleep(5)

    world.registry.admission.validating.append(refuse)
    with pytest.raises(Forbidden, match="not this one"):
        await world.config_maps.clear()
    assert names(await world.config_maps.list()) == ["a"]
