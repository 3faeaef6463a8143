"""What every object carries: labels, annotations, owners, finalizers."""

from typing import Any

import pytest

from kubekit.api.errors import ApiError, BadRequest, Invalid
from tests.contract.collection import Collection
from tests.contract.kinds import RED

OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "u-1"}


async def refused(widgets: Collection, **metadata: Any) -> str:
    """What the server says of this metadata; it must say it of a create and of an update alike."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make("bad", metadata=metadata, spec=RED)
    await widgets.make("good", spec=RED)
    with pytest.raises(Invalid):
        await widgets.merge("good", {"metadata": metadata})
    return refusal.value.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("", "x"),
        ("-a", "x"),
        ("a b", "x"),
        ("x" * 64, "x"),
        ("Bad.Prefix/a", "x"),
        ("a/b/c", "x"),
        ("/a", "x"),
        ("a", "x" * 64),
        ("a", "-x"),
        ("a", "x y"),
        ("a", "ä"),
    ],
)
async def test_labels_have_a_form(widgets: Collection, key: str, value: str):
    """A label that no selector could name is refused by its field."""
    assert "metadata.labels: Invalid value: " in await refused(widgets, labels={key: value})


@pytest.mark.parametrize("key", ["", "a b", "x" * 64, "a/b/c", "-a"])
async def test_annotations_have_names(widgets: Collection, key: str):
    """The name of an annotation has the form of a label's name, its case aside."""
    assert "metadata.annotations: Invalid value: " in await refused(widgets, annotations={key: "x"})


async def test_annotations_hold_any_text(widgets: Collection):
    """Values are free: lines, quotes and all of Unicode."""
    notes = {"test.example/note": 'a\nb\t"c" \\ ä 漢 🙂 </script>', "empty": ""}
    made = await widgets.make("one", metadata={"annotations": notes}, spec=RED)
    assert made["metadata"]["annotations"] == notes
    assert (await widgets.get("one"))["metadata"]["annotations"] == notes


async def test_annotations_are_bounded(widgets: Collection):
    """All of them together hold 256 KiB, names included."""
    await widgets.make("full", metadata={"annotations": {"a": "x" * (256 * 1024 - 1)}}, spec=RED)
    message = await refused(widgets, annotations={"a": "x" * (256 * 1024)})
    assert "metadata.annotations: Too long: " in message


@pytest.mark.parametrize(
    "labels", [{"a": 1}, {"a": True}, {"a": ["x"]}, {"a": {"b": "c"}}, ["a"], "a", 7]
)
async def test_labels_are_a_map_of_texts(widgets: Collection, labels: Any):
    """Anything else is no metadata at all, and refused as such."""
    with pytest.raises(ApiError) as refusal:
        await widgets.make("one", metadata={"labels": labels}, spec=RED)
    assert refusal.value.code in (400, 422)
    assert "labels" in refusal.value.message


@pytest.mark.parametrize(
    "field", ["name", "generateName", "annotations", "finalizers", "ownerReferences", "uid"]
)
async def test_metadata_has_types(widgets: Collection, field: str):
    """A field of the wrong type is refused by its name, and never a server's fault."""
    with pytest.raises(ApiError) as refusal:
        await widgets.make("one", metadata={field: 7}, spec=RED)
    assert refusal.value.code in (400, 422)


@pytest.mark.parametrize("metadata", [7, "x", [], None])
async def test_metadata_is_an_object(widgets: Collection, metadata: Any):
    """A document without metadata has no name."""
    document = widgets.document("one", spec=RED) | {"metadata": metadata}
    with pytest.raises(ApiError) as refusal:
        await widgets.create(document)
    assert refusal.value.code in (400, 422)


async def test_empty_maps_say_nothing(widgets: Collection):
    """Labels, annotations and lists that are empty are as good as absent."""
    empty: dict[str, Any] = {
        "labels": {},
        "annotations": {},
        "finalizers": [],
        "ownerReferences": [],
    }
    made = (await widgets.make("one", metadata=empty, spec=RED))["metadata"]
    assert not any(made.get(field) for field in empty)


async def test_unknown_metadata_is_dropped(widgets: Collection):
    """What no object has is not stored."""
    made = await widgets.make("one", metadata={"colour": "red"}, spec=RED)
    assert "colour" not in made["metadata"]


async def test_an_owner_is_kept(widgets: Collection):
    """Owner references are stored as they were said."""
    owner = OWNER | {"controller": True, "blockOwnerDeletion": True}
    metadata = {"ownerReferences": [owner], "finalizers": ["test.example/hold"]}
    made = await widgets.make("one", metadata=metadata, spec=RED)
    assert made["metadata"]["ownerReferences"] == [owner]
    await widgets.merge("one", {"metadata": {"ownerReferences": None, "finalizers": None}})


@pytest.mark.parametrize("field", ["apiVersion", "kind", "name", "uid"])
async def test_an_owner_reference_is_complete(widgets: Collection, field: str):
    """A reference that lacks a part names it."""
    message = await refused(widgets, ownerReferences=[OWNER | {field: ""}])
    assert f"metadata.ownerReferences.{field}" in message.replace("[0]", "")


async def test_an_object_has_one_controller(widgets: Collection):
    """Two references that both claim to control are refused."""
    owners = [OWNER | {"uid": uid, "controller": True} for uid in ("u-1", "u-2")]
    message = await refused(widgets, ownerReferences=owners)
    assert "metadata.ownerReferences: Invalid value: " in message
    assert "Only one reference can have Controller set to true" in message


@pytest.mark.parametrize("finalizer", ["", "a b/c", "-x.y/z", "x" * 300])
async def test_a_finalizer_has_a_full_name(widgets: Collection, finalizer: str):
    """A finalizer says whose it is: a domain and a name."""
    assert "metadata.finalizers" in await refused(widgets, finalizers=[finalizer])


@pytest.mark.parametrize("field", ["finalizers", "ownerReferences"])
async def test_lists_of_metadata_hold_their_type(widgets: Collection, field: str):
    """An item of another type is refused by its field."""
    with pytest.raises(ApiError) as refusal:
        await widgets.make("one", metadata={field: [7]}, spec=RED)
    assert refusal.value.code in (400, 422)


async def test_managed_fields_of_clients_do_no_harm(widgets: Collection):
    """Who owns which field is the server's own book; a client cannot write nonsense into it."""
    metadata: dict[str, Any] = {"managedFields": []}
    made = await widgets.make("one", metadata=metadata, spec=RED)
    assert made["metadata"]["name"] == "one"


async def test_a_wrong_list_of_metadata_is_a_bad_request(widgets: Collection):
    """A text in place of a list cannot be read."""
    with pytest.raises(BadRequest):
        await widgets.make("one", metadata={"finalizers": "test.example/hold"}, spec=RED)
