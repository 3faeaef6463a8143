"""Changing parts of an object: merge patches, JSON patches, strategic ones."""

from typing import Any

import pytest

from kubekit.api.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Invalid,
    NotFound,
    TooLarge,
    UnsupportedMediaType,
)
from kubekit.client.options import PatchType
from tests.contract.collection import Collection, version
from tests.contract.kinds import RED

FULL: dict[str, Any] = {
    "colour": "red",
    "title": "abc",
    "words": {"a": "1", "b": "2"},
    "tags": ["x", "y"],
}


async def test_a_merge_leaves_what_it_does_not_name(widgets: Collection):
    """Fields of a merge patch are set, fields that are null removed, others left."""
    await widgets.make("one", spec=FULL)
    patch = {"spec": {"colour": "blue", "title": None, "words": {"b": None, "c": "3"}}}
    spec = (await widgets.merge("one", patch))["spec"]
    assert spec["colour"] == "blue"
    assert "title" not in spec
    assert spec["words"] == {"a": "1", "c": "3"}
    assert spec["tags"] == ["x", "y"]


async def test_a_merge_replaces_lists(widgets: Collection):
    """To a merge patch a list is one value."""
    await widgets.make("one", spec=FULL)
    assert (await widgets.merge("one", {"spec": {"tags": ["z"]}}))["spec"]["tags"] == ["z"]


async def test_a_merge_sets_labels(widgets: Collection):
    """Labels and annotations of others stay."""
    metadata = {"labels": {"a": "1", "b": "2"}, "annotations": {"note": "x"}}
    await widgets.make("one", metadata=metadata, spec=RED)
    patch = {"metadata": {"labels": {"b": None, "c": "3"}}}
    patched = (await widgets.merge("one", patch))["metadata"]
    assert patched["labels"] == {"a": "1", "c": "3"}
    assert patched["annotations"] == {"note": "x"}


async def test_a_removed_default_comes_back(widgets: Collection):
    """A field that is removed gets its default again."""
    await widgets.make("one", spec=RED | {"enabled": False})
    assert (await widgets.merge("one", {"spec": {"enabled": None}}))["spec"]["enabled"] is True


async def test_a_patch_raises_the_generation_as_an_update_does(widgets: Collection):
    """What counts is what changed, not how it was said."""
    await widgets.make("one", spec=RED)
    labelled = await widgets.merge("one", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 1
    coloured = await widgets.merge("one", {"spec": {"colour": "blue"}})
    assert coloured["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    "patch", [{}, {"spec": {"colour": "red"}}, {"spec": {"title": None}}, {"unknown": 1}]
)
async def test_a_patch_without_a_change_writes_nothing(widgets: Collection, patch: Any):
    """A patch that leaves the object as it is leaves its version too."""
    made = await widgets.make("one", spec=RED)
    assert version(await widgets.merge("one", patch)) == version(made)


async def test_a_patch_may_insist_on_a_version(widgets: Collection):
    """A version in the patch makes it hold only for that version."""
    made = await widgets.make("one", spec=RED)
    bound = {"metadata": {"resourceVersion": version(made)}}
    await widgets.merge("one", bound | {"spec": {"colour": "blue"}})
    with pytest.raises(Conflict):
        await widgets.merge("one", bound | {"spec": {"colour": "green"}})


async def test_a_patch_may_insist_on_a_uid(widgets: Collection):
    """A uid in the patch makes it hold only for that very object."""
    made = await widgets.make("one", spec=RED)
    await widgets.merge("one", {"metadata": {"uid": made["metadata"]["uid"]}})
    with pytest.raises(ApiError) as refusal:
        await widgets.merge("one", {"metadata": {"uid": "another"}})
    assert refusal.value.code in (409, 422)


@pytest.mark.parametrize("field", ["name", "namespace"])
async def test_a_patch_does_not_move_an_object(widgets: Collection, field: str):
    """Name and namespace stay what they are."""
    await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest):
        await widgets.merge("one", {"metadata": {field: "other"}})


async def test_a_patch_does_not_change_the_kind(widgets: Collection):
    """An object stays of its kind."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(ApiError) as refusal:
        await widgets.merge("one", {"kind": "Gadget"})
    assert refusal.value.code in (400, 422)
    assert await widgets.get("one") == made


async def test_what_is_not_there_cannot_be_patched(widgets: Collection):
    """A patch creates nothing."""
    with pytest.raises(NotFound):
        await widgets.merge("absent", {"spec": RED})


async def test_a_patched_object_must_be_valid(widgets: Collection):
    """The result is judged like an update."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(Invalid) as refusal:
        await widgets.merge("one", {"spec": {"colour": "mauve"}})
    assert 'spec.colour: Unsupported value: "mauve"' in refusal.value.message
    assert await widgets.get("one") == made


async def test_a_trial_patch_changes_nothing(widgets: Collection):
    """A dry run answers with the object as it would be."""
    made = await widgets.make("one", spec=RED)
    tried = await widgets.merge("one", {"spec": {"colour": "blue"}}, dry_run=True)
    assert tried["spec"]["colour"] == "blue"
    assert await widgets.get("one") == made


@pytest.mark.parametrize("patch", [[], "text", 7, [1]])
async def test_a_merge_patch_is_an_object(widgets: Collection, patch: Any):
    """Anything else would put something in place of the object that is none."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest):
        await widgets.merge("one", patch)
    assert await widgets.get("one") == made


OPERATIONS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "add": ([{"op": "add", "path": "/spec/words/c", "value": "3"}], {"a": "1", "b": "2", "c": "3"}),
    "remove": ([{"op": "remove", "path": "/spec/words/a"}], {"b": "2"}),
    "replace": ([{"op": "replace", "path": "/spec/words/a", "value": "9"}], {"a": "9", "b": "2"}),
    "move": (
        [{"op": "move", "from": "/spec/words/a", "path": "/spec/words/d"}],
        {"b": "2", "d": "1"},
    ),
    "copy": (
        [{"op": "copy", "from": "/spec/words/a", "path": "/spec/words/d"}],
        {"a": "1", "b": "2", "d": "1"},
    ),
    "test": (
        [
            {"op": "test", "path": "/spec/words/a", "value": "1"},
            {"op": "remove", "path": "/spec/words/b"},
        ],
        {"a": "1"},
    ),
    "escaped": (
        [{"op": "add", "path": "/spec/words/x~1y~0z", "value": "3"}],
        {"a": "1", "b": "2", "x/y~z": "3"},
    ),
    "in order": (
        [
            {"op": "add", "path": "/spec/words", "value": {}},
            {"op": "add", "path": "/spec/words/k", "value": "v"},
        ],
        {"k": "v"},
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
async def test_operations_are_carried_out(widgets: Collection, name: str):
    """Each operation of a JSON patch does what its name says, one after the other."""
    operations, expected = OPERATIONS[name]
    await widgets.make("one", spec=FULL)
    patched = await widgets.patch("one", PatchType.JSON, operations)
    assert patched["spec"]["words"] == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/spec/tags/-", "value": "z"}, ["x", "y", "z"]),
        ({"op": "add", "path": "/spec/tags/0", "value": "z"}, ["z", "x", "y"]),
        ({"op": "add", "path": "/spec/tags/2", "value": "z"}, ["x", "y", "z"]),
        ({"op": "remove", "path": "/spec/tags/0"}, ["y"]),
        ({"op": "replace", "path": "/spec/tags/1", "value": "z"}, ["x", "z"]),
    ],
)
async def test_operations_reach_into_lists(
    widgets: Collection, operation: dict[str, Any], expected: list[str]
):
    """A position is a number, or a dash for the end."""
    await widgets.make("one", spec=FULL)
    patched = await widgets.patch("one", PatchType.JSON, [operation])
    assert patched["spec"]["tags"] == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/title", "value": "other"},
        {"op": "remove", "path": "/spec/nothing"},
        {"op": "add", "path": "/spec/no/where", "value": 1},
        {"op": "add", "path": "/spec/tags/9", "value": "z"},
        {"op": "remove", "path": "/spec/tags/2"},
        {"op": "move", "from": "/spec/nothing", "path": "/spec/title"},
    ],
)
async def test_a_patch_that_does_not_fit_is_refused_whole(
    widgets: Collection, operation: dict[str, Any]
):
    """One operation that fails undoes those before it."""
    made = await widgets.make("one", spec=FULL)
    first = {"op": "replace", "path": "/spec/colour", "value": "blue"}
    with pytest.raises(Invalid):
        await widgets.patch("one", PatchType.JSON, [first, operation])
    assert await widgets.get("one") == made


@pytest.mark.parametrize("patch", [{}, {"op": "add"}, "text", [1], [["add"]]])
async def test_a_json_patch_is_a_list_of_operations(widgets: Collection, patch: Any):
    """A body that is no list of operations is refused as such."""
    await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest):
        await widgets.patch("one", PatchType.JSON, patch)


@pytest.mark.parametrize(
    "operation", [{"op": "shrink", "path": "/spec"}, {"path": "/spec/title"}, {}]
)
async def test_an_operation_has_one_of_six_names(widgets: Collection, operation: Any):
    """An unknown operation changes nothing."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(ApiError) as refusal:
        await widgets.patch("one", PatchType.JSON, [operation])
    assert refusal.value.code in (400, 422)
    assert await widgets.get("one") == made


async def test_an_empty_list_of_operations_changes_nothing(widgets: Collection):
    """Nothing to do is no mistake."""
    made = await widgets.make("one", spec=RED)
    assert await widgets.patch("one", PatchType.JSON, []) == made


async def test_ten_thousand_operations_are_enough(widgets: Collection):
    """A longer patch is refused before any of it is carried out."""
    made = await widgets.make("one", spec=RED)
    operation = {"op": "test", "path": "/kind", "value": "Widget"}
    assert await widgets.patch("one", PatchType.JSON, [operation] * 10_000) == made
    with pytest.raises(TooLarge):
        await widgets.patch("one", PatchType.JSON, [operation] * 10_001)


async def test_strategic_patches_are_for_kinds_with_a_strategy(widgets: Collection):
    """A custom kind has none."""
    await widgets.make("one", spec=RED)
    with pytest.raises(UnsupportedMediaType):
        await widgets.patch("one", PatchType.STRATEGIC, {"spec": {"colour": "blue"}})


async def test_a_strategic_patch_merges_maps(config_maps: Collection):
    """Keys are set, null keys removed, others left."""
    await config_maps.make("one", data={"a": "1", "b": "2"})
    patch = {"data": {"a": None, "c": "3"}}
    patched = await config_maps.patch("one", PatchType.STRATEGIC, patch)
    assert patched["data"] == {"b": "2", "c": "3"}


async def test_a_strategic_patch_can_replace(config_maps: Collection):
    """A directive says that a map is replaced instead of merged."""
    await config_maps.make("one", data={"a": "1", "b": "2"})
    patch = {"data": {"$patch": "replace", "c": "3"}}
    patched = await config_maps.patch("one", PatchType.STRATEGIC, patch)
    assert patched["data"] == {"c": "3"}


async def test_a_strategic_patch_merges_finalizers(config_maps: Collection):
    """A list with a strategy of merging keeps the items of others."""
    await config_maps.make("one", metadata={"finalizers": ["test.example/a"]}, data={})
    patch = {"metadata": {"finalizers": ["test.example/b"]}}
    patched = await config_maps.patch("one", PatchType.STRATEGIC, patch)
    assert sorted(patched["metadata"]["finalizers"]) == ["test.example/a", "test.example/b"]
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["test.example/a"]}}
    patched = await config_maps.patch("one", PatchType.STRATEGIC, patch)
    assert patched["metadata"]["finalizers"] == ["test.example/b"]
    await config_maps.merge("one", {"metadata": {"finalizers": None}})


async def test_a_strategic_patch_merges_owners_by_uid(config_maps: Collection):
    """Owner references are identified by their uid."""
    first = {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "u-1"}
    second = first | {"name": "q", "uid": "u-2"}
    await config_maps.make("one", metadata={"finalizers": ["test.example/hold"]}, data={})
    for owner in (first, second, second | {"name": "r"}):
        patch = {"metadata": {"ownerReferences": [owner]}}
        await config_maps.patch("one", PatchType.STRATEGIC, patch)
    owners = (await config_maps.get("one"))["metadata"]["ownerReferences"]
    assert sorted((o["uid"], o["name"]) for o in owners) == [("u-1", "p"), ("u-2", "r")]
    await config_maps.merge("one", {"metadata": {"finalizers": None}})
