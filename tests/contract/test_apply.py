"""Server-side apply: who owns which fields, what becomes of those that are given up."""

from typing import Any

import pytest

from kubekit.api.errors import ApiError, BadRequest, Conflict, Invalid, NotFound
from kubekit.client.options import PatchType
from kubekit.client.transport import Document
from tests.contract.collection import Collection, Part, version
from tests.contract.kinds import RED


async def apply(
    collection: Collection,
    name: str,
    manager: str = "first",
    part: Part = "",
    *,
    force: bool = False,
    **fields: Any,
) -> Document:
    """The object after a manager applied these fields of it."""
    return await collection.patch(
        name,
        PatchType.APPLY,
        collection.document(name, **fields),
        part,
        field_manager=manager,
        force=force,
    )


def owners(document: Document) -> dict[tuple[str, str, str], Document]:
    """What each manager owns, by name, operation and subresource."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in document["metadata"].get("managedFields", [])
    }


async def test_what_is_not_there_is_created(widgets: Collection):
    """An apply makes the object, and the applier owns what it said and nothing of the defaults."""
    made = await apply(widgets, "one", spec=RED)
    assert made["spec"]["enabled"] is True
    assert owners(made) == {("first", "Apply", ""): {"f:spec": {"f:colour": {}}}}


async def test_to_apply_the_same_again_changes_nothing(widgets: Collection):
    """Not even the version."""
    first = await apply(widgets, "one", spec=RED)
    assert await apply(widgets, "one", spec=RED) == first


async def test_what_is_no_longer_said_goes(widgets: Collection):
    """A field that its only owner gives up is removed."""
    await apply(widgets, "one", spec=RED | {"title": "abc"})
    assert "title" not in (await apply(widgets, "one", spec=RED))["spec"]


async def test_fields_with_another_owner_stay(widgets: Collection):
    """With the same value both own a field; it goes with the last of them."""
    await apply(widgets, "one", spec=RED | {"title": "abc"})
    await apply(widgets, "one", "second", spec=RED | {"title": "abc"})
    assert (await apply(widgets, "one", spec=RED))["spec"]["title"] == "abc"
    assert "title" not in (await apply(widgets, "one", "second", spec=RED))["spec"]


async def test_another_value_is_a_conflict(widgets: Collection):
    """The refusal names the owner and the field, in words and for programs."""
    await apply(widgets, "one", spec=RED)
    with pytest.raises(Conflict) as refusal:
        await apply(widgets, "one", "second", spec={"colour": "blue"})
    assert refusal.value.message == (
        'Apply failed with 1 conflict: conflict with "first": .spec.colour'
    )
    details = refusal.value.to_status().details
    assert details is not None
    (cause,) = details.causes
    assert (cause.reason, cause.field) == ("FieldManagerConflict", ".spec.colour")
    assert cause.message == 'conflict with "first"'


async def test_several_conflicts_are_reported_together(widgets: Collection):
    """Each owner with its fields."""
    await apply(widgets, "one", spec=RED | {"title": "abc"})
    with pytest.raises(Conflict) as refusal:
        await apply(widgets, "one", "second", spec={"colour": "blue", "title": "xyz"})
    assert refusal.value.message == (
        'Apply failed with 2 conflicts: conflicts with "first":\n- .spec.colour\n- .spec.title'
    )


async def test_force_takes_a_field(widgets: Collection):
    """Then the other owner has it no more."""
    await apply(widgets, "one", spec=RED | {"title": "abc"})
    forced = await apply(widgets, "one", "second", force=True, spec={"colour": "blue"})
    assert forced["spec"]["colour"] == "blue"
    assert owners(forced) == {
        ("first", "Apply", ""): {"f:spec": {"f:title": {}}},
        ("second", "Apply", ""): {"f:spec": {"f:colour": {}}},
    }


async def test_parts_of_a_list_have_owners_of_their_own(widgets: Collection):
    """Entries of a list with keys are identified by these, and merged."""
    await apply(widgets, "one", spec=RED | {"parts": [{"name": "a", "size": 1}]})
    both = await apply(widgets, "one", "second", spec=RED | {"parts": [{"name": "b", "size": 2}]})
    assert both["spec"]["parts"] == [{"name": "a", "size": 1}, {"name": "b", "size": 2}]
    left = await apply(widgets, "one", spec=RED)
    assert left["spec"]["parts"] == [{"name": "b", "size": 2}]


async def test_values_of_a_set_have_owners_of_their_own(widgets: Collection):
    """Each value goes with its last owner."""
    await apply(widgets, "one", spec=RED | {"tags": ["x", "y"]})
    both = await apply(widgets, "one", "second", spec=RED | {"tags": ["y", "z"]})
    assert sorted(both["spec"]["tags"]) == ["x", "y", "z"]
    left = await apply(widgets, "one", spec=RED)
    assert sorted(left["spec"]["tags"]) == ["y", "z"]


async def test_labels_have_owners_of_their_own(widgets: Collection):
    """Appliers of different labels do not meet."""
    await apply(widgets, "one", metadata={"labels": {"a": "1"}}, spec=RED)
    both = await apply(widgets, "one", "second", metadata={"labels": {"b": "2"}}, spec=RED)
    assert both["metadata"]["labels"] == {"a": "1", "b": "2"}
    left = await apply(widgets, "one", "second", spec=RED)
    assert left["metadata"]["labels"] == {"a": "1"}


async def test_an_update_takes_what_it_changes(widgets: Collection):
    """An update owns what it wrote; a later apply of another value is a conflict."""
    made = await apply(widgets, "one", spec=RED)
    made["spec"]["colour"] = "green"
    updated = await widgets.update(made, field_manager="editor")
    assert owners(updated) == {("editor", "Update", ""): {"f:spec": {"f:colour": {}}}}
    with pytest.raises(Conflict, match='conflict with "editor" using contract'):
        await apply(widgets, "one", spec=RED)


async def test_a_patch_takes_what_it_changes(widgets: Collection):
    """A merge patch is an update too."""
    await apply(widgets, "one", spec=RED | {"title": "abc"})
    patched = await widgets.merge("one", {"spec": {"title": "xyz"}}, field_manager="editor")
    assert owners(patched) == {
        ("first", "Apply", ""): {"f:spec": {"f:colour": {}}},
        ("editor", "Update", ""): {"f:spec": {"f:title": {}}},
    }


async def test_a_create_owns_everything(widgets: Collection):
    """Defaults too, and the names of maps and list entries."""
    document = widgets.document("one", spec=RED | {"parts": [{"name": "a"}]})
    made = await widgets.create(document, field_manager="maker")
    assert owners(made)["maker", "Update", ""]["f:spec"] == {
        ".": {},
        "f:colour": {},
        "f:enabled": {},
        "f:options": {".": {}, "f:mode": {}},
        "f:parts": {
            ".": {},
            'k:{"name":"a"}': {".": {}, "f:name": {}, "f:size": {}},
        },
    }


async def test_a_status_is_applied_at_its_own_subresource(widgets: Collection):
    """An apply there owns nothing else, and an apply of the object leaves the status alone."""
    await apply(widgets, "one", spec=RED)
    shown = await apply(widgets, "one", "reporter", "status", status={"phase": "Up"})
    assert shown["status"]["phase"] == "Up"
    assert owners(shown)["reporter", "Apply", "status"] == {"f:status": {"f:phase": {}}}
    again = await apply(widgets, "one", spec=RED, status={"phase": "Down"})
    assert again["status"]["phase"] == "Up"


async def test_a_status_of_nothing_cannot_be_applied(widgets: Collection):
    """Only an apply of the object itself creates it."""
    with pytest.raises(NotFound):
        await apply(widgets, "one", part="status", status={"phase": "Up"})


async def test_a_scale_names_its_subresource(widgets: Collection):
    """Who scales owns the number, through the subresource."""
    await widgets.create(widgets.document("one", spec=RED | {"replicas": 1}), field_manager="maker")
    await widgets.merge("one", {"spec": {"replicas": 3}}, "scale", field_manager="scaler")
    assert owners(await widgets.get("one"))["scaler", "Update", "scale"] == {
        "f:spec": {"f:replicas": {}}
    }


async def test_an_applier_has_a_name(widgets: Collection):
    """The applied fields belong to the manager, so it must be named."""
    with pytest.raises(Invalid, match="fieldManager: Required value: is required for apply patch"):
        await apply(widgets, "one", "", spec=RED)


async def test_force_is_for_appliers(widgets: Collection):
    """Other patches take what they change anyway."""
    await widgets.make("one", spec=RED)
    with pytest.raises(Invalid, match="force: Forbidden"):
        await widgets.merge("one", {"spec": RED}, force=True)


async def test_an_apply_may_name_the_version(widgets: Collection):
    """Then it is refused if the object was written in between."""
    made = await apply(widgets, "one", spec=RED)
    await widgets.merge("one", {"metadata": {"labels": {"a": "b"}}})
    old = {"resourceVersion": version(made)}
    with pytest.raises(Conflict, match="the object has been modified"):
        await apply(widgets, "one", metadata=old, spec={"colour": "blue"})


async def test_an_apply_is_tried_without_effect(widgets: Collection):
    """A dry run shows the outcome, and nothing is there afterwards."""
    config = widgets.document("one", spec=RED)
    shown = await widgets.patch("one", PatchType.APPLY, config, field_manager="first", dry_run=True)
    assert shown["spec"]["colour"] == "red"
    with pytest.raises(NotFound):
        await widgets.get("one")


async def test_what_is_applied_is_judged(widgets: Collection):
    """The schema says no to an apply as to everything else."""
    with pytest.raises(Invalid, match=r"spec\.colour"):
        await apply(widgets, "one", spec={"colour": "mauve"})


async def test_unknown_fields_cannot_be_applied(widgets: Collection):
    """They could have no owner."""
    with pytest.raises(ApiError, match=r"\.spec\.nonsense: field not declared in schema"):
        await apply(widgets, "one", spec=RED | {"nonsense": 1})


async def test_managed_fields_cannot_be_applied(widgets: Collection):
    """They are the outcome, not the wish."""
    entry = {"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    metadata: Document = {"managedFields": [entry | {"fieldsV1": {}}]}
    with pytest.raises(BadRequest, match=r"metadata\.managedFields must be nil"):
        await apply(widgets, "one", metadata=metadata, spec=RED)


async def test_an_update_may_forget_all_owners(widgets: Collection):
    """One empty entry means that no field has an owner any more."""
    made = await apply(widgets, "one", spec=RED)
    made["metadata"]["managedFields"] = [{}]
    assert owners(await widgets.update(made)) == {}


async def test_the_writers_before_the_first_apply_are_remembered(widgets: Collection):
    """Fields without owners belong to a manager for all earlier writers."""
    made = await widgets.make("one", spec=RED)
    made["metadata"]["managedFields"] = [{}]
    await widgets.update(made)
    shown = await apply(widgets, "one", spec=RED)
    assert set(owners(shown)) == {("first", "Apply", ""), ("before-first-apply", "Update", "")}


async def test_built_in_kinds_are_applied_too(config_maps: Collection):
    """The data of a ConfigMap has owners, key by key."""
    await apply(config_maps, "one", data={"a": "1"})
    both = await apply(config_maps, "one", "second", data={"b": "2"})
    assert both["data"] == {"a": "1", "b": "2"}
    left = await apply(config_maps, "one", data={})
    assert left["data"] == {"b": "2"}


async def test_what_is_dropped_has_no_owner(config_maps: Collection):
    """Empty data is not stored, and conflicts with no apply."""
    made = await config_maps.create(config_maps.document("one", data={}), field_manager="maker")
    assert ("maker", "Update", "") not in owners(made)
    assert (await apply(config_maps, "one", data={"a": "1"}))["data"] == {"a": "1"}


async def test_what_the_server_completes_belongs_to_the_maker(namespaces: Collection):
    """The label with a namespace's own name is its creator's."""
    document = namespaces.document("contract-owned")
    made = await namespaces.create(document, field_manager="maker", dry_run=True)
    assert owners(made)["maker", "Update", ""]["f:metadata"] == {
        "f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}
    }


async def test_a_name_that_is_not_the_one_of_the_request(widgets: Collection):
    """The configuration is about the object that is asked for."""
    config = widgets.document("two", spec=RED)
    with pytest.raises(BadRequest, match="does not match the name"):
        await widgets.patch("one", PatchType.APPLY, config, field_manager="first")
