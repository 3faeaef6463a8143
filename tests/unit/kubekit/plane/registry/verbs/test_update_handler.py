"""Changing objects: versions, generations, parts, patches, and what happens when two come at once."""

import asyncio

import pytest

from kubekit.api.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Timeout,
    UnsupportedMediaType,
)
from kubekit.client.options import PatchType, WriteOptions
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.verbs.results import WriteResult
from tests.support.kubekit.registry_builders import SPACE, World, document_of, scenario, version

RED = {"color": "red"}
HELD = {"finalizers": ["example.com/hold"]}


@scenario
async def test_an_update_replaces_the_object(world: World):
    """Omitted fields are removed, defaults are filled in, the generation rises."""
    made = await world.widgets.make("a", {"labels": {"a": "b"}}, spec={"color": "red", "size": 5})
    document = world.widgets.document("a", {"resourceVersion": version(made)}, spec={})
    updated = document_of(await world.widgets.update(document))
    assert updated["spec"] == {"size": 3}
    assert "labels" not in updated["metadata"]
    assert updated["metadata"]["generation"] == 2
    assert world.widgets.get("a") == updated


@scenario
async def test_labels_are_no_new_generation(world: World):
    """The generation counts changes of the spec, not of labels."""
    made = await world.widgets.make("a", spec=RED)
    made["metadata"]["labels"] = {"a": "b"}
    updated = document_of(await world.widgets.update(made))
    assert updated["metadata"]["generation"] == 1
    assert updated["metadata"]["labels"] == {"a": "b"}


@scenario
async def test_true_is_not_one(world: World):
    """A change between values that Python calls equal is a change."""
    made = await world.widgets.make("a", spec={"any": {"x": 1}})
    made["spec"]["any"]["x"] = True
    updated = document_of(await world.widgets.update(made))
    assert updated["spec"]["any"]["x"] is True
    assert updated["metadata"]["generation"] == 2


@scenario
async def test_no_change_writes_nothing(world: World):
    """The same document again leaves revision and version as they are."""
    made = await world.widgets.make("a", spec=RED)
    before = world.store.revision
    assert document_of(await world.widgets.update(dict(made))) == made
    assert world.store.revision == before


@scenario
async def test_an_old_version_is_refused(world: World):
    """The second writer must read again."""
    made = await world.widgets.make("a", spec=RED)
    await world.widgets.merge("a", {"spec": {"color": "blue"}})
    with pytest.raises(Conflict, match="the object has been modified; please apply your changes"):
        await world.widgets.update(made)


@scenario
async def test_a_custom_kind_wants_a_version(world: World):
    """Without one, an update could undo what it has not seen."""
    await world.widgets.make("a")
    with pytest.raises(Invalid, match=r"metadata.resourceVersion: Invalid value: 0: must be spec"):
        await world.widgets.update(world.widgets.document("a"))


@scenario
async def test_a_core_kind_wants_none(world: World):
    """The last writer wins, also when another comes in between."""
    await world.config_maps.make("a")
    await asyncio.gather(
        *(world.config_maps.update(world.config_maps.document("a", data={"n": n})) for n in "12")
    )
    assert world.config_maps.get("a")["data"] == {"n": "2"}


@scenario
async def test_a_version_is_a_number(world: World):
    """A version that no server gave out is a bad request."""
    made = await world.widgets.make("a")
    made["metadata"]["resourceVersion"] = "abc"
    with pytest.raises(BadRequest, match="invalid resource version"):
        await world.widgets.update(made)


@scenario
async def test_of_two_updates_from_one_version_one_wins(world: World):
    """Both read the same; the store takes one of them."""
    made = await world.widgets.make("a")
    results = await asyncio.gather(
        *(world.widgets.update({**made, "spec": {"color": c}}) for c in ("red", "blue")),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [WriteResult, Conflict]


@scenario
async def test_what_is_not_there_is_not_found(world: World):
    """An update creates nothing."""
    with pytest.raises(NotFound, match=r'widgets.example.com "a" not found'):
        await world.widgets.update(world.widgets.document("a", {"resourceVersion": "1"}))


SUBJECTS = {
    "other name": ({"name": "b"}, BadRequest, "the name of the object (b) does not match"),
    "no name": ({"name": ""}, BadRequest, "name must be provided"),
    "other namespace": ({"namespace": "x"}, BadRequest, "namespace of the provided object"),
    "other uid": ({"uid": "x"}, Conflict, "Precondition failed: UID in precondition: x"),
}


@pytest.mark.parametrize(("said", "error", "says"), SUBJECTS.values(), ids=SUBJECTS)
@scenario
async def test_an_update_is_about_the_object_it_is_sent_to(world: World, said, error, says):
    """A document of another object is refused."""
    made = await world.widgets.make("a")
    with pytest.raises(error) as refusal:
        await world.widgets.put("a", {**made, "metadata": made["metadata"] | said})
    assert says in refusal.value.message


@scenario
async def test_identity_stays(world: World):
    """Time and generation are the server's; the end of an object cannot be written."""
    made = await world.widgets.make("a")
    said = {"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9, "labels": {"a": "b"}}
    updated = document_of(await world.widgets.update({**made, "metadata": made["metadata"] | said}))
    assert updated["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert updated["metadata"]["generation"] == 1
    ended = updated["metadata"] | {"deletionTimestamp": "2001-01-01T00:00:00Z"}
    with pytest.raises(Invalid, match=r"metadata.deletionTimestamp: Invalid value"):
        await world.widgets.update({**updated, "metadata": ended})


@scenario
async def test_the_end_of_an_object_stays_whatever_a_client_says_of_it(world: World):
    """Another spelling of the same moment, or another moment, is no change and no fault."""
    await world.widgets.make("a", HELD)
    marked = document_of(await world.widgets.delete("a"))
    said = {"deletionTimestamp": "2001-01-01T00:00:00+00:00", "labels": {"a": "b"}}
    updated = document_of(await world.widgets.merge("a", {"metadata": said}))
    ends = updated["metadata"]["deletionTimestamp"], marked["metadata"]["deletionTimestamp"]
    assert ends[0] == ends[1]
    assert updated["metadata"]["labels"] == {"a": "b"}


@scenario
async def test_an_owner_that_is_named_twice_is_one_owner(world: World):
    """A controller that a client adds again is not a second controller."""
    await world.widgets.make("a")
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True}
    patch = {"metadata": {"ownerReferences": [owner, dict(owner)]}}
    updated = document_of(await world.widgets.merge("a", patch))
    assert updated["metadata"]["ownerReferences"] == [owner]


@scenario
async def test_a_change_beside_an_unknown_field_is_a_new_generation(world: World):
    """What is dropped on the way does not hide what is kept."""
    made = await world.widgets.make("a", spec=RED)
    made["spec"] = {"color": "blue", "unknown": 1}
    updated = document_of(await world.widgets.update(made))
    assert (updated["spec"]["color"], updated["metadata"]["generation"]) == ("blue", 2)


@scenario
async def test_the_prefix_of_a_name_is_the_clients(world: World):
    """What the name was made of is kept as long as the client says it."""
    made = document_of(
        await world.config_maps.create({"metadata": {"generateName": "x-", "labels": {"a": "b"}}})
    )
    made["metadata"]["labels"] = {"a": "c"}
    updated = document_of(await world.config_maps.update(made))
    assert updated["metadata"]["generateName"] == "x-"


@scenario
async def test_a_status_is_not_the_objects_to_change(world: World):
    """An update of the object leaves the status; an update of the status leaves the rest."""
    made = await world.widgets.make("a", spec=RED)
    wanted = {**made, "spec": {"color": "x"}, "status": {"phase": "Done"}}
    wanted["metadata"] = made["metadata"] | {"labels": {"a": "b"}}
    updated = document_of(await world.widgets.update(wanted, "status"))
    assert updated["status"] == {"phase": "Done"}
    assert updated["spec"] == made["spec"]
    assert "labels" not in updated["metadata"]
    assert updated["metadata"]["generation"] == 1
    kept = document_of(await world.widgets.update({**updated, "spec": RED, "status": {}}))
    assert kept["status"] == {"phase": "Done"}


@scenario
async def test_a_status_can_be_taken_away(world: World):
    """A document without status leaves none."""
    made = await world.widgets.make("a")
    updated = document_of(await world.widgets.update({**made, "status": {"phase": "x"}}, "status"))
    updated.pop("status")
    assert "status" not in document_of(await world.widgets.update(updated, "status"))


@pytest.mark.parametrize("part", ["status", "scale", "finalize", "nonsense"])
@scenario
async def test_a_part_that_the_kind_does_not_have_is_not_found(world: World, part):
    """A ConfigMap has no parts."""
    made = await world.config_maps.make("a")
    with pytest.raises(NotFound):
        await world.config_maps.update(made, part)


@scenario
async def test_a_deleted_object_is_removed_with_its_last_finalizer(world: World):
    """The answer is its last state; afterwards nothing has that name."""
    await world.widgets.make("a", HELD)
    await world.widgets.delete("a")
    gone = document_of(await world.widgets.merge("a", {"metadata": {"finalizers": None}}))
    assert "finalizers" not in gone["metadata"]
    with pytest.raises(NotFound):
        world.widgets.get("a")


@scenario
async def test_a_deleted_object_gets_no_new_finalizers(world: World):
    """A finalizer cannot be added to a deleted object; other changes are accepted."""
    await world.widgets.make("a", HELD)
    await world.widgets.delete("a")
    more = {"finalizers": [*HELD["finalizers"], "example.com/late"]}
    with pytest.raises(Invalid, match=r"no new finalizers can be added .* example.com/late"):
        await world.widgets.merge("a", {"metadata": more})
    changed = await world.widgets.merge("a", {"metadata": {"labels": {"a": "b"}}})
    assert document_of(changed)["metadata"]["labels"] == {"a": "b"}


@scenario
async def test_a_namespace_is_released_by_finalize(world: World):
    """Only finalize takes the finalizers out of its spec, and then the namespace is gone."""
    await world.namespaces.delete(SPACE)
    document = world.namespaces.get(SPACE)
    assert document["status"]["phase"] == "Terminating"
    document["spec"] = {}
    kept = document_of(await world.namespaces.update(document))
    assert kept["spec"] == {"finalizers": ["kubernetes"]}
    document["spec"] = {"finalizers": []}
    await world.namespaces.update(document, "finalize")
    with pytest.raises(NotFound):
        world.namespaces.get(SPACE)


@scenario
async def test_a_namespace_that_stays_can_change_its_finalizers(world: World):
    """Finalize alone deletes nothing."""
    document = world.namespaces.get(SPACE)
    document["spec"] = {"finalizers": ["example.com/mine"]}
    updated = document_of(await world.namespaces.update(document, "finalize"))
    assert updated["spec"] == {"finalizers": ["example.com/mine"]}


@scenario
async def test_a_trial_changes_nothing(world: World):
    """The answer is the object as it would be, at its present version."""
    made = await world.widgets.make("a", spec=RED)
    trial = WriteOptions(dry_run=True)
    tried = document_of(await world.widgets.merge("a", {"spec": {"color": "x"}}, options=trial))
    assert tried["spec"]["color"] == "x"
    assert tried["metadata"]["generation"] == 2
    assert version(tried) == version(made)
    assert world.widgets.get("a") == made


@scenario
async def test_patches_never_lose_to_each_other(world: World):
    """Each is applied again to what the other left."""
    await world.config_maps.make("a")
    await asyncio.gather(*(world.config_maps.merge("a", {"data": {n: n}}) for n in "abcd"))
    assert world.config_maps.get("a")["data"] == {n: n for n in "abcd"}


@scenario
async def test_a_patch_may_insist_on_a_version(world: World):
    """A version in the patch must be the present one."""
    made = await world.widgets.make("a")
    await world.widgets.merge("a", {"spec": RED})
    with pytest.raises(Conflict):
        await world.widgets.merge("a", {"metadata": {"resourceVersion": version(made)}})


@scenario
async def test_a_patch_cannot_make_another_object(world: World):
    """The uid is no condition of a patch but a field that stays."""
    await world.widgets.make("a")
    with pytest.raises(Invalid, match=r"metadata.uid: Invalid value"):
        await world.widgets.merge("a", {"metadata": {"uid": "other"}})


@scenario
async def test_json_patches(world: World):
    """Operations are applied in order."""
    await world.widgets.make("a", spec=RED)
    patch = [
        {"op": "test", "path": "/spec/color", "value": "red"},
        {"op": "remove", "path": "/spec"},
    ]
    patched = document_of(await world.widgets.patch("a", patch, PatchType.JSON))
    assert "spec" not in patched


@scenario
async def test_strategic_patches_are_for_built_in_kinds(world: World):
    """They merge lists by key; a custom kind does not take them."""
    await world.config_maps.make("a", HELD)
    await world.widgets.make("a")
    patch = {"metadata": {"finalizers": ["example.com/more"]}}
    patched = await world.config_maps.patch("a", patch, PatchType.STRATEGIC)
    assert len(document_of(patched)["metadata"]["finalizers"]) == 2
    with pytest.raises(UnsupportedMediaType, match=r"application/merge-patch\+json"):
        await world.widgets.patch("a", patch, PatchType.STRATEGIC)


PATCHES = {
    "kind": {"kind": "Gadget"},
    "version": {"apiVersion": "v9"},
    "labels": {"metadata": {"labels": {"a": 5}}},
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
@scenario
async def test_a_patch_that_makes_nonsense_is_invalid(world: World, patch):
    """The object was fine, so the patch is at fault."""
    made = await world.widgets.make("a")
    with pytest.raises(Invalid):
        await world.widgets.merge("a", patch)
    assert world.widgets.get("a") == made


@scenario
async def test_a_patch_cannot_take_the_name(world: World):
    """The subject of such a patch is unknown."""
    await world.widgets.make("a")
    with pytest.raises(BadRequest, match="name must be provided"):
        await world.widgets.merge("a", {"metadata": None})


@scenario
async def test_unknown_fields_in_patches(world: World):
    """They are warned of, or with Strict make the patch invalid."""
    await world.widgets.make("a")
    written = await world.widgets.merge("a", {"spec": {"foo": 1}})
    assert written.warnings == ('unknown field "spec.foo"',)
    strict = WriteOptions(field_validation="Strict")
    with pytest.raises(Invalid, match="strict decoding error"):
        await world.widgets.merge("a", {"spec": {"foo": 1}}, options=strict)
    document = {**world.widgets.get("a"), "spec": {"foo": 1}}
    with pytest.raises(BadRequest, match="strict decoding error"):
        await world.widgets.update(document, options=strict)


@scenario
async def test_scaling(world: World):
    """The scale reads and writes one number, and counts as a change of the spec."""
    await world.widgets.make("a", spec={"replicas": 2})
    assert world.widgets.scale("a")["spec"] == {"replicas": 2}
    scale = {"metadata": {"name": "a"}, "spec": {"replicas": 5}}
    scaled = document_of(await world.widgets.put("a", scale, "scale"))
    assert (scaled["kind"], scaled["spec"]) == ("Scale", {"replicas": 5})
    scaled = document_of(await world.widgets.merge("a", {"spec": {"replicas": 6}}, "scale"))
    assert scaled["spec"] == {"replicas": 6}
    widget = world.widgets.get("a")
    assert widget["spec"]["replicas"] == 6
    assert widget["metadata"]["generation"] == 3
    assert version(widget) == version(scaled)


@scenario
async def test_a_scale_of_an_old_object_is_refused(world: World):
    """A scale that names a version is written only to that version."""
    made = await world.widgets.make("a", spec={"replicas": 2})
    await world.widgets.merge("a", {"spec": RED})
    metadata = {"name": "a", "resourceVersion": version(made)}
    with pytest.raises(Conflict):
        await world.widgets.put("a", {"metadata": metadata, "spec": {"replicas": 1}}, "scale")


@scenario
async def test_an_object_without_replicas_shows_no_scale(world: World):
    """A missing number is not reported as zero."""
    await world.widgets.make("a", spec=RED)
    with pytest.raises(NotFound, match=r"\.spec\.replicas"):
        world.widgets.scale("a")


@scenario
async def test_admission_sees_old_and_new(world: World):
    """It also gets the subresource."""
    seen: list[Attempt] = []
    made = await world.widgets.make("a", spec=RED)
    world.registry.admission.validating.append(seen.append)
    await world.widgets.update({**made, "status": {"phase": "x"}}, "status")
    (attempt,) = seen
    assert (attempt.verb, attempt.key, attempt.subresource) == ("update", f"{SPACE}/a", "status")
    assert attempt.old == made
    assert attempt.document is not None
    assert attempt.document["status"] == {"phase": "x"}


@scenario
async def test_admission_may_refuse_a_change(world: World):
    """Then nothing has changed."""

    def refuse(_attempt: Attempt) -> None:
        raise Forbidden("no")

    made = await world.widgets.make("a")
    world.registry.admission.validating.append(refuse)
    with pytest.raises(Forbidden):
        await world.widgets.merge("a", {"spec": RED})
    with pytest.raises(Forbidden):
        await world.widgets.delete("a")
    assert world.widgets.get("a") == made


@scenario
async def test_kinds_can_be_replaced_while_serving(world: World):
    """A registry that is given other kinds knows those."""
    kinds = world.registry.kinds
    world.registry.kinds = kinds.without("", "namespaces")
    await world.collection("v1", "ConfigMap", "nowhere").make("a")
    world.registry.kinds = kinds
    with pytest.raises(NotFound, match="namespaces"):
        await world.collection("v1", "ConfigMap", "nowhere").make("b")


@scenario
async def test_w1_a_change_that_is_always_too_late_ends(world: World):
    """If a plugin changes the object on every attempt, the retries end."""
    await world.config_maps.make("a")
    asked: list[str] = []

    async def meddle(attempt: Attempt) -> None:
        asked.append(attempt.name)
        admission.remove(meddle)
        await world.config_maps.merge("a", {"data": {"n": str(len(asked))}})
        admission.append(meddle)
        await asyncio.sleep(5)

    admission = world.registry.admission.validating
    admission.append(meddle)
    with pytest.raises(Timeout, match="other clients keep changing it"):
        await world.config_maps.merge("a", {"data": {"mine": "1"}})
    assert 2 < len(asked) < 20


@scenario
async def test_admission_plugins_may_change_during_a_write(world: World):
    """A write runs the plugins that were registered when it started, each once."""
    asked: list[str] = []

    async def first(_attempt: Attempt) -> None:
        asked.append("first")
        await asyncio.sleep(1)
        admission.remove(first)

    def second(_attempt: Attempt) -> None:
        asked.append("second")

    admission = world.registry.admission.validating
    admission += [first, second]
    await world.config_maps.make("a")
    assert asked == ["first", "second"]


@pytest.mark.parametrize(
    ("patch", "subresource", "kept"),
    [
        ({"status": {"phase": "Ready"}}, "status", True),
        ({"spec": {"color": "blue"}}, "", True),
        ({"metadata": {"annotations": {"a": "c"}}}, "", True),
        ({"metadata": {"labels": {"a": "c"}}}, "", False),
        ({"metadata": {"finalizers": None}}, "", False),
        ({"metadata": {"labels": {"a": "c"}}, "status": {"phase": "Ready"}}, "status", True),
    ],
)
@scenario
async def test_a_change_event_says_whether_it_keeps_links(world: World, patch, subresource, kept):
    """A change event says whether labels, owners and finalizers are unchanged."""
    events = []
    await world.widgets.make("a", {"labels": {"a": "b"}, **HELD}, spec=RED)
    world.store.listen(lambda _resource, event: events.append(event))
    await world.widgets.merge("a", patch, subresource)
    assert [event.keeps_links for event in events] == [kept]
