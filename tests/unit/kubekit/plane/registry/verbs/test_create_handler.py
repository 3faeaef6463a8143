"""Creating objects: identity, names, what the schema does, what is refused."""

import asyncio
import tracemalloc
from typing import cast

import pytest

from kubekit.api.errors import (
    AlreadyExists,
    BadRequest,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    Unavailable,
)
from kubekit.client.options import PLAIN_DELETE, FieldValidation, WriteOptions
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.registry_builders import SPACE, World, details_of, document_of, scenario


@scenario
async def test_a_new_object_has_an_identity(world: World):
    """Name, namespace, uid, time, generation, version and owners of fields, and nothing else."""
    made = await world.widgets.make("a", spec={"color": "red"})
    metadata = made.pop("metadata")
    (owner,) = metadata.pop("managedFields")
    assert owner["fieldsV1"] == {"f:spec": {".": {}, "f:color": {}, "f:size": {}}}
    assert made == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "spec": {"color": "red", "size": 3},
    }
    assert set(metadata.pop("uid")) <= set("0123456789abcdef-")
    assert metadata == {
        "resourceVersion": "2",
        "name": "a",
        "namespace": SPACE,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "generation": 1,
    }


@scenario
async def test_a_built_in_kind_has_no_generation(world: World):
    """Kubernetes counts no generations of its own simple kinds."""
    made = await world.config_maps.make("a")
    assert "generation" not in made["metadata"]


@scenario
async def test_what_the_client_owns_is_kept(world: World):
    """Labels, annotations, finalizers and owner references are stored as they came."""
    owned = {
        "labels": {"app": "web"},
        "annotations": {"Example.com/note": "any text\n"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "n", "uid": "u"}],
    }
    made = await world.config_maps.make("a", owned)
    assert {name: made["metadata"][name] for name in owned} == owned


@scenario
async def test_what_the_server_owns_is_not_taken_from_the_client(world: World):
    """Identity, times and managed fields in a new document are ignored."""
    said = {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 4,
        "generation": 7,
        "selfLink": "/x",
        "managedFields": [{"manager": "me"}],
    }
    made = (await world.widgets.make("a", said))["metadata"]
    assert made["uid"] != "mine"
    assert made["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert made["generation"] == 1
    assert not made.keys() & {"deletionTimestamp", "selfLink", "managedFields"}


@scenario
async def test_a_status_is_dropped_where_it_is_a_part_of_its_own(world: World):
    """Only /status writes the status."""
    made = await world.widgets.make("a", spec={}, status={"phase": "Done"})
    assert "status" not in made


@scenario
async def test_a_name_is_made_of_a_prefix(world: World):
    """The name is the prefix and five characters, cut so that it fits into a label."""
    written = await world.widgets.create(
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"generateName": "x" * 70}}
    )
    metadata = document_of(written)["metadata"]
    assert len(metadata["name"]) == 63
    assert metadata["generateName"] == "x" * 70
    assert written.created


@scenario
async def test_a_made_name_that_is_taken_is_made_anew(world: World):
    """A collision of chance is not the client's business."""
    chance = world.surroundings.chance
    state = chance.getstate()
    document = {"metadata": {"generateName": "x-"}}
    first = document_of(await world.config_maps.create(document))["metadata"]["name"]
    chance.setstate(state)
    second = document_of(await world.config_maps.create(document))["metadata"]["name"]
    assert first != second


@scenario
async def test_what_is_made_of_a_name_follows_the_name_that_is_made_anew(world: World):
    """A namespace has its name as its own namespace in admission."""
    chance = world.surroundings.chance
    state = chance.getstate()
    document = {"metadata": {"generateName": "x-"}}
    await world.namespaces.create(document)
    chance.setstate(state)
    asked: list[str] = []
    world.registry.admission.validating.append(lambda attempt: asked.append(attempt.key))
    metadata = document_of(await world.namespaces.create(document))["metadata"]
    assert metadata["labels"] == {"kubernetes.io/metadata.name": metadata["name"]}
    assert asked[-1] == metadata["name"]


@scenario
async def test_labels_that_are_refused_are_not_kept_in_memory(world: World):
    """Clients that send long rubbish again and again leave nothing behind."""
    tracemalloc.start()
    try:
        for number in range(20):
            with pytest.raises(Invalid):
                await world.widgets.make("a", {"labels": {f"{number}{'x' * 500_000}": ""}})
            with pytest.raises(Invalid):
                await world.widgets.make("a", {"labels": {"a": f"{number}{'x' * 500_000}"}})
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 5_000_000


@scenario
async def test_a_name_is_taken_once(world: World):
    """A second object of the same name is refused."""
    await world.widgets.make("a")
    with pytest.raises(AlreadyExists, match=r'widgets.example.com "a" already exists'):
        await world.widgets.make("a")


@scenario
async def test_a_name_is_free_again_after_a_deletion(world: World):
    """The new object is another one: it has its own uid."""
    first = await world.widgets.make("a")
    await world.widgets.delete("a")
    second = await world.widgets.make("a")
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


@scenario
async def test_of_two_at_the_same_time_one_wins(world: World):
    """Two creations of one name in the same batch: the store takes the first."""
    results = await asyncio.gather(
        world.widgets.make("a"), world.widgets.make("a"), return_exceptions=True
    )
    assert {type(result) for result in results} == {AlreadyExists, dict}


REFUSED = {
    "no name": ({"name": ""}, "metadata.name: Required value: name or generateName is required"),
    "capital": ({"name": "A"}, "metadata.name: Invalid value"),
    "too long": ({"name": "a" * 254}, "must be no more than 253 characters"),
    "newline": ({"name": "a\n"}, "metadata.name: Invalid value"),
    "prefix": ({"name": "", "generateName": "Bad_"}, "metadata.generateName: Invalid value"),
    "label key": ({"labels": {"a b": "c"}}, 'metadata.labels: Invalid value: "a b"'),
    "label value": ({"labels": {"a": "!"}}, 'metadata.labels: Invalid value: "!"'),
    "annotation": ({"annotations": {"a b": "c"}}, 'metadata.annotations: Invalid value: "a b"'),
    "long": ({"annotations": {"a": "x" * 262_144}}, "metadata.annotations: Too long"),
    "finalizer": ({"finalizers": ["bad name"]}, 'metadata.finalizers: Invalid value: "bad name"'),
    "both": (
        {"finalizers": ["orphan", "foregroundDeletion"]},
        "finalizer orphan and foregroundDeletion cannot be both set",
    ),
    "owner": (
        {"ownerReferences": [{"apiVersion": "a/b/c"}]},
        "metadata.ownerReferences.apiVersion: Invalid value",
    ),
    "owner's name": (
        {"ownerReferences": [{"apiVersion": "v1", "kind": "X", "uid": "u"}]},
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
    ),
    "event as owner": (
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "n", "uid": "u"}]},
        "/v1, Kind=Event is disallowed from being an owner",
    ),
    "two controllers": (
        {
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "X", "name": n, "uid": n, "controller": True}
                for n in ("one", "two")
            ]
        },
        'Only one reference can have Controller set to true. Found "true" in references for '
        "one and two",
    ),
}


@pytest.mark.parametrize(("metadata", "says"), REFUSED.values(), ids=REFUSED)
@scenario
async def test_wrong_metadata_is_refused_by_field(world: World, metadata, says):
    """The refusal names each field, and nothing is stored."""
    with pytest.raises(Invalid) as refusal:
        await world.widgets.make("a", metadata)
    assert says in refusal.value.message
    assert len(world.store.collection("example.com/widgets")) == 0


@scenario
async def test_a_built_in_kind_wants_qualified_finalizers(world: World):
    """Kubernetes' own kinds take finalizers with a domain, or the standard ones."""
    with pytest.raises(Invalid, match="neither a standard finalizer name nor"):
        await world.config_maps.make("a", {"finalizers": ["hold"]})


@scenario
async def test_a_custom_kind_is_warned_of_unqualified_finalizers(world: World):
    """They are taken, with the advice to name a domain."""
    written = await world.widgets.create(world.widgets.document("a", {"finalizers": ["hold"]}))
    assert "prefer a domain-qualified finalizer name" in written.warnings[0]


@scenario
async def test_the_same_owner_twice_is_one_owner(world: World):
    """Clients that add their reference again and again do not let it grow."""
    owner = {"apiVersion": "v1", "kind": "X", "name": "n", "uid": "u"}
    made = await world.config_maps.make("a", {"ownerReferences": [owner, dict(owner)]})
    assert made["metadata"]["ownerReferences"] == [owner]


WRONG_TYPES = {
    "metadata": 5,
    "name": {"name": 5},
    "labels": {"labels": [1]},
    "label": {"labels": {"a": 1}},
    "finalizers": {"finalizers": "a"},
    "finalizer": {"finalizers": [1]},
    "owner's name": {"ownerReferences": [{"name": 1}]},
    "owners": {"ownerReferences": {}},
    "owner": {"ownerReferences": [1]},
    "controller": {"ownerReferences": [{"controller": "yes"}]},
    "generation": {"generation": "1"},
    "truth as generation": {"generation": True},
    "time": {"creationTimestamp": "yesterday"},
}


@pytest.mark.parametrize("metadata", WRONG_TYPES.values(), ids=WRONG_TYPES)
@scenario
async def test_metadata_of_a_wrong_type_is_a_bad_request(world: World, metadata):
    """What cannot be read is refused before anything else is said."""
    with pytest.raises(BadRequest, match=r'Widget in version "v1" cannot be handled as a Widget'):
        await world.widgets.create(
            {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}
        )


@scenario
async def test_null_is_nothing(world: World):
    """A null field is an absent one; a null annotation is an empty one."""
    owner = {"apiVersion": "v1", "kind": "X", "name": "n", "uid": "u", "controller": True}
    metadata = {
        "labels": None,
        "annotations": {"a": None},
        "managedFields": [{"manager": "me"}],
        "creationTimestamp": None,
        "ownerReferences": [owner | {"blockOwnerDeletion": None}],
    }
    made = await world.widgets.make("a", metadata)
    assert made["metadata"]["annotations"] == {"a": ""}
    assert made["metadata"]["ownerReferences"] == [owner]
    assert "labels" not in made["metadata"]
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == ["unknown"]


@scenario
async def test_unknown_fields_are_dropped_with_a_warning(world: World):
    """In metadata, in an owner reference and in the spec, each with its path."""
    owner = {"apiVersion": "v1", "kind": "X", "name": "n", "uid": "u", "odd": 1}
    metadata = {"foo": 1, "ownerReferences": [owner]}
    written = await world.widgets.create(
        world.widgets.document("a", metadata, spec={"bar": 1, "size": 4})
    )
    assert set(written.warnings) == {
        'unknown field "metadata.foo"',
        'unknown field "metadata.ownerReferences[0].odd"',
        'unknown field "spec.bar"',
    }
    assert document_of(written)["spec"] == {"size": 4}


@scenario
async def test_unknown_fields_can_be_ignored(world: World):
    """Ignore drops them without a word."""
    document = world.widgets.document("a", {"foo": 1}, spec={"bar": 1})
    written = await world.widgets.create(document, WriteOptions(field_validation="Ignore"))
    assert written.warnings == ()


@scenario
async def test_unknown_fields_can_be_refused(world: World):
    """Strict refuses the document, and names them all."""
    document = world.widgets.document("a", {"foo": 1}, spec={"bar": 1})
    with pytest.raises(BadRequest) as refusal:
        await world.widgets.create(document, WriteOptions(field_validation="Strict"))
    assert (
        'strict decoding error: unknown field "metadata.foo", unknown field "spec.bar"'
        in refusal.value.message
    )


@scenario
async def test_strictness_has_three_names(world: World):
    """Another word is refused, and the parameter is named."""
    with pytest.raises(Invalid, match="fieldValidation: Unsupported value"):
        await world.widgets.create(
            world.widgets.document("a"),
            WriteOptions(field_validation=cast("FieldValidation", "Very")),
        )


@scenario
async def test_all_errors_are_reported_at_once(world: World):
    """Metadata and schema have one answer."""
    with pytest.raises(Invalid) as refusal:
        await world.widgets.make("A", spec={"size": 11})
    fields = [cause.field for cause in details_of(refusal).causes]
    assert fields == ["metadata.name", "spec.size"]


MISADDRESSED = {
    "no version": ({"kind": "Widget"}, BadRequest, "the API version in the data"),
    "other version": (
        {"apiVersion": "example.com/v2", "kind": "Widget"},
        BadRequest,
        "(example.com/v2) does not match the expected API version (example.com/v1)",
    ),
    "odd version": ({"apiVersion": 5, "kind": "Widget"}, BadRequest, "the API version in the data"),
    "no kind": ({"apiVersion": "example.com/v1"}, BadRequest, "Object 'Kind' is missing"),
    "other kind": (
        {"apiVersion": "example.com/v1", "kind": "Gadget"},
        Invalid,
        'kind: Invalid value: "Gadget": must be Widget',
    ),
    "no object": ([1], BadRequest, "must be of type Widget"),
}


@pytest.mark.parametrize(("document", "error", "says"), MISADDRESSED.values(), ids=MISADDRESSED)
@scenario
async def test_a_document_must_be_of_the_kind(world: World, document, error, says):
    """What says to be something else, or nothing, is refused."""
    with pytest.raises(error) as refusal:
        await world.widgets.create(document)
    assert says in refusal.value.message


@scenario
async def test_a_built_in_kind_may_be_left_out(world: World):
    """Kubernetes' own kinds are known by the place they are sent to."""
    made = document_of(await world.config_maps.create({"metadata": {"name": "a"}}))
    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")


@scenario
async def test_a_built_in_kind_cannot_be_another(world: World):
    """A Secret is not a ConfigMap."""
    with pytest.raises(BadRequest, match="Secret in version"):
        await world.config_maps.create(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
        )


@scenario
async def test_the_namespace_is_that_of_the_request(world: World):
    """A document that says another one is refused."""
    with pytest.raises(BadRequest, match="namespace of the provided object does not match"):
        await world.widgets.make("a", {"namespace": "other"})


@scenario
async def test_a_version_cannot_be_created(world: World):
    """A document with a version is the copy of an object that is there, or was."""
    with pytest.raises(BadRequest, match="resourceVersion should not be set"):
        await world.widgets.make("a", {"resourceVersion": "1"})


@scenario
async def test_there_must_be_such_a_namespace(world: World):
    """Nothing is created in a namespace that is not there."""
    elsewhere = world.collection("v1", "ConfigMap", "elsewhere")
    with pytest.raises(NotFound, match='namespaces "elsewhere" not found'):
        await elsewhere.make("a")


@scenario
async def test_nothing_is_created_in_a_namespace_that_ends(world: World):
    """The refusal says why, for programs too."""
    await world.namespaces.delete(SPACE, PLAIN_DELETE)
    with pytest.raises(Forbidden) as refusal:
        await world.widgets.make("a")
    assert details_of(refusal).causes[0].reason == "NamespaceTerminating"
    assert "because it is being terminated" in refusal.value.message


@scenario
async def test_a_namespace_is_closed_as_soon_as_its_deletion_is_on_its_way(world: World):
    """An object that is created in the same moment does not slip in behind it."""
    _, outcome = await asyncio.gather(
        world.namespaces.delete(SPACE), world.config_maps.make("late"), return_exceptions=True
    )
    assert isinstance(outcome, Forbidden)


@scenario
async def test_a_trial_stores_nothing(world: World):
    """The answer is the object as it would be, without a version."""
    written = await world.widgets.create(world.widgets.document("a"), WriteOptions(dry_run=True))
    assert document_of(written)["metadata"]["generation"] == 1
    assert "resourceVersion" not in document_of(written)["metadata"]
    with pytest.raises(NotFound):
        world.widgets.get("a")


@scenario
async def test_a_trial_is_refused_like_the_real_thing(world: World):
    """A name that is taken is taken."""
    await world.widgets.make("a")
    with pytest.raises(AlreadyExists):
        await world.widgets.create(world.widgets.document("a"), WriteOptions(dry_run=True))


@scenario
async def test_a_store_that_cannot_write_is_reported(world: World):
    """The refusal says that nothing was stored; what is there can still be read."""
    made = await world.widgets.make("a")
    await world.registry.store.close()
    with pytest.raises(Unavailable):
        await world.widgets.make("b")
    assert world.widgets.get("a") == made


@scenario
async def test_admission_may_complete_an_object(world: World):
    """What it adds is judged by the schema like everything else, and stored."""

    def paint(attempt: Attempt) -> None:
        assert attempt.document is not None
        attempt.document["spec"] = {"color": attempt.verb, "nonsense": 1}
        attempt.document["metadata"]["labels"] = {"painted": "yes"}
        attempt.changed = True

    world.registry.admission.mutating.append(paint)
    made = await world.widgets.make("a", spec={})
    assert made["spec"] == {"color": "create", "size": 3}  # the default is filled in
    assert made["metadata"]["labels"] == {"painted": "yes"}


@scenario
async def test_admission_cannot_make_an_object_another_one(world: World):
    """A mutating plugin cannot change the identity of an object."""

    def rename(attempt: Attempt) -> None:
        assert attempt.document is not None
        attempt.document["metadata"] |= {"name": "b", "uid": "mine", "namespace": "elsewhere"}
        attempt.changed = True

    world.registry.admission.mutating.append(rename)
    metadata = (await world.widgets.make("a", spec={}))["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("a", SPACE)
    assert metadata["uid"] != "mine"


@scenario
async def test_what_admission_spoils_is_refused(world: World):
    """The schema has the last word on a completed object."""

    def spoil(attempt: Attempt) -> None:
        assert attempt.document is not None
        attempt.document["metadata"]["labels"] = {"not a label": ""}
        attempt.changed = True

    world.registry.admission.mutating.append(spoil)
    with pytest.raises(Invalid, match="not a label"):
        await world.widgets.make("a", spec={})


@scenario
async def test_admission_may_refuse_and_warn(world: World):
    """It sees what will be stored; what it has to say goes to the client."""

    async def admit(attempt: Attempt) -> None:
        if attempt.key.endswith("/bad"):
            raise Forbidden("not this one")
        attempt.warnings.append("have a care")

    world.registry.admission.validating.append(admit)
    written = await world.widgets.create(world.widgets.document("a"))
    assert written.warnings == ("have a care",)
    with pytest.raises(Forbidden, match="not this one"):
        await world.widgets.make("bad", spec={})


@scenario
async def test_only_the_first_hundred_errors_of_the_metadata_are_reported(world: World):
    """A request has room for more of them than anybody reads."""
    with pytest.raises(Invalid) as refusal:
        await world.widgets.make("a", {"finalizers": [f"not a name {n}" for n in range(5000)]})
    assert len(details_of(refusal).causes) == 100


@scenario
async def test_only_the_first_hundred_unknown_fields_of_the_metadata_are_reported(world: World):
    """Each would be a warning header of its own."""
    document = world.widgets.document("a", {f"x{n}": 1 for n in range(5000)})
    written = await world.widgets.create(document)
    assert len(written.warnings) == 100


@scenario
async def test_an_object_does_not_grow_indefinitely(world: World):
    """With many patches it could grow beyond the size limit of a request."""
    made = await world.widgets.make("a", spec={"color": "red"})
    made["spec"]["color"] = "r" * 3_200_000
    with pytest.raises(TooLarge, match="at most 3145728 are allowed"):
        await world.widgets.update(made)


@scenario
async def test_nothing_is_made_of_a_kind_that_went_meanwhile(world: World):
    """Otherwise it would stay stored and hidden until the kind is defined again."""

    async def take_away(_attempt: Attempt) -> None:
        world.registry.kinds = world.registry.kinds.without("example.com", "widgets")

    widgets = world.widgets
    world.registry.admission.validating.append(take_away)
    with pytest.raises(NotFound, match="could not find the requested resource"):
        await widgets.make("a")
    assert world.store.find(widgets.kind.storage, f"{SPACE}/a") is None
