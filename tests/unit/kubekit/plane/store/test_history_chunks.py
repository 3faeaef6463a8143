"""Reading history from disk, chunk by chunk, during writes and compaction."""

import asyncio
from collections.abc import Callable
from typing import Any

import apsw
import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from kubekit.plane.store.records import ChangeEvent, Record
from kubekit.plane.store.store import Compacted, Store, StoreSettings, UnreadableStore
from tests.support.generated import depth
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    changed,
    created,
    deleted,
    in_loop,
    opened,
    revisions,
)

OTHER = "example.com/others"
both = pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])


async def followed(store: Store, since: int) -> list[ChangeEvent]:
    """What a watcher sees that continues from a revision, up to the newest."""
    events: list[ChangeEvent] = []
    while True:
        try:
            return events + store.subscribe(WIDGETS, since, lambda: None).take(10_000)
        except Compacted:
            history_chunk = await store.history_chunk(WIDGETS, since)
            assert history_chunk.until > since
            events += history_chunk.events
            since = history_chunk.until


@in_loop
async def test_a_chunk_is_small_however_large_the_documents(tmp_path):
    """A reader holds little more than one large change at a time, and misses nothing."""
    async with opened(tmp_path) as store:
        record = await store.write(created("a", "x" * 200_000))
        for _ in range(9):
            record = await store.write(changed(record, "x" * 200_000))
    async with opened(tmp_path) as store:
        assert len((await store.history_chunk(WIDGETS, 0)).events) <= 2
        assert revisions(await followed(store, 0)) == list(range(1, 11))


@in_loop
async def test_a_chunk_may_be_empty_although_changes_follow(tmp_path):
    """Among thousands of changes of others, a reader continues where it stopped."""
    async with opened(tmp_path) as store:
        await store.write(created("a"))
        await asyncio.gather(*(store.write(created(str(n), "", OTHER)) for n in range(6000)))
        await store.write(created("b"))
    async with opened(tmp_path) as store:
        assert await store.history_chunk(WIDGETS, 1) == ([], 5001)
        assert revisions(await followed(store, 0)) == [1, 6002]


@both
@in_loop
async def test_history_ends_although_others_never_stop_writing(tmp_path, threaded):
    """A reader does not chase the writers indefinitely."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
    async with opened(tmp_path, threaded=threaded) as store:
        leave = write_steadily(store, until=1000)
        await store.write(created("third"))
        events = await store.history(WIDGETS, 0)
        assert revisions(events) == list(range(1, store.revision + 1))
        assert store.revision < 100
        leave()


def write_steadily(store: Store, until: int) -> Callable[[], None]:
    """Writes such that one is always being written and another one waits."""

    def write(*_: Any) -> None:
        if store.revision < until:
            store.write(created(f"{store.revision}"))

    store.write(created("first"))
    asyncio.get_running_loop().call_soon(store.write, created("second"))
    return store.listen(write)


@both
@in_loop
async def test_a_write_waits_for_one_reader_at_most(tmp_path, threaded):
    """However many read history at once, a write runs in between."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
    async with opened(tmp_path, threaded=threaded) as store:
        readers = [asyncio.ensure_future(store.history(WIDGETS, 0)) for _ in range(50)]
        await asyncio.sleep(0)
        await store.write(created("b"))
        assert sum(reader.done() for reader in readers) < 5
        late = (await asyncio.gather(*readers))[-1]
        assert revisions(late) == [1, 2]


@both
@in_loop
async def test_a_read_may_be_cancelled_while_the_disk_works(tmp_path, threaded):
    """The next read runs."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
    async with opened(tmp_path, threaded=threaded) as store:
        readers = [asyncio.ensure_future(store.history(WIDGETS, 0)) for _ in range(3)]
        await asyncio.sleep(0)
        readers[0].cancel()
        assert [revisions(await reader) for reader in readers[1:]] == [[1], [1]]


@in_loop
async def test_history_on_disk_ends_at_the_point_of_compaction(tmp_path):
    """A reader that was overtaken while it waited for the disk gets an error."""
    async with opened(tmp_path) as store:
        for n in range(5):
            await store.write(created(str(n)))
    async with opened(tmp_path) as store:
        compaction = asyncio.ensure_future(store.compact(4))
        await asyncio.sleep(0)
        for read in (store.history(WIDGETS, 1), store.collection_at(WIDGETS, 1)):
            with pytest.raises(Compacted, match="compacted"):
                await read
        await compaction


@both
@in_loop
async def test_a_collection_of_the_past_does_not_move_with_the_present(tmp_path, threaded):
    """What is written while the disk is read belongs to no earlier revision."""
    async with opened(tmp_path, threaded=threaded) as store:
        records = [await store.write(created(key)) for key in "abc"]
        await store.write(changed(records[0]))
    async with opened(tmp_path, threaded=threaded) as store:
        drafts = [deleted(records[1]), changed(records[2]), created("d")]
        writes = [store.write(draft) for draft in drafts]
        reads = [asyncio.ensure_future(store.collection_at(WIDGETS, 3)) for _ in range(5)]
        await asyncio.gather(*writes)
        assert await asyncio.gather(*reads) == [records] * 5


@settings(max_examples=depth.examples(30), deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=25),
    forgotten=st.integers(0, 10),
    ring=st.sampled_from([1, 4, 100]),
)
@example(steps=[("a", False), ("a", True), ("a", False)], forgotten=0, ring=1)
def test_every_past_can_be_seen(tmp_path_factory, steps, forgotten, ring):
    """From the ring or from disk, each revision of the window shows what was there then."""

    async def scenario() -> None:
        directory = tmp_path_factory.mktemp("store")
        async with opened(directory, StoreSettings(ring_events=ring), threaded=False) as store:
            pasts = [[], *[await past_of(store, key, removed=removed) for key, removed in steps]]
            await store.compact(min(forgotten, store.revision))
            for revision in range(store.compacted, store.revision + 1):
                assert await store.collection_at(WIDGETS, revision) == pasts[revision]
                events = await store.history(WIDGETS, revision)
                assert revisions(events) == list(range(revision + 1, store.revision + 1))

    asyncio.run(scenario())


async def past_of(store: Store, key: str, *, removed: bool) -> list[Record]:
    """What is there after one more change of that object."""
    record = store.find(WIDGETS, key)
    if record is None:
        await store.write(created(key))
    else:
        await store.write((deleted if removed else changed)(record))
    return store.collection(WIDGETS).range()


@in_loop
async def test_a_page_that_cannot_be_read_is_named(tmp_path):
    """A broken disk gives an error, not half of the history; writes continue."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name) as store:
        record = await store.write(created("a", "x" * 100_000))
        await store.write(deleted(record, "x" * 100_000))
    async with opened(tmp_path, vfs=disk.name) as store:
        with disk.failing(on_read=apsw.SQLITE_IOERR_READ):
            for read in (store.history(WIDGETS, 0), store.collection_at(WIDGETS, 1)):
                with pytest.raises(UnreadableStore, match=r"plane\.db is not a readable store"):
                    await read
        assert revisions(await store.history(WIDGETS, 0)) == [1, 2]
        assert await store.collection_at(WIDGETS, 1) == [record]
