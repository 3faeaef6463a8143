"""Making objects: names, identity, what a client may and may not say."""

import re
from uuid import UUID

import pytest

from kubekit.api.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Invalid,
    MethodNotAllowed,
    NotFound,
)
from kubekit.api.resource import Resource
from tests.contract.collection import Collection, names
from tests.contract.kinds import RED

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


async def test_a_new_object_gets_an_identity(widgets: Collection, space: str):
    """The server fills in uid, time, version, namespace and the first generation."""
    metadata = (await widgets.make("one", spec=RED))["metadata"]
    assert UUID(metadata["uid"]).version == 4
    assert TIME.fullmatch(metadata["creationTimestamp"])
    assert int(metadata["resourceVersion"]) > 0
    assert (metadata["name"], metadata["namespace"]) == ("one", space)
    assert metadata["generation"] == 1


async def test_what_only_the_server_may_say_is_not_taken_from_the_client(widgets: Collection):
    """A client cannot choose its object's identity."""
    claimed = {
        "uid": "11111111-1111-4111-8111-111111111111",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "generation": 77,
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 5,
        "selfLink": "/x",
    }
    metadata = (await widgets.make("one", metadata=claimed, spec=RED))["metadata"]
    assert metadata["uid"] != claimed["uid"]
    assert metadata["creationTimestamp"] > "2020"
    assert metadata["generation"] == 1
    assert "deletionTimestamp" not in metadata
    assert "deletionGracePeriodSeconds" not in metadata
    assert "selfLink" not in metadata


async def test_a_name_is_given_once(widgets: Collection):
    """The second object of a name is refused, and the first stays as it is."""
    first = await widgets.make("one", spec=RED)
    with pytest.raises(AlreadyExists) as refusal:
        await widgets.make("one", spec={"colour": "blue"})
    assert refusal.value.message == 'widgets.contract.datumapis.com "one" already exists'
    assert await widgets.get("one") == first


async def test_a_name_is_free_again_after_a_deletion(widgets: Collection):
    """An object made anew is another one: other uid, first generation, later version."""
    first = (await widgets.make("one", spec=RED))["metadata"]
    await widgets.delete("one")
    second = (await widgets.make("one", spec=RED))["metadata"]
    assert second["uid"] != first["uid"]
    assert second["generation"] == 1
    assert int(second["resourceVersion"]) > int(first["resourceVersion"])


async def test_a_name_can_be_left_to_the_server(widgets: Collection):
    """The server appends five characters to the prefix of the client."""
    made = await widgets.make(metadata={"generateName": "box-"}, spec=RED)
    assert re.fullmatch(r"box-[a-z0-9]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "box-"


async def test_generated_names_differ(widgets: Collection):
    """Each object gets a name of its own."""
    for _ in range(5):
        await widgets.make(metadata={"generateName": "box-"}, spec=RED)
    assert len(set(names(await widgets.list()))) == 5


async def test_a_name_outweighs_the_beginning_of_one(widgets: Collection):
    """With both, the name is the name."""
    made = await widgets.make("one", metadata={"generateName": "box-"}, spec=RED)
    assert made["metadata"]["name"] == "one"


async def test_a_long_beginning_is_cut(widgets: Collection):
    """A generated name stays within what a label can hold."""
    made = await widgets.make(metadata={"generateName": "x" * 200}, spec=RED)
    assert re.fullmatch(r"x{58}[a-z0-9]{5}", made["metadata"]["name"])


async def test_an_object_needs_a_name(widgets: Collection):
    """Without a name or the beginning of one there is nothing to store it under."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make(spec=RED)
    assert "name or generateName is required" in refusal.value.message


@pytest.mark.parametrize(
    "name",
    ["Upper", "under_score", "-dash", "dash-", "a..b", "sp ace", "a/b", "ä", "x" * 254, ".", "a\n"],
)
async def test_a_name_is_a_dns_subdomain(widgets: Collection, name: str):
    """The refusal names the field."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make(name, spec=RED)
    assert "metadata.name: Invalid value: " in refusal.value.message


@pytest.mark.parametrize("name", ["a", "a.b-c.d", "0", "x" * 253])
async def test_a_name_may_be_short_long_and_dotted(widgets: Collection, name: str):
    """Every DNS subdomain is a name."""
    made = await widgets.make(name, spec=RED)
    assert made["metadata"]["name"] == name


async def test_a_version_cannot_be_created(widgets: Collection):
    """A version on a new object means that create was mistaken for update."""
    with pytest.raises(ApiError) as refusal:
        await widgets.make("one", metadata={"resourceVersion": "1"}, spec=RED)
    assert "resourceVersion should not be set on objects to be created" in refusal.value.message


async def test_the_document_may_leave_its_namespace_out(widgets: Collection, space: str):
    """The path says the namespace; a document that says the same is as good."""
    named = await widgets.make("named", metadata={"namespace": space}, spec=RED)
    assert named["metadata"]["namespace"] == space


async def test_the_document_cannot_say_another_namespace(widgets: Collection):
    """Path and document must not contradict each other."""
    with pytest.raises(BadRequest) as refusal:
        await widgets.make("one", metadata={"namespace": "default"}, spec=RED)
    assert "namespace" in refusal.value.message


@pytest.mark.parametrize(
    "head",
    [{"kind": "Gadget"}, {"apiVersion": "contract.datumapis.com/v2"}, {"apiVersion": "v1"}],
    ids=["kind", "version", "group"],
)
async def test_the_document_cannot_be_of_another_kind(widgets: Collection, head: dict[str, str]):
    """Path and document must speak of the same kind."""
    with pytest.raises((BadRequest, Invalid)):
        await widgets.create(widgets.document("one", spec=RED) | head)


@pytest.mark.parametrize("key", ["kind", "apiVersion"])
async def test_the_document_must_say_its_kind(widgets: Collection, key: str):
    """A document that does not say what it is is refused."""
    document = widgets.document("one", spec=RED)
    del document[key]
    with pytest.raises(BadRequest):
        await widgets.create(document)


async def test_there_must_be_such_a_namespace(widgets: Collection, transport):
    """Nothing is created in a namespace that does not exist."""
    nowhere = Collection(transport, widgets.resource, "no-such-namespace")
    with pytest.raises(NotFound) as refusal:
        await nowhere.make("one", spec=RED)
    assert refusal.value.message == 'namespaces "no-such-namespace" not found'


async def test_nothing_is_created_in_all_namespaces(widgets: Collection):
    """A namespaced object cannot be created without saying where."""
    with pytest.raises((MethodNotAllowed, NotFound)):
        await widgets.everywhere.make("one", spec=RED)


async def test_a_cluster_scoped_kind_has_no_namespaces(gadgets: Collection, transport, space: str):
    """Nothing is served where a kind without namespaces would have one."""
    with pytest.raises(NotFound):
        await Collection(transport, gadgets.resource, space).make("one", spec={})


async def test_a_kind_that_is_not_served_is_not_found(transport, space: str):
    """A collection that the server does not know answers like one that is not there."""
    unknown = Resource(group="absent.test", version="v1", kind="Thing", plural="things")
    with pytest.raises(NotFound):
        await Collection(transport, unknown, space).list()


async def test_a_status_is_not_created(widgets: Collection):
    """Where the status is a part of its own, a create does not set it."""
    made = await widgets.make("one", spec=RED, status={"phase": "Done"})
    assert "phase" not in made.get("status", {})


async def test_a_kind_without_a_status_part_keeps_the_field(gadgets: Collection, space: str):
    """Where the status is a field like any other, a create sets it."""
    made = await gadgets.make(space, spec={}, status={"phase": "Done"})
    await gadgets.delete(space)
    assert made["status"] == {"phase": "Done"}


async def test_a_trial_stores_nothing(widgets: Collection):
    """A dry run answers with the object as it would be, defaults and identity included."""
    document = widgets.document("one", spec=RED)
    tried = await widgets.create(document, dry_run=True)
    assert tried["spec"]["enabled"] is True
    assert tried["metadata"]["uid"]
    assert tried["metadata"]["generation"] == 1
    assert tried["metadata"].get("resourceVersion", "") == ""
    with pytest.raises(NotFound):
        await widgets.get("one")


async def test_a_trial_is_refused_like_the_real_thing(widgets: Collection):
    """A dry run finds the name taken, and the object invalid."""
    await widgets.make("one", spec=RED)
    with pytest.raises(AlreadyExists):
        await widgets.create(widgets.document("one", spec=RED), dry_run=True)
    with pytest.raises(Invalid):
        await widgets.create(widgets.document("two", spec={"colour": "mauve"}), dry_run=True)


async def test_the_document_stays_the_callers_own(widgets: Collection):
    """Changing a document after it was sent changes nothing that is stored."""
    document = widgets.document("one", spec={"colour": "red", "words": {"a": "b"}})
    made = await widgets.create(document)
    document["spec"]["words"]["a"] = "changed"
    made["spec"]["words"]["a"] = "changed"
    assert (await widgets.get("one"))["spec"]["words"] == {"a": "b"}
    assert "uid" not in document["metadata"]
