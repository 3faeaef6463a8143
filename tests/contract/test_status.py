"""The status as a part of its own."""

import pytest

from kubekit.api.errors import Conflict, Invalid, NotFound
from kubekit.client.options import PatchType
from tests.contract.collection import Collection, version
from tests.contract.kinds import RED


async def test_the_status_is_written_by_its_own_path(widgets: Collection):
    """An update of the status changes it, and only it."""
    made = await widgets.make("one", spec=RED)
    document = made | {"status": {"phase": "Up"}, "spec": {"colour": "blue"}}
    updated = await widgets.update(document, "status")
    assert updated["status"]["phase"] == "Up"
    assert updated["spec"] == made["spec"]
    assert await widgets.get("one") == updated


async def test_a_status_is_no_new_generation(widgets: Collection):
    """The version rises, the generation does not."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(made | {"status": {"phase": "Up"}}, "status")
    assert updated["metadata"]["generation"] == 1
    assert int(version(updated)) > int(version(made))


async def test_labels_do_not_travel_with_the_status(widgets: Collection):
    """What an update of the status says of the metadata is ignored."""
    made = await widgets.make("one", metadata={"labels": {"a": "b"}}, spec=RED)
    metadata = made["metadata"] | {"labels": {"c": "d"}, "annotations": {"e": "f"}}
    document = made | {"metadata": metadata, "status": {"phase": "Up"}}
    updated = (await widgets.update(document, "status"))["metadata"]
    assert updated["labels"] == {"a": "b"}
    assert "annotations" not in updated


async def test_a_status_can_be_removed(widgets: Collection):
    """A document without a status takes away the one that is there."""
    made = await widgets.make("one", spec=RED)
    reported = await widgets.update(made | {"status": {"phase": "Up"}}, "status")
    del reported["status"]
    updated = await widgets.update(reported, "status")
    assert "phase" not in updated.get("status", {})


async def test_the_status_has_a_schema_too(widgets: Collection):
    """Defaults are filled in, unknown fields dropped, wrong values refused."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(made | {"status": {"phase": "Up", "unknown": 1}}, "status")
    assert updated["status"] == {"phase": "Up", "seen": 0}
    with pytest.raises(Invalid) as refusal:
        await widgets.update(updated | {"status": {"replicas": -1}}, "status")
    assert "status.replicas" in refusal.value.message


async def test_a_status_from_an_old_version_is_refused(widgets: Collection):
    """The status has no version of its own: any change of the object counts."""
    made = await widgets.make("one", spec=RED)
    await widgets.merge("one", {"spec": {"colour": "blue"}})
    with pytest.raises(Conflict):
        await widgets.update(made | {"status": {"phase": "Up"}}, "status")


async def test_a_status_of_nothing_is_not_found(widgets: Collection):
    """There is no status without an object."""
    document = widgets.document("one", metadata={"resourceVersion": "1"}, status={"phase": "Up"})
    with pytest.raises(NotFound):
        await widgets.update(document | {"spec": RED}, "status")


async def test_a_status_is_merged(widgets: Collection):
    """A merge patch of the status leaves its other fields, and the rest of the object."""
    await widgets.make("one", spec=RED)
    await widgets.merge("one", {"status": {"phase": "Up", "replicas": 3}}, "status")
    patch = {"status": {"replicas": None}, "spec": {"colour": "blue"}}
    patched = await widgets.merge("one", patch, "status")
    assert patched["status"] == {"phase": "Up", "seen": 0}
    assert patched["spec"]["colour"] == "red"


async def test_a_status_is_patched_by_operations(widgets: Collection):
    """A JSON patch of the status works on the whole document."""
    await widgets.make("one", spec=RED)
    patch = [{"op": "add", "path": "/status", "value": {"phase": "Up"}}]
    patched = await widgets.patch("one", PatchType.JSON, patch, "status")
    assert patched["status"]["phase"] == "Up"


async def test_a_merge_of_the_object_leaves_the_status(widgets: Collection):
    """A merge patch of the object cannot touch the status."""
    await widgets.make("one", spec=RED)
    await widgets.merge("one", {"status": {"phase": "Up"}}, "status")
    patched = await widgets.merge("one", {"status": {"phase": "No"}, "spec": {"title": "abc"}})
    assert patched["status"]["phase"] == "Up"
    assert patched["spec"]["title"] == "abc"


async def test_the_same_status_again_writes_nothing(widgets: Collection):
    """A status that says what was said already leaves the version."""
    await widgets.make("one", spec=RED)
    reported = await widgets.merge("one", {"status": {"phase": "Up"}}, "status")
    again = await widgets.merge("one", {"status": {"phase": "Up"}}, "status")
    assert version(again) == version(reported)


async def test_a_trial_status_is_not_stored(widgets: Collection):
    """A dry run of a status changes nothing."""
    made = await widgets.make("one", spec=RED)
    tried = await widgets.merge("one", {"status": {"phase": "Up"}}, "status", dry_run=True)
    assert tried["status"]["phase"] == "Up"
    assert await widgets.get("one") == made


async def test_a_kind_without_status_has_no_path_for_it(gadgets: Collection, space: str):
    """Nothing is served at the status of a kind that has none."""
    made = await gadgets.make(space, spec={})
    with pytest.raises(NotFound):
        await gadgets.update(made, "status")
    await gadgets.delete(space)
