"""Replacing objects: versions, generations, what stays as it is."""

import pytest

from kubekit.api.errors import ApiError, BadRequest, Conflict, Invalid, NotFound
from kubekit.client.transport import Document
from tests.contract.collection import Collection, version
from tests.contract.kinds import RED


def changed(document: Document, **fields: object) -> Document:
    return document | fields


def with_metadata(document: Document, **fields: object) -> Document:
    return document | {"metadata": document["metadata"] | fields}


async def test_an_update_replaces_the_object(widgets: Collection):
    """What the new document leaves out is gone; defaults come back."""
    made = await widgets.make("one", spec={"colour": "red", "title": "abc", "enabled": False})
    updated = await widgets.update(changed(made, spec={"colour": "blue"}))
    assert updated["spec"] == {"colour": "blue", "enabled": True, "options": {"mode": "fast"}}
    assert await widgets.get("one") == updated


async def test_a_change_raises_version_and_generation(widgets: Collection):
    """A new spec is a new generation; the version rises with each write."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(changed(made, spec={"colour": "blue"}))
    assert updated["metadata"]["generation"] == 2
    assert int(version(updated)) > int(version(made))


async def test_a_label_is_no_new_generation(widgets: Collection):
    """The generation counts changes of what is asked for, not of what is noted on it."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(with_metadata(made, labels={"a": "b"}))
    assert updated["metadata"]["generation"] == 1
    assert updated["metadata"]["labels"] == {"a": "b"}
    assert version(updated) != version(made)


async def test_a_field_of_a_kind_without_status_is_a_new_generation(gadgets, space: str):
    """Where the status is no part of its own, it counts like any other field."""
    made = await gadgets.make(space, spec={}, status={"a": 1})
    updated = await gadgets.update(changed(made, status={"a": 2}))
    await gadgets.delete(space)
    assert updated["status"] == {"a": 2}
    assert updated["metadata"]["generation"] == 2


async def test_an_update_without_a_change_writes_nothing(widgets: Collection):
    """The same document again leaves the version as it is."""
    made = await widgets.make("one", spec=RED)
    assert version(await widgets.update(made)) == version(made)


async def test_an_update_from_an_old_version_is_refused(widgets: Collection):
    """Who wrote second must read again: the object has moved on."""
    made = await widgets.make("one", spec=RED)
    await widgets.update(changed(made, spec={"colour": "blue"}))
    with pytest.raises(Conflict) as refusal:
        await widgets.update(changed(made, spec={"colour": "green"}))
    assert refusal.value.message == (
        'Operation cannot be fulfilled on widgets.contract.datumapis.com "one": '
        "the object has been modified; please apply your changes to the latest version and try again"
    )
    assert (await widgets.get("one"))["spec"]["colour"] == "blue"


async def test_a_custom_kind_wants_a_version(widgets: Collection):
    """An update that says no version could undo what it has not seen."""
    await widgets.make("one", spec=RED)
    with pytest.raises(Invalid) as refusal:
        await widgets.update(widgets.document("one", spec={"colour": "blue"}))
    assert "metadata.resourceVersion: Invalid value: " in refusal.value.message
    assert "must be specified for an update" in refusal.value.message


async def test_a_core_kind_may_be_replaced_without_a_version(config_maps: Collection):
    """The kinds of the core group accept an update without a version."""
    await config_maps.make("one", data={"a": "1"})
    updated = await config_maps.update(config_maps.document("one", data={"b": "2"}))
    assert updated["data"] == {"b": "2"}


@pytest.mark.parametrize("text", ["abc", "-1", "1.5"])
async def test_a_version_is_a_number(widgets: Collection, text: str):
    """A version that no server ever gave is refused, and nothing is written."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(ApiError):
        await widgets.update(with_metadata(made, resourceVersion=text))
    assert await widgets.get("one") == made


async def test_what_is_not_there_cannot_be_updated(widgets: Collection):
    """An update creates nothing."""
    document = widgets.document("one", metadata={"resourceVersion": "1"}, spec=RED)
    with pytest.raises(NotFound):
        await widgets.update(document)


async def test_the_name_stays(widgets: Collection):
    """Path and document must speak of the same object."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest) as refusal:
        await widgets.put("one", with_metadata(made, name="other"))
    assert "the name of the object" in refusal.value.message


async def test_the_namespace_stays(widgets: Collection):
    """An object does not move to another namespace."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest):
        await widgets.update(with_metadata(made, namespace="default"))


async def test_another_uid_means_another_object(widgets: Collection):
    """An update meant for an object that is gone does not hit the one that has its name now."""
    made = await widgets.make("one", spec=RED)
    other = "11111111-1111-4111-8111-111111111111"
    with pytest.raises(Conflict) as refusal:
        await widgets.update(with_metadata(made, uid=other, resourceVersion=version(made)))
    assert other in refusal.value.message
    assert made["metadata"]["uid"] in refusal.value.message


@pytest.mark.parametrize("field", ["uid", "creationTimestamp", "generation"])
async def test_what_the_server_said_may_be_left_out(widgets: Collection, field: str):
    """Identity is kept, whether the client repeats it or not."""
    made = await widgets.make("one", spec=RED)
    document = changed(made, spec={"colour": "blue"})
    document["metadata"] = {k: v for k, v in made["metadata"].items() if k != field}
    updated = await widgets.update(document)
    expected = 2 if field == "generation" else made["metadata"][field]
    assert updated["metadata"][field] == expected


async def test_the_generation_is_the_servers(widgets: Collection):
    """A client cannot set the generation."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(with_metadata(made, generation=99, labels={"a": "b"}))
    assert updated["metadata"]["generation"] == 1


async def test_the_time_of_creation_is_the_servers(widgets: Collection):
    """A client cannot make its object older."""
    made = await widgets.make("one", spec=RED)
    updated = await widgets.update(
        with_metadata(made, creationTimestamp="2001-01-01T00:00:00Z", labels={"a": "b"})
    )
    assert updated["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]


async def test_a_deletion_cannot_be_written(widgets: Collection):
    """Only a delete marks an object for removal."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(Invalid) as refusal:
        await widgets.update(with_metadata(made, deletionTimestamp="2031-01-01T00:00:00Z"))
    assert "metadata.deletionTimestamp: Invalid value: " in refusal.value.message
    assert await widgets.get("one") == made


async def test_the_status_is_left_alone(widgets: Collection):
    """An update of the object ignores the status in the document."""
    made = await widgets.make("one", spec=RED)
    reported = await widgets.update(changed(made, status={"phase": "Up"}), "status")
    updated = await widgets.update(
        changed(reported, spec={"colour": "blue"}, status={"phase": "No"})
    )
    assert updated["status"]["phase"] == "Up"


async def test_a_status_left_out_is_not_removed(widgets: Collection):
    """An update of the object without a status keeps the one that is there."""
    made = await widgets.make("one", spec=RED)
    reported = await widgets.update(changed(made, status={"phase": "Up"}), "status")
    del reported["status"]
    updated = await widgets.update(changed(reported, spec={"colour": "blue"}))
    assert updated["status"]["phase"] == "Up"


async def test_an_invalid_update_changes_nothing(widgets: Collection):
    """A refused update leaves the object and its version."""
    made = await widgets.make("one", spec=RED)
    with pytest.raises(Invalid):
        await widgets.update(changed(made, spec={"colour": "mauve"}))
    assert await widgets.get("one") == made


async def test_a_trial_update_changes_nothing(widgets: Collection):
    """A dry run answers with the object as it would be, and leaves it as it is."""
    made = await widgets.make("one", spec=RED)
    tried = await widgets.update(changed(made, spec={"colour": "blue"}), dry_run=True)
    assert tried["spec"]["colour"] == "blue"
    assert tried["metadata"]["generation"] == 2
    assert await widgets.get("one") == made


async def test_a_trial_update_from_an_old_version_is_refused(widgets: Collection):
    """A dry run sees the conflict that the real update would meet."""
    made = await widgets.make("one", spec=RED)
    await widgets.update(changed(made, spec={"colour": "blue"}))
    with pytest.raises(Conflict):
        await widgets.update(changed(made, spec={"colour": "green"}), dry_run=True)
