"""Reading history, and compacting it."""

import asyncio
from datetime import timedelta

import apsw
import pytest

from kubekit.plane.store.store import Compacted, FutureRevision, Store, StoreSettings
from tests.support.kubekit import virtual_time
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    Clock,
    changed,
    created,
    deleted,
    in_loop,
    keys,
    opened,
    revisions,
)

OTHER = "example.com/others"


async def grow(store: Store) -> None:
    """Revisions 1 to 6: a, b, a again, another resource, b gone, c."""
    a = await store.write(created("a"))
    b = await store.write(created("b"))
    await store.write(changed(a))
    await store.write(created("x", resource=OTHER))
    await store.write(deleted(b))
    await store.write(created("c"))


@in_loop
async def test_history_is_read_from_disk_after_a_restart(tmp_path):
    """A watcher resumes across a restart: every later change of its resource, with the old state."""
    async with opened(tmp_path) as store:
        await grow(store)
    async with opened(tmp_path) as store:
        events = await store.history(WIDGETS, 1)
        assert revisions(events) == [2, 3, 5, 6]
        assert [e.previous and e.previous.revision for e in events] == [None, 1, 2, None]


@in_loop
async def test_subscribing_below_memory_needs_history(tmp_path):
    """After a restart the ring is empty: the last of the history is where to subscribe."""
    async with opened(tmp_path) as store:
        await grow(store)
    async with opened(tmp_path) as store:
        with pytest.raises(Compacted):
            store.subscribe(WIDGETS, 5, lambda: None)
        reader = store.subscribe(WIDGETS, 6, lambda: None)
        await store.write(created("d"))
        assert revisions(reader.take(10)) == [7]


@in_loop
async def test_a_quiet_resource_can_be_resumed_from_memory(tmp_path):
    """Changes of other resources do not send a watcher to the disk."""
    async with opened(tmp_path) as store:
        await grow(store)
    async with opened(tmp_path) as store:
        assert store.subscribe(OTHER, 4, lambda: None).take(10) == []
        assert store.subscribe("example.com/none", 0, lambda: None).take(10) == []


PAST = {0: "", 1: "a1", 2: "a1 b2", 3: "a3 b2", 4: "a3 b2", 5: "a3", 6: "a3 c6"}


@pytest.mark.parametrize(("revision", "expected"), PAST.items())
@pytest.mark.parametrize("restart", [False, True], ids=["from the ring", "from disk"])
@in_loop
async def test_a_collection_can_be_seen_as_it_was(tmp_path, revision, expected, restart):
    """A list at an old revision holds exactly what was there."""
    async with opened(tmp_path) as store:
        await grow(store)
        then = await store.collection_at(WIDGETS, revision)
    if restart:
        async with opened(tmp_path) as store:
            then = await store.collection_at(WIDGETS, revision)
    assert " ".join(f"{record.key}{record.revision}" for record in then) == expected


@in_loop
async def test_compaction_forgets_the_past_and_keeps_the_present(tmp_path):
    """Below the point of compaction everything is refused; above and at it, all works."""
    async with opened(tmp_path) as store:
        await grow(store)
        await store.compact(4)
        await store.compact(2)
        assert store.compacted == 4
        with pytest.raises(Compacted, match="revision 3 is compacted"):
            await store.collection_at(WIDGETS, 3)
        with pytest.raises(Compacted):
            await store.history(WIDGETS, 3)
        with pytest.raises(Compacted):
            store.subscribe(WIDGETS, 3, lambda: None)
        assert revisions(await store.history(WIDGETS, 4)) == [5, 6]
        assert keys(await store.collection_at(WIDGETS, 4)) == ["a", "b"]


@in_loop
async def test_compacted_changes_leave_memory(tmp_path):
    """A reader that does not take a change within the window gets `Compacted`."""
    async with opened(tmp_path) as store:
        reader = store.subscribe(WIDGETS, 0, lambda: None)
        await grow(store)
        await store.compact(5)
        with pytest.raises(Compacted, match="list again"):
            reader.take(10)


@in_loop
async def test_compaction_is_kept_across_a_restart(tmp_path):
    """A compacted revision stays compacted, and revisions never decrease."""
    async with opened(tmp_path) as store:
        await grow(store)
        c = store.find(WIDGETS, "c")
        assert c is not None
        await store.write(deleted(c))
        await store.compact(7)
    async with opened(tmp_path) as store:
        assert (store.revision, store.compacted) == (7, 7)
        assert keys(store.collection(WIDGETS).range()) == ["a"]


@in_loop
async def test_a_revision_of_the_future_is_refused(tmp_path):
    """A revision that does not exist can be neither read nor compacted."""
    async with opened(tmp_path) as store:
        for call in (store.history(WIDGETS, 1), store.collection_at(WIDGETS, 1), store.compact(1)):
            with pytest.raises(
                FutureRevision, match="revision 1 does not exist yet, the newest is 0"
            ):
                await call
        with pytest.raises(FutureRevision):
            store.subscribe(WIDGETS, 1, lambda: None)


@in_loop
async def test_the_window_is_a_time(tmp_path):
    """By itself, compaction removes what is older than the window and nothing younger."""
    clock = Clock()
    async with opened(tmp_path, StoreSettings(window=timedelta(minutes=5)), clock=clock) as store:
        await store.write(created("a"))
        await store.write(created("b"))
        clock.advance(timedelta(minutes=4))
        await store.write(created("c"))
        clock.advance(timedelta(minutes=2))
        await store.compact()
        assert store.compacted == 2
        clock.advance(timedelta(minutes=9))
        await store.compact()
        assert store.compacted == 3


@in_loop
async def test_the_window_is_a_number_of_revisions(tmp_path):
    """Not many more than the window's revisions are kept, however young."""
    async with opened(tmp_path, StoreSettings(window_revisions=20), threaded=False) as store:
        for n in range(100):
            await store.write(created(str(n)))
        assert 20 <= store.revision - store.compacted <= 25


@in_loop
async def test_long_histories_are_read_and_compacted_in_pieces(tmp_path):
    """Thousands of changes come back whole and in order."""
    async with opened(tmp_path, StoreSettings(ring_events=100)) as store:
        await asyncio.gather(*(store.write(created(f"{n:05}")) for n in range(6000)))
        assert revisions(await store.history(WIDGETS, 10)) == list(range(11, 6001))
        assert len(await store.collection_at(WIDGETS, 5500)) == 5500
        await store.compact(5999)
        assert len(store.collection(WIDGETS)) == 6000


def test_an_idle_store_compacts_by_itself_and_then_sleeps(tmp_path):
    """A timer runs while there is history to compact, also after a restart, and then stops."""
    clock, left = Clock(), []

    async def scenario() -> None:
        async with opened(tmp_path, clock=clock, threaded=False) as store:
            await grow(store)
        clock.advance(timedelta(minutes=9))
        async with opened(tmp_path, clock=clock, threaded=False) as store:
            await asyncio.sleep(600)
            left.append(store.compacted)
            clock.advance(timedelta(minutes=2))
            await asyncio.sleep(600)
            left.append(store.compacted)
            await asyncio.get_running_loop().create_future()

    with pytest.raises(virtual_time.Deadlock):
        virtual_time.run(scenario())
    assert left == [0, 6]


def test_a_full_disk_does_not_end_compaction(tmp_path):
    """While the disk is full, nothing is compacted; afterwards the next tick does it."""
    clock, disk, left = Clock(), FaultyDisk(), []

    async def scenario() -> None:
        async with opened(tmp_path, clock=clock, threaded=False, vfs=disk.name) as store:
            await grow(store)
            clock.advance(timedelta(minutes=11))
            with disk.failing(on_write=apsw.SQLITE_FULL):
                await asyncio.sleep(600)
                left.append(store.compacted)
            await asyncio.sleep(600)
            left.append(store.compacted)

    virtual_time.run(scenario())
    assert left == [0, 6]


def test_compaction_on_a_full_disk_is_retried_once_per_tick(tmp_path):
    """However much there is to compact, a tick passes between two attempts."""
    disk, refusals = FaultyDisk(), []

    async def scenario() -> None:
        async with opened(tmp_path, threaded=False, vfs=disk.name) as store:
            await asyncio.gather(*(store.write(created(str(n))) for n in range(50)))
        with disk.failing(on_write=apsw.SQLITE_FULL):
            small = StoreSettings(window_revisions=20)
            async with opened(tmp_path, small, threaded=False, vfs=disk.name) as store:
                for _ in range(100):
                    await asyncio.sleep(0)
                refusals.append(disk.refusals)
                await asyncio.sleep(300)
                refusals.append(disk.refusals)

    virtual_time.run(scenario())
    assert refusals[0] < refusals[1] < 10
