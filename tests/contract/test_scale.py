"""The scale of a kind: its replicas, without the rest."""

import pytest

from kubekit.api.errors import ApiError, Conflict, Invalid, NotFound
from kubekit.client.options import PatchType
from tests.contract.collection import Collection, version
from tests.contract.kinds import RED

THREE = RED | {"replicas": 3}


async def test_a_scale_shows_the_numbers(widgets: Collection, space: str):
    """Asked replicas come from the spec, running ones and the selector from the status."""
    made = await widgets.make("one", spec=THREE)
    status = {"replicas": 2, "selector": "app=one"}
    reported = await widgets.merge("one", {"status": status}, "status")
    scale = await widgets.get("one", part="scale")
    assert (scale["apiVersion"], scale["kind"]) == ("autoscaling/v1", "Scale")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "app=one"}
    metadata = scale["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("one", space)
    assert metadata["uid"] == made["metadata"]["uid"]
    assert version(scale) == version(reported)
    assert metadata["creationTimestamp"] == made["metadata"]["creationTimestamp"]


async def test_a_scale_without_a_status_counts_nothing(widgets: Collection):
    """A number that is not reported yet is zero."""
    await widgets.make("one", spec=THREE)
    assert (await widgets.get("one", part="scale"))["status"] == {"replicas": 0}


async def test_a_scale_needs_replicas(widgets: Collection):
    """An object that does not say its replicas has no scale to show."""
    await widgets.make("one", spec=RED)
    with pytest.raises(ApiError) as refusal:
        await widgets.get("one", part="scale")
    assert ".spec.replicas" in refusal.value.message


async def test_a_scale_is_written(widgets: Collection):
    """An update of the scale changes the replicas, and only them: a new generation."""
    await widgets.make("one", spec=THREE | {"title": "abc"})
    scale = await widgets.get("one", part="scale")
    answered = await widgets.update(scale | {"spec": {"replicas": 5}}, "scale")
    assert answered["spec"] == {"replicas": 5}
    assert answered["kind"] == "Scale"
    got = await widgets.get("one")
    assert got["spec"]["replicas"] == 5
    assert got["spec"]["title"] == "abc"
    assert got["metadata"]["generation"] == 2
    assert version(got) == version(answered)


async def test_a_scale_from_an_old_version_is_refused(widgets: Collection):
    """A scale carries the version of its object."""
    await widgets.make("one", spec=THREE)
    scale = await widgets.get("one", part="scale")
    await widgets.merge("one", {"spec": {"title": "abc"}})
    with pytest.raises(Conflict):
        await widgets.update(scale | {"spec": {"replicas": 5}}, "scale")


async def test_a_scale_may_be_written_without_a_version(widgets: Collection):
    """A scale without a version needs no read before."""
    await widgets.make("one", spec=THREE)
    scale = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "one"},
        "spec": {"replicas": 7},
    }
    assert (await widgets.update(scale, "scale"))["spec"] == {"replicas": 7}


async def test_a_scale_is_merged(widgets: Collection):
    """A merge patch of the scale, as kubectl scale sends it."""
    await widgets.make("one", spec=THREE)
    patched = await widgets.merge("one", {"spec": {"replicas": 9}}, "scale")
    assert patched["spec"] == {"replicas": 9}
    assert (await widgets.get("one"))["spec"]["replicas"] == 9


async def test_a_scale_is_patched_by_operations(widgets: Collection):
    """A JSON patch works on the scale document."""
    await widgets.make("one", spec=THREE)
    patch = [{"op": "replace", "path": "/spec/replicas", "value": 4}]
    patched = await widgets.patch("one", PatchType.JSON, patch, "scale")
    assert patched["spec"] == {"replicas": 4}


async def test_a_negative_scale_is_refused(widgets: Collection):
    """A negative number is invalid."""
    await widgets.make("one", spec=THREE)
    with pytest.raises(Invalid) as refusal:
        await widgets.merge("one", {"spec": {"replicas": -1}}, "scale")
    assert "spec.replicas" in refusal.value.message


async def test_a_scale_obeys_the_kinds_schema(widgets: Collection):
    """A number that the spec could not hold is refused here too."""
    await widgets.make("one", spec=THREE)
    with pytest.raises(Invalid) as refusal:
        await widgets.merge("one", {"spec": {"replicas": 1001}}, "scale")
    assert "spec.replicas" in refusal.value.message


async def test_a_scale_of_nothing_is_not_found(widgets: Collection):
    """There is no scale without an object."""
    with pytest.raises(NotFound):
        await widgets.get("absent", part="scale")


async def test_a_kind_without_scale_has_no_such_part(gadgets: Collection, space: str):
    """Nothing is served at the scale of a kind that has none."""
    await gadgets.make(space, spec={})
    with pytest.raises(NotFound):
        await gadgets.get(space, part="scale")
    await gadgets.delete(space)
