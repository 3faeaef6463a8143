"""The life of a namespace."""

import re
from collections.abc import Iterator

import pytest

from kubekit.api.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from tests.contract.collection import Collection, names, upto, version
from tests.contract.kinds import RED

HOLD = {"finalizers": ["test.example/hold"]}


@pytest.fixture
def closing(run, namespaces: Collection, widgets: Collection, space: str) -> Iterator[Collection]:
    """Widgets of a namespace that is being deleted, while one of them holds it open."""

    async def close():
        await widgets.make("held", metadata=HOLD, spec=RED)
        await namespaces.delete(space)

    run(close())
    yield widgets
    run(widgets.merge("held", {"metadata": {"finalizers": None}}))


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_are_always_there(namespaces: Collection, name: str):
    """Every server has them from its first start."""
    assert (await namespaces.get(name))["status"]["phase"] == "Active"


async def test_a_new_namespace_is_active(namespaces: Collection, space: str):
    """It has its phase, its finalizer and its own name as a label."""
    got = await namespaces.get(space)
    assert got["status"] == {"phase": "Active"}
    assert got["spec"] == {"finalizers": ["kubernetes"]}
    assert got["metadata"]["labels"]["kubernetes.io/metadata.name"] == space


@pytest.mark.parametrize("name", ["a.b", "Upper", "x" * 64, "-a"])
async def test_the_name_of_a_namespace_is_a_label(namespaces: Collection, name: str):
    """It appears in places where a dot has a meaning."""
    with pytest.raises(Invalid) as refusal:
        await namespaces.make(name)
    assert "metadata.name: Invalid value: " in refusal.value.message


async def test_a_namespace_is_made_once(namespaces: Collection, space: str):
    """The name is taken."""
    with pytest.raises(AlreadyExists):
        await namespaces.make(space)


async def test_a_namespace_can_be_labelled(namespaces: Collection, space: str):
    """Other labels go beside its own."""
    got = await namespaces.merge(space, {"metadata": {"labels": {"team": "blue"}}})
    assert got["metadata"]["labels"]["team"] == "blue"
    assert got["metadata"]["labels"]["kubernetes.io/metadata.name"] == space


async def test_namespaces_are_selected_by_phase(namespaces: Collection, space: str):
    """A namespace can be found by the phase that it is in."""
    assert space in names(await namespaces.list(field_selector="status.phase=Active"))


async def test_a_deleted_namespace_is_closing(namespaces: Collection, closing: Collection):
    """It stays until it is empty, and says so by its phase."""
    got = await namespaces.get(closing.namespace)
    assert got["status"]["phase"] == "Terminating"
    assert "deletionTimestamp" in got["metadata"]


async def test_nothing_is_created_in_a_closing_namespace(closing: Collection):
    """The refusal says why, in words and as a cause."""
    with pytest.raises(Forbidden) as refusal:
        await closing.make("late", spec=RED)
    assert re.search(r"because it is being terminated", refusal.value.message)
    details = refusal.value.details
    assert details is not None
    assert "NamespaceTerminating" in [cause.reason for cause in details.causes]


async def test_a_closing_namespace_can_still_be_changed(closing: Collection):
    """What is there is reported on to its end."""
    changed = await closing.merge("held", {"spec": {"colour": "blue"}})
    assert changed["spec"]["colour"] == "blue"


async def test_only_finalize_takes_the_finalizers_off(namespaces: Collection, space: str):
    """An update of the namespace leaves them, a write at the subresource does not."""
    present = await namespaces.get(space)
    freed = present | {"spec": {}}
    assert (await namespaces.update(freed))["spec"] == {"finalizers": ["kubernetes"]}
    freed["metadata"] = (await namespaces.get(space))["metadata"]
    assert (await namespaces.update(freed, "finalize"))["spec"] == {}


async def test_a_closing_namespace_is_deleted_once(namespaces, closing: Collection):
    """The second delete finds it closing already."""
    try:
        again = await namespaces.delete(closing.namespace)
    except Conflict as refusal:
        assert "already" in refusal.message or "ensuring" in refusal.message  # noqa: PT017 - both ways are right
    else:
        assert again["status"]["phase"] == "Terminating"


@pytest.mark.controllers
async def test_the_content_goes_with_the_namespace(namespaces, widgets, config_maps, space: str):
    """Objects of every kind are deleted, then the namespace itself."""
    start = version(await namespaces.list())
    await widgets.make("one", spec=RED)
    await config_maps.make("two", data={})
    async with namespaces.watch(resource_version=start) as stream:
        await namespaces.delete(space)
        await upto(stream, "DELETED", space)
    assert names(await widgets.list()) == []
    with pytest.raises(NotFound):
        await namespaces.get(space)
    await namespaces.make(space)


@pytest.mark.controllers
async def test_a_held_object_holds_its_namespace(namespaces, closing: Collection, space: str):
    """The namespace says what is left, and goes when that goes."""
    start = version(await namespaces.list())
    async with namespaces.watch(
        resource_version=start, field_selector=f"metadata.name={space}"
    ) as stream:
        conditions = (await namespaces.get(space))["status"].get("conditions", [])
        while not any(
            c["type"] == "NamespaceFinalizersRemaining" and c["status"] == "True"
            for c in conditions
        ):
            conditions = (await anext(stream)).object["status"].get("conditions", [])
        message = next(
            c["message"] for c in conditions if c["type"] == "NamespaceFinalizersRemaining"
        )
        assert "test.example/hold in 1 resource instances" in message
        await closing.merge("held", {"metadata": {"finalizers": None}})
        await upto(stream, "DELETED", space)
    await namespaces.make(space)
    await closing.make("held", spec=RED)
