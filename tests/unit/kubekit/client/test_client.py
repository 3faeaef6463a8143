"""The typed client, over a real plane."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from kubekit.api import scheme
from kubekit.api.errors import Conflict, Expired, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client, difference
from kubekit.client.options import PLAIN_WRITE, DeleteOptions, ListOptions, WatchOptions
from kubekit.client.reading import read_event, read_listing
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.local import LocalClient, LocalTransport
from kubekit.plane.plane import Plane
from tests.support.compute import builders
from tests.support.kubekit.following_builders import Answer, faulty
from tests.support.kubekit.plane_builders import open_plane

Story = Callable[[Client], Awaitable[None]]


CLIENTS: dict[str, Callable[[Plane], Client]] = {
    "bytes": LocalClient,
    "documents": lambda plane: Client(LocalTransport(plane)),
}


@pytest.fixture(params=CLIENTS)
def make_client(request: pytest.FixtureRequest) -> Callable[[Plane], Client]:
    """The client straight on a plane, and the one over documents, as over any other transport."""
    return CLIENTS[request.param]


@pytest.fixture
def run_story(tmp_path: Path, make_client: Callable[[Plane], Client]) -> Callable[[Story], None]:
    """Run a story on a client of a fresh plane."""

    async def run(story: Story) -> None:
        async with open_plane(tmp_path) as plane:
            await story(make_client(plane))

    return lambda story: asyncio.run(run(story))


def config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def workload(name: str = "web") -> Workload:
    metadata = ObjectMeta(name=name, namespace="default")
    return msgspec.structs.replace(builders.workload(name), metadata=metadata)


def test_an_object_is_created_and_read(run_story):
    """Both answers are of the class that was asked for."""

    async def story(client: Client) -> None:
        made = await client.create(config("one", a="1"))
        assert made.data == {"a": "1"}
        assert made.metadata.uid
        assert await client.get(ConfigMap, "one", "default") == made

    run_story(story)


def test_absence_is_none_for_find_and_a_refusal_for_get(run_story):
    """A caller says by the verb whether absence is expected."""

    async def story(client: Client) -> None:
        assert await client.find(ConfigMap, "absent", "default") is None
        with pytest.raises(NotFound):
            await client.get(ConfigMap, "absent", "default")

    run_story(story)


def test_a_list_comes_in_pages(run_story):
    """Each page says how to get the next, and of which version it is."""

    async def story(client: Client) -> None:
        for name in "abc":
            await client.create(config(name))
        first = await client.list(ConfigMap, "default", ListOptions(limit=2))
        rest = await client.list(ConfigMap, "default", ListOptions(continue_=first.continue_))
        assert [o.metadata.name for o in (*first.items, *rest.items)] == ["a", "b", "c"]
        assert (rest.continue_, rest.resource_version) == ("", first.resource_version)

    run_story(story)


def test_a_whole_collection_is_asked_for_in_pages(run_story):
    """One listing has everything of one version, whatever the size of a page."""

    async def story(client: Client) -> None:
        for name in "abcde":
            await client.create(config(name))
        listing = await client.every(ConfigMap, "default", page=2)
        assert [o.metadata.name for o in listing.items] == ["a", "b", "c", "d", "e"]
        assert listing == await client.list(ConfigMap, "default")
        exact = ListOptions(
            resource_version=listing.resource_version, resource_version_match="Exact"
        )
        assert await client.every(ConfigMap, "default", exact, page=2) == listing

    run_story(story)


def forgetful(plane: Plane, times: int) -> Client:
    """A client whose pages outlive their version, some times over."""
    client, make_client = faulty(plane)
    make_client.lists.extend([Answer(), Answer(refusal=Expired("forgotten"))] * times)
    return client


def test_a_forgotten_version_is_given_up_once(tmp_path: Path):
    """A whole collection starts over from the beginning, but only once."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            for name in "abc":
                await LocalClient(plane).create(config(name))
            listing = await forgetful(plane, 1).every(ConfigMap, "default", page=2)
            assert [o.metadata.name for o in listing.items] == ["a", "b", "c"]
            with pytest.raises(Expired):
                await forgetful(plane, 2).every(ConfigMap, "default", page=2)

    asyncio.run(story())


def test_a_version_that_was_forgotten_before_is_not_given_up(tmp_path: Path):
    """Who asks for one version gets no other."""

    async def story() -> None:
        async with open_plane(tmp_path) as plane:
            client, make_client = faulty(plane)
            make_client.lists.append(Answer(refusal=Expired("forgotten")))
            with pytest.raises(Expired):
                await client.every(ConfigMap, "default")
            assert len(make_client.listed) == 1

    asyncio.run(story())


def test_one_bad_object_does_not_hide_the_others(run_story):
    """It is named, with what is wrong; by the list, by the whole, and by the watch."""

    async def story(client: Client) -> None:
        place = ResourceLocation(Instance.RESOURCE, "default")
        bad = await client.raw.create(place, bad_instance(), PLAIN_WRITE)
        good = await client.create(good_instance())
        listing = await client.list(Instance, "default")
        (named,) = listing.unreadable
        assert (listing.items, named.namespace, named.name) == ((good,), "default", "bad")
        assert (named.uid, "spec: it is required" in named.why) == (bad["metadata"]["uid"], True)
        assert await client.every(Instance, page=1) == listing
        async with client.watch(Instance, "default") as changes:
            seen = [await anext(changes), await anext(changes)]
        assert [(s.name, s.object, s.unreadable) for s in seen] == [
            ("bad", None, named.why),
            ("good", good, None),
        ]
        assert seen[0].resource_version == bad["metadata"]["resourceVersion"]

    run_story(story)


def bad_instance() -> Document:
    """One that the schema takes and the class does not: it has no spec."""
    resource = Instance.RESOURCE
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": "bad"},
    }


def good_instance() -> Instance:
    metadata = ObjectMeta(name="good", namespace="default")
    return Instance(metadata=metadata, spec=builders.instance_spec())


@pytest.mark.parametrize("document", [b"[]", b"nonsense", {"metadata": {"name": 7}}], ids=str)
def test_a_thing_that_is_no_object_is_nameless(document: bytes | Document):
    """There is nothing to call it by."""
    assert read_event(ConfigMap, "ADDED", document).unreadable
    (nameless,) = read_listing(ConfigMap, [document], "7").unreadable
    assert (nameless.namespace, nameless.name, nameless.uid) == ("", "", "")


def test_an_apply_owns_its_fields(run_story):
    """What a manager said before and says no more goes away; what others said stays."""

    async def story(client: Client) -> None:
        await client.create(config("one", theirs="1"))
        both = await client.apply(config("one", a="1", b="2"), "me")
        assert both.data == {"theirs": "1", "a": "1", "b": "2"}
        less = await client.apply(config("one", a="1"), "me")
        assert less.data == {"theirs": "1", "a": "1"}

    run_story(story)


def test_an_apply_takes_from_others_only_by_force(run_story):
    """A conflict names the other; force wins."""

    async def story(client: Client) -> None:
        await client.apply(config("one", a="1"), "them")
        with pytest.raises(Conflict, match="them"):
            await client.apply(config("one", a="2"), "me")
        forced = await client.apply(config("one", a="2"), "me", force=True)
        assert forced.data == {"a": "2"}

    run_story(story)


def test_what_was_read_can_be_applied(run_story):
    """Neither who owns it nor its status goes along."""

    async def story(client: Client) -> None:
        made = await client.create(workload())
        assert made.metadata.managed_fields
        applied = await client.apply(made, "me", force=True)
        assert applied.spec == made.spec
        assert {entry.manager for entry in applied.metadata.managed_fields} >= {"me"}

    run_story(story)


def test_a_document_is_applied_as_a_document(run_story):
    """It need not be whole, only of a kind that has a class."""

    async def story(client: Client) -> None:
        await client.create(workload())
        labelled = {
            "apiVersion": Workload.RESOURCE.api_version,
            "kind": "Workload",
            "metadata": {"name": "web", "namespace": "default", "labels": {"a": "b"}},
        }
        applied = await client.apply(labelled, "me")
        assert applied["metadata"]["labels"] == {"a": "b"}
        with pytest.raises(scheme.UnknownKind):
            await client.apply(labelled | {"kind": "Wrokload"}, "me")

    run_story(story)


def test_a_client_can_always_be_closed(run_story):
    """One that holds nothing open has nothing to do for it."""

    async def story(client: Client) -> None:
        await client.close()
        assert await client.find(ConfigMap, "absent", "default") is None

    run_story(story)


def test_a_patch_sends_what_differs(run_story):
    """Keys that another writer set meanwhile are not in the view, and stay."""

    async def story(client: Client) -> None:
        made = await client.create(config("one", a="1", b="2"))
        desired = msgspec.structs.replace(made, data={"a": "9"})
        patched = await client.patch(made, desired)
        assert patched.data == {"a": "9"}
        assert patched.metadata.uid == made.metadata.uid

    run_story(story)


def test_a_patch_is_bound_to_what_was_read(run_story):
    """A decision on an old view is not carried out."""

    async def story(client: Client) -> None:
        made = await client.create(config("one", a="1"))
        await client.patch(made, msgspec.structs.replace(made, data={"a": "2"}))
        with pytest.raises(Conflict):
            await client.patch(made, msgspec.structs.replace(made, data={"a": "3"}))

    run_story(story)


def test_nothing_is_sent_when_nothing_differs(run_story):
    """Not even a request: the object is as it was read, though another one took its name."""

    async def story(client: Client) -> None:
        made = await client.create(config("one", a="1"))
        await client.delete(made)
        assert await client.patch(made, made) is made
        assert await client.patch_status(made, made) is made

    run_story(story)


def test_a_patch_leaves_the_status_to_its_own_verb(run_story):
    """Spec and status of one desired object go by two writes."""

    async def story(client: Client) -> None:
        made = await client.create(workload())
        metadata = msgspec.structs.replace(made.metadata, labels={"a": "b"})
        status = msgspec.structs.replace(made.status, replicas=3)
        desired = msgspec.structs.replace(made, metadata=metadata, status=status)
        labelled = await client.patch(made, desired)
        assert (labelled.metadata.labels, labelled.status.replicas) == ({"a": "b"}, 0)
        counted = await client.patch_status(labelled, desired)
        assert counted.status.replicas == 3

    run_story(story)


def test_a_delete_means_the_object_it_was_given(run_story):
    """The uid goes along, also beside other options."""

    async def story(client: Client) -> None:
        old = await client.create(config("one"))
        await client.delete(old, DeleteOptions(propagation="Background"))
        await client.create(config("one"))
        with pytest.raises(Conflict):
            await client.delete(old)

    run_story(story)


def test_a_watch_yields_objects_and_bookmarks(run_story):
    """A bookmark has no object, only a version to go on from."""

    async def story(client: Client) -> None:
        made = await client.create(workload())
        options = WatchOptions(
            send_initial_events=True, resource_version_match="NotOlderThan", allow_bookmarks=True
        )
        async with client.watch(Workload, "default", options) as changes:
            added, mark = await anext(changes), await anext(changes)
        assert (added.type, added.object) == ("ADDED", made)
        assert added.resource_version == made.metadata.resource_version
        assert (mark.type, mark.object) == ("BOOKMARK", None)
        assert int(mark.resource_version) >= int(added.resource_version)

    run_story(story)


def test_a_removed_field_is_null_in_the_difference():
    """A merge patch removes by null, adds and changes by value, at any depth."""
    existing = workload()
    notes = msgspec.structs.replace(existing.metadata, labels={"a": "1", "b": "2"})
    other = msgspec.structs.replace(existing.metadata, labels={"b": "3", "c": "4"})
    patch = difference(
        msgspec.structs.replace(existing, metadata=notes),
        msgspec.structs.replace(existing, metadata=other),
    )
    assert patch == {"metadata": {"labels": {"a": None, "b": "3", "c": "4"}}}


def test_a_list_is_sent_whole():
    """To a merge patch a list is one value."""
    existing, desired = (
        builders.workload("web", builders.placement("a")),
        builders.workload("web", builders.placement("a"), builders.placement("b")),
    )
    patch = difference(existing, desired)
    assert [p["name"] for p in patch["spec"]["placements"]] == ["a", "b"]
    assert list(patch) == ["spec"]


def test_a_first_status_is_sent_whole():
    """Counters at zero are required too, and a server that has no status lacks them."""
    existing = workload()
    status = msgspec.structs.replace(existing.status, replicas=3)
    desired = msgspec.structs.replace(existing, status=status)
    patch = difference(existing, desired, part="status")
    assert patch == {"status": msgspec.to_builtins(status)}


def test_a_later_status_is_a_difference():
    """Once something was said, only what changes is sent."""
    existing = workload()
    first = msgspec.structs.replace(existing.status, replicas=3)
    second = msgspec.structs.replace(first, ready_replicas=2)
    patch = difference(
        msgspec.structs.replace(existing, status=first),
        msgspec.structs.replace(existing, status=second),
        part="status",
    )
    assert patch == {"status": {"readyReplicas": 2}}


@pytest.mark.parametrize("kind", scheme.kinds(), ids=lambda kind: kind.RESOURCE.kind)
def test_every_status_can_be_empty(kind: type[Object]):
    """What a class makes of an absent status is a status that says nothing."""
    status = next((f for f in msgspec.structs.fields(kind) if f.name == "status"), None)
    if status is not None and status.default_factory is not msgspec.NODEFAULT:
        assert status.default_factory() == type(status.default_factory())()
