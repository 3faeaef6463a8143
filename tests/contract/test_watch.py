"""Watches: the events, their order, and their start."""

import asyncio

import pytest

from kubekit.api.errors import BadRequest, Expired, Invalid
from tests.contract.collection import Collection, names, rest, summary, take, upto, version
from tests.contract.kinds import RED
from tests.contract.servers import Forget

INITIAL = {
    "send_initial_events": True,
    "resource_version_match": "NotOlderThan",
    "allow_bookmarks": True,
}


async def test_each_change_is_an_event(widgets: Collection):
    """A creation, a change and a deletion, in that order, each with the object."""
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start) as stream:
        made = await widgets.make("one", spec=RED)
        changed = await widgets.merge("one", {"spec": {"colour": "blue"}})
        await widgets.delete("one")
        events = await take(stream, 3)
    assert [summary(e) for e in events] == [
        ("ADDED", "one"),
        ("MODIFIED", "one"),
        ("DELETED", "one"),
    ]
    assert events[0].object == made
    assert events[1].object == changed
    assert events[2].object["spec"] == changed["spec"]


async def test_a_deletion_has_a_version_of_its_own(widgets: Collection):
    """The last event is newer than the last change, so that a watch can go on from it."""
    made = await widgets.make("one", spec=RED)
    async with widgets.watch(resource_version=version(made)) as stream:
        await widgets.delete("one")
        [event] = await take(stream, 1)
    assert int(version(event.object)) > int(version(made))


async def test_a_watch_goes_on_where_a_list_ended(widgets: Collection):
    """Between a list and a watch from its version no event is lost or repeated."""
    await widgets.make("before", spec=RED)
    listing = await widgets.list()
    await widgets.make("between", spec=RED)
    async with widgets.watch(resource_version=version(listing)) as stream:
        await widgets.make("after", spec=RED)
        events = await take(stream, 2)
    assert [summary(e) for e in events] == [("ADDED", "between"), ("ADDED", "after")]


async def test_a_watch_goes_on_where_another_ended(widgets: Collection):
    """The version of any event is a place to go on from."""
    start = version(await widgets.list())
    for name in "abc":
        await widgets.make(name, spec=RED)
    async with widgets.watch(resource_version=start) as stream:
        [first] = await take(stream, 1)
    async with widgets.watch(resource_version=version(first.object)) as stream:
        assert [summary(e)[1] for e in await take(stream, 2)] == ["b", "c"]


async def test_versions_rise_along_a_watch(widgets: Collection):
    """Events come in the order of their versions, each version once."""
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start) as stream:
        await asyncio.gather(*(widgets.make(f"n{i}", spec=RED) for i in range(20)))
        versions = [int(version(e.object)) for e in await take(stream, 20)]
    assert versions == sorted(set(versions))


@pytest.mark.parametrize("start", ["", "0"])
async def test_a_watch_without_a_version_begins_with_what_is_there(widgets: Collection, start: str):
    """Existing objects come as ADDED events, then the changes."""
    for name in "ab":
        await widgets.make(name, spec=RED)
    await widgets.list()
    async with widgets.watch(resource_version=start) as stream:
        present = await take(stream, 2)
        await widgets.make("c", spec=RED)
        [change] = await take(stream, 1)
    assert sorted(summary(e) for e in present) == [("ADDED", "a"), ("ADDED", "b")]
    assert summary(change) == ("ADDED", "c")


async def test_a_watch_is_of_one_namespace(widgets: Collection, transport):
    """Changes in other namespaces are not events."""
    other = Collection(transport, widgets.resource, "default")
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start) as stream:
        foreign = await other.make(metadata={"generateName": "foreign-"}, spec=RED)
        await widgets.make("own", spec=RED)
        assert [summary(e) for e in await upto(stream, "ADDED", "own")] == [("ADDED", "own")]
    await other.delete(foreign["metadata"]["name"])


async def test_a_watch_of_all_namespaces(widgets: Collection, space: str):
    """Without a namespace all changes of the kind are events."""
    start = version(await widgets.list())
    async with widgets.everywhere.watch(resource_version=start) as stream:
        await widgets.make("own", spec=RED)
        events = await upto(stream, "ADDED", "own")
    assert events[-1].object["metadata"]["namespace"] == space


async def test_a_watch_of_one_object(widgets: Collection):
    """A field selector on the name is how one object is followed."""
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start, field_selector="metadata.name=mine") as stream:
        await widgets.make("other", spec=RED)
        await widgets.make("mine", spec=RED)
        [event] = await take(stream, 1)
    assert summary(event) == ("ADDED", "mine")


async def test_an_object_comes_into_and_out_of_a_selection(widgets: Collection):
    """To a watch with a selector an object exists only while it is selected."""
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start, label_selector="on=yes") as stream:
        await widgets.make("one", spec=RED)
        await widgets.merge("one", {"metadata": {"labels": {"on": "yes"}}})
        await widgets.merge("one", {"spec": {"colour": "blue"}})
        out = await widgets.merge("one", {"metadata": {"labels": {"on": "no"}}})
        await widgets.delete("one")
        await widgets.make("end", metadata={"labels": {"on": "yes"}}, spec=RED)
        events = await upto(stream, "ADDED", "end")
    assert [e.type for e in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]
    assert events[2].object["metadata"]["labels"] == {"on": "yes"}
    assert version(events[2].object) == version(out)


async def test_a_field_of_the_kind_selects_changes(widgets: Collection):
    """An object leaves the selection when its field changes."""
    start = version(await widgets.list())
    async with widgets.watch(resource_version=start, field_selector="spec.colour=red") as stream:
        await widgets.make("one", spec=RED)
        await widgets.merge("one", {"spec": {"colour": "blue"}})
        await widgets.merge("one", {"spec": {"title": "abc"}})
        await widgets.make("end", spec=RED)
        events = await upto(stream, "ADDED", "end")
    assert [summary(e) for e in events] == [("ADDED", "one"), ("DELETED", "one"), ("ADDED", "end")]


async def test_a_write_without_a_change_is_no_event(widgets: Collection):
    """Where nothing is written there is no event."""
    made = await widgets.make("one", spec=RED)
    async with widgets.watch(resource_version=version(made)) as stream:
        await widgets.update(made)
        await widgets.merge("one", {"spec": {"colour": "red"}})
        await widgets.merge("one", {"spec": {"colour": "blue"}}, dry_run=True)
        await widgets.make("end", spec=RED)
        assert [summary(e)[1] for e in await upto(stream, "ADDED", "end")] == ["end"]


async def test_a_status_is_an_event(widgets: Collection):
    """A change of the status is a change."""
    made = await widgets.make("one", spec=RED)
    async with widgets.watch(resource_version=version(made)) as stream:
        await widgets.merge("one", {"status": {"phase": "Up"}}, "status")
        [event] = await take(stream, 1)
    assert event.type == "MODIFIED"
    assert event.object["status"]["phase"] == "Up"


async def test_a_held_deletion_is_two_events(widgets: Collection):
    """First the mark, when the last finalizer goes the deletion."""
    made = await widgets.make("one", metadata={"finalizers": ["test.example/hold"]}, spec=RED)
    async with widgets.watch(resource_version=version(made)) as stream:
        await widgets.delete("one")
        await widgets.merge("one", {"metadata": {"finalizers": None}})
        events = await take(stream, 2)
    assert [e.type for e in events] == ["MODIFIED", "DELETED"]
    assert "deletionTimestamp" in events[0].object["metadata"]


async def test_many_watchers_get_the_same_events(widgets: Collection):
    """Each watcher gets every event."""
    start = version(await widgets.list())

    async def follow():
        async with widgets.watch(resource_version=start) as stream:
            return [version(e.object) for e in await take(stream, 10)]

    watchers = [asyncio.ensure_future(follow()) for _ in range(8)]
    made = [version(await widgets.make(f"n{i}", spec=RED)) for i in range(10)]
    assert await asyncio.gather(*watchers) == [made] * 8


async def test_initial_events_end_with_a_mark(widgets: Collection):
    """A streamed list: what is there, then a bookmark that says so, then changes."""
    for name in "ab":
        await widgets.make(name, spec=RED)
    async with widgets.watch(**INITIAL) as stream:
        events = await upto(stream, "BOOKMARK")
        await widgets.make("c", spec=RED)
        [change] = await take(stream, 1)
    assert sorted(summary(e) for e in events[:-1]) == [("ADDED", "a"), ("ADDED", "b")]
    metadata = events[-1].object["metadata"]
    assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert summary(change) == ("ADDED", "c")


async def test_a_bookmark_is_a_place_to_go_on_from(widgets: Collection):
    """A watch from a bookmark's version tells nothing that came before it."""
    await widgets.make("a", spec=RED)
    async with widgets.watch(**INITIAL) as stream:
        mark = (await upto(stream, "BOOKMARK"))[-1].object
    assert (mark["apiVersion"], mark["kind"]) == ("contract.datumapis.com/v1", "Widget")
    async with widgets.watch(resource_version=version(mark)) as stream:
        await widgets.make("b", spec=RED)
        assert [summary(e)[1] for e in await take(stream, 1)] == ["b"]


async def test_initial_events_of_nothing_are_only_the_mark(widgets: Collection):
    """An empty collection is a bookmark at once."""
    async with widgets.watch(**INITIAL) as stream:
        assert [e.type for e in await take(stream, 1)] == ["BOOKMARK"]


async def test_initial_events_are_selected_too(widgets: Collection):
    """A streamed list obeys the selector."""
    for name in "ab":
        await widgets.make(name, metadata={"labels": {"is": name}}, spec=RED)
    async with widgets.watch(**INITIAL, label_selector="is=b") as stream:
        events = await upto(stream, "BOOKMARK")
    assert [summary(e)[1] for e in events] == ["b", ""]


async def test_no_initial_events_on_request(widgets: Collection):
    """Without a version, a watch can also begin with the next change."""
    await widgets.make("a", spec=RED)
    await widgets.list()
    async with widgets.watch(
        send_initial_events=False, resource_version_match="NotOlderThan"
    ) as stream:
        await widgets.make("b", spec=RED)
        assert [summary(e)[1] for e in await take(stream, 1)] == ["b"]


@pytest.mark.slow
async def test_a_watch_ends_in_time(widgets: Collection):
    """After the seconds that were asked for, the stream ends without an error."""
    await widgets.make("a", spec=RED)
    await widgets.list()
    async with widgets.watch(resource_version="0", timeout_seconds=1) as stream:
        assert [summary(e) for e in await rest(stream)] == [("ADDED", "a")]


@pytest.mark.slow
async def test_a_watch_that_ends_leaves_a_bookmark(widgets: Collection):
    """If bookmarks were asked for, the last word is how far the watch came."""
    made = await widgets.make("a", spec=RED)
    async with widgets.watch(
        resource_version=version(made), timeout_seconds=4, allow_bookmarks=True
    ) as stream:
        latest = await widgets.merge("a", {"spec": {"colour": "blue"}})
        events = await rest(stream)
    assert [e.type for e in events] == ["MODIFIED", *["BOOKMARK"] * (len(events) - 1)]
    assert len(events) > 1
    assert int(version(events[-1].object)) >= int(version(latest))


@pytest.mark.slow
async def test_without_asking_there_are_no_bookmarks(widgets: Collection):
    """A client that does not know bookmarks never meets one."""
    made = await widgets.make("a", spec=RED)
    async with widgets.watch(resource_version=version(made), timeout_seconds=2) as stream:
        assert await rest(stream) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"resource_version": "1", "resource_version_match": "NotOlderThan"},
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            {"send_initial_events": True},
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"send_initial_events": False},
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"send_initial_events": True, "resource_version_match": "Exact"},
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
    ],
    ids=["match alone", "initial alone", "no initial alone", "exact"],
)
async def test_how_a_watch_begins_must_make_sense(widgets: Collection, options, says: str):
    """A contradiction is refused, and the parameter named."""
    with pytest.raises(Invalid) as refusal:
        async with widgets.watch(**options) as stream:
            await take(stream, 1)
    assert f"resourceVersionMatch: Forbidden: {says}" in refusal.value.message


async def test_a_watch_by_a_field_that_is_not_offered(widgets: Collection):
    """The refusal names the field, before the stream begins."""
    with pytest.raises(BadRequest) as refusal:
        async with widgets.watch(field_selector="spec.title=x"):
            pass
    assert "field label not supported: spec.title" in refusal.value.message


async def test_a_forgotten_version_has_expired(widgets: Collection, forget: Forget):
    """A watch from a version that is too old is answered with Expired."""
    made = await widgets.make("a", spec=RED)
    latest = await widgets.merge("a", {"spec": {"colour": "blue"}})
    await forget(version(latest))
    with pytest.raises(Expired):
        async with widgets.watch(resource_version="1") as stream:
            await take(stream, 1)
    assert int(version(made)) > 1
    assert names(await widgets.list()) == ["a"]


async def test_a_core_kind_is_watched_alike(config_maps: Collection):
    """Watching does not depend on where a kind comes from."""
    start = version(await config_maps.list())
    async with config_maps.watch(resource_version=start) as stream:
        await config_maps.make("one", data={"a": "1"})
        await config_maps.merge("one", {"data": {"a": "2"}})
        await config_maps.delete("one")
        events = await upto(stream, "DELETED", "one")
    mine = [e.type for e in events if summary(e)[1] == "one"]
    assert mine == ["ADDED", "MODIFIED", "DELETED"]
