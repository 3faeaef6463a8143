"""Reading one object."""

import pytest

from kubekit.api.errors import NotFound, Timeout
from tests.contract.collection import Collection, version
from tests.contract.kinds import RED


async def test_what_was_created_is_read_back(widgets: Collection):
    """A get answers with the very object that the create answered with."""
    made = await widgets.make("one", spec=RED)
    assert await widgets.get("one") == made


async def test_an_unused_name_is_not_found(widgets: Collection):
    """The refusal names the kind and the name, in words and in details."""
    with pytest.raises(NotFound) as refusal:
        await widgets.get("absent")
    assert refusal.value.message == 'widgets.contract.datumapis.com "absent" not found'
    details = refusal.value.details
    assert details is not None
    assert (details.name, details.kind) == ("absent", "widgets")
    assert details.group == "contract.datumapis.com"


async def test_a_core_kind_is_named_without_a_group(config_maps: Collection):
    """A kind of the core group stands alone in the message."""
    with pytest.raises(NotFound) as refusal:
        await config_maps.get("absent")
    assert refusal.value.message == 'configmaps "absent" not found'


async def test_another_namespace_has_other_objects(widgets: Collection, transport):
    """A name means an object of one namespace only."""
    await widgets.make("one", spec=RED)
    with pytest.raises(NotFound):
        await Collection(transport, widgets.resource, "default").get("one")


async def test_a_namespaced_object_needs_its_namespace(widgets: Collection):
    """There is no object at a path that leaves the namespace out."""
    await widgets.make("one", spec=RED)
    with pytest.raises(NotFound):
        await widgets.everywhere.get("one")


@pytest.mark.parametrize("how", ["0", "own"])
async def test_a_version_already_reached_is_no_hindrance(widgets: Collection, how: str):
    """A get asks for an object no older than a version, and newer ones are as good."""
    made = await widgets.make("one", spec=RED)
    await widgets.get("one", version(made))
    renewed = await widgets.merge("one", {"spec": {"colour": "blue"}})
    await widgets.get("one", version(renewed))
    got = await widgets.get("one", "0" if how == "0" else version(made))
    assert got["spec"]["colour"] == "blue"


async def test_a_version_of_the_future_is_not_waited_for(widgets: Collection):
    """That version is in the future; the refusal says so and asks for a retry."""
    await widgets.make("one", spec=RED)
    with pytest.raises(Timeout) as refusal:
        await widgets.get("one", "900000000")
    assert "Too large resource version: 900000000, current: " in refusal.value.message
    details = refusal.value.details
    assert details is not None
    assert [cause.reason for cause in details.causes] == ["ResourceVersionTooLarge"]
    assert details.retry_after_seconds == 1


async def test_the_status_part_is_the_whole_object(widgets: Collection):
    """A get of the status answers with the object, not with the status alone."""
    made = await widgets.make("one", spec=RED)
    assert await widgets.get("one", part="status") == made


async def test_a_kind_without_status_has_no_such_part(gadgets: Collection, space: str):
    """Nothing is served at the status of a kind that has none."""
    await gadgets.make(space, spec={})
    with pytest.raises(NotFound):
        await gadgets.get(space, part="status")
    await gadgets.delete(space)
