"""Watches: their start, their events and order, and their end."""

import asyncio
import itertools

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import BadRequest, Expired, Invalid, Timeout, Unavailable
from kubekit.client.options import ListOptions
from kubekit.plane.registry.registry import EncodedWatchEvent
from kubekit.plane.store.store import StoreSettings
from tests.support.generated import depth
from tests.support.kubekit.registry_builders import (
    SPACE,
    World,
    names,
    scenario,
    summaries,
    version,
)

BLUE = {"spec": {"color": "blue"}}
SMALL = StoreSettings(ring_events=4)


async def life(world: World) -> None:
    """One object comes, changes and goes."""
    await world.widgets.make("a")
    await world.widgets.merge("a", BLUE)
    await world.widgets.delete("a")


@scenario
async def test_a_watch_without_a_version_starts_with_the_existing_objects(world: World):
    """Then it goes on with what happens."""
    await world.widgets.make("a")
    watch = await world.widgets.watch()
    assert summaries(watch.take()) == [("ADDED", "a")]
    assert watch.take() == []
    assert summaries((await world.widgets.watch(resource_version="0")).take()) == [("ADDED", "a")]
    await world.widgets.merge("a", BLUE)
    await world.widgets.delete("a")
    assert summaries(watch.take()) == [("MODIFIED", "a"), ("DELETED", "a")]


@scenario
async def test_a_watch_goes_on_from_a_version(world: World):
    """It starts with the first change after it."""
    made = await world.widgets.make("a")
    await world.widgets.merge("a", BLUE)
    watch = await world.widgets.watch(resource_version=version(made))
    assert summaries(watch.take()) == [("MODIFIED", "a")]


@scenario
async def test_a_line_is_the_change_as_it_goes_over_the_wire(world: World):
    """It is one JSON object and a newline, and is shared by all watchers with the same event."""
    first, second = await world.widgets.watch(), await world.widgets.watch()
    made = await world.widgets.make("a")
    (one,), (other,) = first.take(), second.take()
    assert msgspec.json.decode(one.line) == {"type": "ADDED", "object": made}
    assert one.line.endswith(b"}\n")
    assert one.line is other.line
    assert world.store.find("example.com/widgets", f"{SPACE}/a").data is one.data  # type: ignore[union-attr]  # it was made above


@scenario
async def test_a_deletion_tells_the_last_state(world: World):
    """At the revision of the deletion, so that a watch can go on from there."""
    watch = await world.widgets.watch()
    await life(world)
    last = msgspec.json.decode(watch.take()[-1].data)
    assert last["spec"]["color"] == "blue"
    assert version(last) == str(world.store.revision)


@scenario
async def test_a_watch_of_one_namespace_or_one_object(world: World):
    """Other watches get nothing."""
    await world.namespaces.make("other")
    everywhere = await world.collection("example.com/v1", "Widget", "").watch()
    here = await world.widgets.watch()
    one = await world.widgets.watch("b")
    selected = await world.widgets.watch(field_selector="metadata.name=b")
    await world.collection("example.com/v1", "Widget", "other").make("x")
    await world.widgets.make("a")
    await world.widgets.make("b")
    assert [name for _, name in summaries(everywhere.take())] == ["x", "a", "b"]
    assert [name for _, name in summaries(here.take())] == ["a", "b"]
    assert summaries(one.take()) == summaries(selected.take()) == [("ADDED", "b")]


@scenario
async def test_a_watch_of_one_object_starts_with_it(world: World):
    """If it is there."""
    await world.widgets.make("a")
    assert summaries((await world.widgets.watch("a")).take()) == [("ADDED", "a")]
    assert summaries((await world.widgets.watch("b")).take()) == []


@scenario
async def test_an_object_enters_and_leaves_a_selection(world: World):
    """It is added when it becomes selected, and deleted with its last state when it is no longer."""
    await world.widgets.make("other")
    watch = await world.widgets.watch(label_selector="on=yes")
    await world.widgets.make("a")
    for labels in ({"on": "yes"}, {"on": "yes", "x": "y"}, {"on": "no", "x": "y"}, {"on": "yes"}):
        await world.widgets.merge("a", {"metadata": {"labels": labels}})
    await world.widgets.delete("a")
    notices = watch.take()
    assert [event.type for event in notices] == [
        "ADDED",
        "MODIFIED",
        "DELETED",
        "ADDED",
        "DELETED",
    ]
    left = msgspec.json.decode(notices[2].data)
    assert left["metadata"]["labels"] == {"on": "yes", "x": "y"}
    assert int(version(left)) == int(version(msgspec.json.decode(notices[1].data))) + 1


@scenario
async def test_a_deletion_of_an_unselected_object_is_not_reported(world: World):
    """A watch that never had an object gets no event of its deletion."""
    watch = await world.widgets.watch(label_selector="on=yes")
    await life(world)
    assert watch.take() == []


@scenario
async def test_take_gives_no_more_than_asked_for(world: World):
    """What is left comes with the next call, first the objects, then the changes."""
    for name in "abc":
        await world.widgets.make(name)
    watch = await world.widgets.watch()
    await world.widgets.make("d")
    got = [summaries(watch.take(2)) for _ in range(3)]
    assert [[name for _, name in part] for part in got] == [["a", "b"], ["c", "d"], []]


@scenario
async def test_a_watch_that_selects_few_of_many_events_yields(world: World):
    """It comes back without a event after a while, and is called again for the rest."""
    calls: list[str] = []
    watch = await world.widgets.watch(label_selector="is=wanted")
    watch.ready = lambda: calls.append("ready")
    await asyncio.gather(*(world.widgets.make(f"n-{n}") for n in range(2500)))
    await world.widgets.make("wanted", {"labels": {"is": "wanted"}})
    calls.clear()
    assert watch.take() == []
    await asyncio.sleep(0)
    assert calls == ["ready"]
    assert summaries(watch.take()) == [("ADDED", "wanted")]


@scenario
async def test_a_watch_that_starts_with_few_of_many_objects_yields(world: World):
    """Changes during the start are reported once, after the objects that existed at the start."""
    maps = world.config_maps
    await asyncio.gather(*(maps.make(f"n-{n:05}") for n in range(4100)))
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "another")
    late = asyncio.ensure_future(maps.make("a-late"))
    watch = await maps.watch(field_selector="metadata.name!=n-00000")
    assert turns == ["another"]
    await late
    watched = [
        name for _, name in summaries([*itertools.chain.from_iterable(iter(watch.take, []))])
    ]
    assert watched == [f"n-{n:05}" for n in range(1, 4100)] + ["a-late"]


@scenario(settings=SMALL)
async def test_a_watch_whose_start_takes_too_long_is_expired(world: World):
    """When so many changes happen during the start that they have left memory, the client restarts it."""
    maps = world.config_maps
    await asyncio.gather(*(maps.make(f"n-{n:05}") for n in range(4100)))
    late = asyncio.gather(*(maps.make(f"z-{n}") for n in range(10)))
    await asyncio.sleep(0)  # they are on their way to the disk now
    with pytest.raises(Expired):
        await maps.watch(label_selector="a!=b")
    await late


@scenario
async def test_readers_are_called_when_there_may_be_something(world: World):
    """Once for a batch of changes, and again only after they have caught up."""
    calls: list[str] = []
    watch = await world.widgets.watch()
    watch.ready = lambda: calls.append("ready")
    watch.take()
    await life(world)
    assert calls == ["ready"]
    watch.take()
    await world.widgets.make("b")
    assert calls == ["ready", "ready"]


@scenario
async def test_a_watch_needs_no_ready_callback(world: World):
    """A watch whose consumer has not come yet loses nothing."""
    watch = await world.widgets.watch()
    await world.widgets.make("a")
    assert summaries(watch.take()) == [("ADDED", "a")]


@scenario
async def test_a_closed_watch_tells_nothing(world: World):
    """Closing twice is fine, and the callback is not called any more."""
    watch = await world.widgets.watch(allow_bookmarks=True)
    watch.close()
    watch.close()
    watch.ready = lambda: pytest.fail("called")
    await world.widgets.make("a")
    watch.bookmark()
    assert watch.ended
    assert watch.take() == []
    assert world.registry.watching == 0


@scenario
async def test_a_registry_that_closes_ends_its_watches(world: World):
    """The consumers find that out by being called."""
    calls: list[str] = []
    watch = await world.widgets.watch()
    watch.ready = lambda: calls.append("ready")
    assert world.registry.watching == 1
    world.registry.close()
    assert (calls, watch.ended, watch.take()) == (["ready"], True, [])


@scenario(settings=SMALL)
async def test_a_watch_that_starts_while_the_registry_closes_is_ended(world: World):
    """It had to read history first; by then the handler does not end it."""
    made = await world.widgets.make("a")
    for number in range(10):
        await world.widgets.make(f"n-{number}")
    starting = asyncio.ensure_future(world.widgets.watch(resource_version=version(made)))
    await asyncio.sleep(0)
    world.registry.close()
    assert (await starting).ended
    assert world.registry.watching == 0


@scenario(settings=SMALL)
async def test_a_store_that_closes_refuses_watches_with_a_reason(world: World):
    """History cannot be read any more: that is neither a client error nor a bug."""
    made = await world.widgets.make("a")
    for number in range(10):
        await world.widgets.make(f"n-{number}")
    await world.store.close()
    for since in ("", version(made)):
        with pytest.raises(Unavailable, match="closed"):
            await world.widgets.watch(resource_version=since)


@scenario
async def test_bookmarks_have_the_position_of_the_watch(world: World):
    """After all events, and not again before the next change."""
    watch = await world.widgets.watch(allow_bookmarks=True)
    await world.widgets.make("a")
    await world.config_maps.make("elsewhere")
    world.registry.bookmark()
    added, mark = watch.take()
    assert msgspec.json.decode(mark.line) == {
        "type": "BOOKMARK",
        "object": {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"resourceVersion": str(world.store.revision)},
        },
    }
    assert added.type == "ADDED"
    world.registry.bookmark()
    assert watch.take() == []


@scenario
async def test_a_bookmark_follows_all_events(world: World):
    """It never promises what the watcher has not seen."""
    watch = await world.widgets.watch(allow_bookmarks=True)
    for name in "abc":
        await world.widgets.make(name)
    watch.bookmark()
    assert [event.type for event in watch.take(2)] == ["ADDED", "ADDED"]
    assert [event.type for event in watch.take(2)] == ["ADDED", "BOOKMARK"]


@scenario
async def test_bookmarks_are_sent_only_on_request(world: World):
    """Others never meet one."""
    watch = await world.widgets.watch()
    await world.widgets.make("a")
    world.registry.bookmark()
    assert summaries(watch.take()) == [("ADDED", "a")]


@scenario
async def test_initial_events_end_with_a_bookmark(world: World):
    """It says so itself, so that a watch can take the place of a list."""
    await world.widgets.make("a")
    watch = await world.widgets.watch(
        send_initial_events=True, resource_version_match="NotOlderThan", allow_bookmarks=True
    )
    await world.widgets.make("b")
    first, mark, later = watch.take()
    assert (first.type, later.type) == ("ADDED", "ADDED")
    assert msgspec.json.decode(mark.data)["metadata"] == {
        "resourceVersion": version(msgspec.json.decode(first.data)),
        "annotations": {"k8s.io/initial-events-end": "true"},
    }


@pytest.mark.parametrize("send", [True, False])
@scenario
async def test_initial_events_are_sent_or_not(world: World, send):
    """With a version that is reached, or without one; no bookmark unless such are wanted."""
    made = await world.widgets.make("a")
    for since in ("", version(made)):
        watch = await world.widgets.watch(
            resource_version=since,
            send_initial_events=send,
            resource_version_match="NotOlderThan",
        )
        assert [event.type for event in watch.take()] == ["ADDED"] * send


@scenario
async def test_a_watch_ends_in_time(world: World):
    """It sends the remaining events, with a bookmark if requested, and ends."""
    plain = await world.widgets.watch(timeout_seconds=5)
    marked = await world.widgets.watch(timeout_seconds=5, allow_bookmarks=True)
    await world.widgets.make("a")
    await asyncio.sleep(4)
    early = plain.ended
    await asyncio.sleep(2)
    assert [event.type for event in plain.take()] == ["ADDED"]
    assert [event.type for event in marked.take()] == ["ADDED", "BOOKMARK"]
    assert (early, plain.ended, marked.ended) == (False, True, True)
    assert world.registry.watching == 0


@scenario
async def test_a_watch_that_is_closed_forgets_its_time(world: World):
    """No timer is left behind."""
    watch = await world.widgets.watch(timeout_seconds=5)
    watch.ready = lambda: pytest.fail("called")
    watch.close()
    await asyncio.sleep(10)


@scenario(settings=SMALL)
async def test_a_reader_that_falls_behind_is_cut_off(world: World):
    """It gets the error as its last line, and has to list again."""
    watch = await world.widgets.watch()
    for number in range(10):
        await world.widgets.make(f"n-{number}")
    (event,) = watch.take()
    status = msgspec.json.decode(event.data)
    assert (event.type, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
    assert status["message"].startswith("too old resource version")
    assert watch.ended
    assert watch.take() == []


@scenario(settings=SMALL)
async def test_a_watch_goes_on_from_disk(world: World):
    """Changes that have left memory are read from the log; none is missed or repeated."""
    made = await world.widgets.make("a")
    for number in range(10):
        await world.widgets.make(f"n-{number}")
    watch = await world.widgets.watch(resource_version=version(made))
    await world.widgets.make("z")
    expected = [("ADDED", f"n-{number}") for number in range(10)] + [("ADDED", "z")]
    assert summaries(watch.take(4) + watch.take()) == expected


@scenario(settings=SMALL)
async def test_a_selection_is_watched_from_disk(world: World):
    """Past changes enter and leave a selection like present ones."""
    made = await world.widgets.make("a", {"labels": {"on": "yes"}})
    await world.widgets.merge("a", {"metadata": {"labels": {"on": "no"}}})
    for number in range(10):
        await world.widgets.make(f"n-{number}")
    watch = await world.widgets.watch(resource_version=version(made), label_selector="on=yes")
    assert summaries(watch.take()) == [("DELETED", "a")]


@scenario
async def test_a_forgotten_version_is_expired(world: World):
    """A watch cannot start at a compacted revision."""
    await life(world)
    await world.store.compact(world.store.revision)
    with pytest.raises(Expired, match="too old resource version: 1 "):
        await world.widgets.watch(resource_version="1")


@scenario
async def test_a_watch_does_not_start_in_the_future(world: World):
    """The version may come: ask again."""
    with pytest.raises(Timeout, match="Too large resource version: 99"):
        await world.widgets.watch(resource_version="99")


CONTRADICTIONS = {
    "match alone": (
        {"resource_version": "1", "resource_version_match": "NotOlderThan"},
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ),
    "initial events alone": (
        {"send_initial_events": True},
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    ),
    "exact initial events": (
        {"send_initial_events": True, "resource_version_match": "Exact"},
        'resourceVersionMatch: Unsupported value: "Exact"',
    ),
}


@pytest.mark.parametrize(("options", "says"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
@scenario
async def test_options_must_go_together(world: World, options, says):
    """The refusal speaks of the options, by their names on the wire."""
    with pytest.raises(Invalid) as refusal:
        await world.widgets.watch(**options)
    assert says in refusal.value.message


@scenario
async def test_a_wrong_selector_is_a_bad_request(world: World):
    """Before the stream starts."""
    with pytest.raises(BadRequest, match="field label not supported"):
        await world.widgets.watch(field_selector="spec.odd=1")


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["yes", "no", "gone"])), max_size=25
)


@settings(max_examples=depth.examples(60), deadline=None)
@given(steps=STEPS, start=st.integers(0, 24), limit=st.integers(1, 5))
def test_a_watcher_always_knows_what_a_lister_sees(tmp_path_factory, steps, start, limit):
    """For any changes and any start: a list and then a watch give the current list."""

    @scenario(settings=SMALL)
    async def story(world: World):
        for step in steps[:start]:
            await happen(world, *step)
        page = await world.widgets.list(ListOptions(label_selector="on=yes"))
        known = set(names(page))
        for step in steps[start:]:
            await happen(world, *step)
        watch = await world.widgets.watch(
            resource_version=str(page.revision), label_selector="on=yes"
        )
        follow(known, itertools.chain.from_iterable(iter(lambda: watch.take(limit), [])))
        now = await world.widgets.list(ListOptions(label_selector="on=yes"))
        assert known == set(names(now))

    story(tmp_path_factory.mktemp("story"))


async def happen(world: World, name: str, state: str) -> None:
    there = world.store.find("example.com/widgets", f"{SPACE}/{name}") is not None
    if state == "gone":
        if there:
            await world.widgets.delete(name)
    elif there:
        await world.widgets.merge(name, {"metadata": {"labels": {"on": state}}})
    else:
        await world.widgets.make(name, {"labels": {"on": state}})


def follow(known: set[str], notices: "itertools.chain[EncodedWatchEvent]") -> None:
    """Do as a client does: what is added was not there before, what changes or goes was."""
    for event in notices:
        (name,) = [name for _, name in summaries([event])]
        assert (name in known) is (event.type != "ADDED")
        known.discard(name)
        if event.type != "DELETED":
            known.add(name)
