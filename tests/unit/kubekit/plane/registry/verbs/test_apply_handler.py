"""The verb apply, with admission and concurrent writers."""

import asyncio

import pytest

from kubekit.api.errors import AlreadyExists, BadRequest
from kubekit.client.options import PatchType, WriteOptions
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.registry_builders import World, scenario

APPLY = WriteOptions(field_manager="ann")


@scenario
async def test_w1_a_refusal_is_not_taken_for_a_write_conflict(world: World):
    """A webhook may refuse with any reason: the apply ends and does not retry indefinitely."""
    asked: list[str] = []

    def refuse(attempt: Attempt) -> None:
        asked.append(attempt.name)
        if len(asked) < 10:
            raise AlreadyExists("there is one elsewhere")

    world.registry.admission.validating.append(refuse)
    with pytest.raises(AlreadyExists, match="there is one elsewhere"):
        await world.widgets.patch("a", world.widgets.document("a"), PatchType.APPLY, "", APPLY)
    assert asked == ["a"]


@scenario
async def test_an_apply_changes_an_object_that_was_created_meanwhile(world: World):
    """The client of the apply does not notice that another client was first."""

    async def be_quicker(_attempt: Attempt) -> None:
        world.registry.admission.validating.remove(be_quicker)
        await world.widgets.make("a", spec={"size": 1})

    world.registry.admission.validating.append(be_quicker)
    wanted = world.widgets.document("a", spec={"color": "red"})
    await world.widgets.patch("a", wanted, PatchType.APPLY, "", APPLY)
    assert world.widgets.get("a")["spec"] == {"size": 1, "color": "red"}


@scenario
async def test_what_is_there_need_not_be_named_again(world: World):
    """The request says which object it is; only one that is not there yet must be named."""
    wanted = world.widgets.document("a", spec={"color": "red"})
    unnamed = wanted | {"metadata": {}}
    with pytest.raises(BadRequest, match="name must be provided"):
        await world.widgets.patch("a", unnamed, PatchType.APPLY, "", APPLY)

    await world.widgets.make("a", spec={"size": 1})
    await world.widgets.patch("a", unnamed, PatchType.APPLY, "", APPLY)

    assert world.widgets.get("a")["spec"] == {"size": 1, "color": "red"}


@pytest.mark.parametrize("how", [PatchType.APPLY, PatchType.MERGE])
@scenario
async def test_what_admission_completes_is_applied_again_without_a_write(
    world: World, how: PatchType
):
    """A value that admission replaces is no change the second time, however much later it is."""

    def fill(attempt: Attempt) -> None:
        assert attempt.document is not None
        if attempt.document["spec"].get("color") == "":
            attempt.document = attempt.document | {"spec": {"color": "red", "size": 1}}
            attempt.changed = True

    world.registry.admission.mutating.append(fill)
    wanted = world.widgets.document("a", spec={"color": "", "size": 1})
    if how is PatchType.APPLY:
        await world.widgets.patch("a", wanted, how, "", APPLY)
    else:
        await world.widgets.create(wanted, APPLY)
    labelled = {"metadata": {"labels": {"team": "blue"}}}
    await asyncio.sleep(60)
    await world.widgets.merge("a", labelled, options=WriteOptions(field_manager="bob"))
    first = world.widgets.get("a")
    await asyncio.sleep(60)
    await world.widgets.patch("a", wanted, how, "", APPLY)

    assert first["spec"]["color"] == "red"
    assert world.widgets.get("a") == first


@scenario
async def test_what_admission_completes_belongs_to_no_manager(world: World):
    """Neither the applier nor a later updater owns a field that it did not send."""

    def fill(attempt: Attempt) -> None:
        assert attempt.document is not None
        spec = attempt.document["spec"]
        if "color" not in spec:
            attempt.document = attempt.document | {"spec": spec | {"color": "red"}}
            attempt.changed = True

    world.registry.admission.mutating.append(fill)
    wanted = world.widgets.document("a", spec={"size": 1})
    await world.widgets.patch("a", wanted, PatchType.APPLY, "", APPLY)
    await world.widgets.merge("a", {"spec": {"size": 2}}, options=WriteOptions(field_manager="bob"))
    await world.widgets.merge("a", {"spec": {"color": None}})

    made = world.widgets.get("a")
    assert made["spec"] == {"size": 2, "color": "red"}
    owned = {entry["manager"]: entry["fieldsV1"] for entry in made["metadata"]["managedFields"]}
    assert owned == {"bob": {"f:spec": {"f:size": {}}}}
