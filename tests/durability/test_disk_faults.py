"""A failing disk: writes stop with a clear error, reads continue, no write is acknowledged falsely."""

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import apsw
import pytest

from kubekit.plane.store.store import Store, StoreSettings, WritesStopped
from tests.support.kubekit import virtual_time
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    Clock,
    changed,
    created,
    deleted,
    environment,
    in_loop,
    keys,
    opened,
    revisions,
)

PASSING = {
    "full": (apsw.SQLITE_FULL, "the disk is full"),
    "read-only": (apsw.SQLITE_READONLY, "read-only"),
}
FINAL: dict[str, dict[str, Any]] = {
    "fsync": {"on_sync": apsw.SQLITE_IOERR_FSYNC},
    "write": {"on_write": apsw.SQLITE_IOERR_WRITE},
    "corrupt": {"on_write": apsw.SQLITE_CORRUPT},
}


@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_writes_resume_when_the_cause_is_gone(tmp_path, fault, threaded):
    """A full disk refuses whole batches, reads continue, and later writes succeed."""
    code, words = PASSING[fault]
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name, threaded=threaded) as store:
        await store.write(created("a"))
        with disk.failing(on_write=code):
            gone = store.write(created("a writer who has left"))
            futures = [store.write(created(key)) for key in "bc"]
            asyncio.get_running_loop().call_soon(gone.cancel)
            results = await asyncio.gather(*futures, return_exceptions=True)
        assert [(type(r), words in str(r)) for r in results] == [(WritesStopped, True)] * 2
        assert str(tmp_path / "plane.db") in str(results[0])
        assert keys(store.collection(WIDGETS).range()) == ["a"]
        assert revisions(await store.history(WIDGETS, 0)) == [1]
        assert (await store.write(created("b"))).revision == 2
        assert store.stopped is None
    async with opened(tmp_path, vfs=disk.name) as store:
        assert keys(store.collection(WIDGETS).range()) == ["a", "b"]


@pytest.mark.parametrize("size", [10, 200_000], ids=["at the commit", "before the commit"])
@in_loop
async def test_a_large_batch_is_refused_whole(tmp_path, size):
    """A transaction of several statements leaves nothing behind, and the next one is durable."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name) as store:
        with disk.failing(on_write=apsw.SQLITE_FULL):
            futures = [store.write(created(str(n), "x" * size)) for n in range(100)]
            results = await asyncio.gather(*futures, return_exceptions=True)
        assert {type(result) for result in results} == {WritesStopped}
        assert store.stopped is None
        await store.write(created("a"))
        disk.power_cut(Random(1))
    async with opened(tmp_path, vfs=disk.name) as store:
        assert keys(store.collection(WIDGETS).range()) == ["a"]


@pytest.mark.parametrize("fault", FINAL)
@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_after_a_disk_error_writes_stay_stopped(tmp_path, fault, threaded):
    """A failed sync is never retried on that connection; waiting writes are refused as well."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name, threaded=threaded) as store:
        await store.write(created("a"))
        with disk.failing(**FINAL[fault]):
            first = store.write(created("b"))
            await asyncio.sleep(0)
            waiting = store.write(created("c"))
            results = await asyncio.gather(first, waiting, return_exceptions=True)
        operations = disk.operations
        late = (await asyncio.gather(store.write(created("d")), return_exceptions=True))[0]
        for result in (*results, late):
            assert isinstance(result, WritesStopped)
            assert result.final
            assert "is unknown" in str(result)
        assert store.stopped is not None
        assert keys(store.collection(WIDGETS).range()) == ["a"]
        await store.close()
        assert disk.operations == operations


@in_loop
async def test_what_survived_a_failed_sync_is_synced_when_opened(tmp_path):
    """The kernel may mark lost pages as clean: later commits must not rely on them."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name) as store:
        record = await store.write(created("a"))
        with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
            await store.write(changed(record))
    async with opened(tmp_path, vfs=disk.name) as store:
        present = store.find(WIDGETS, "a")
        assert present is not None
        promised = await store.write(changed(present))
        disk.power_cut(Random(1))
    async with opened(tmp_path, vfs=disk.name) as store:
        assert store.find(WIDGETS, "a") == promised


@in_loop
async def test_a_full_disk_can_be_opened_and_read(tmp_path):
    """The data can be read although it cannot be folded; writes wait for space."""
    disk = FaultyDisk()
    store = await Store.open(tmp_path / "plane.db", environment(), vfs=disk.name)
    await store.write(created("a"))
    with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
        await store.write(created("b"))
    await store.close()
    with disk.failing(on_write=apsw.SQLITE_FULL):
        async with opened(tmp_path, vfs=disk.name) as store:
            assert keys(store.collection(WIDGETS).range())[:1] == ["a"]
            with pytest.raises(WritesStopped, match="the disk is full"):
                await store.write(created("c"))


@in_loop
async def test_a_new_store_needs_a_disk(tmp_path):
    """Creating a store on a full disk fails with a message, and works once there is space."""
    disk = FaultyDisk()
    with disk.failing(on_write=apsw.SQLITE_FULL), pytest.raises(WritesStopped, match="full"):
        await Store.open(tmp_path / "plane.db", environment(), vfs=disk.name)
    async with opened(tmp_path, vfs=disk.name) as store:
        assert (await store.write(created("a"))).revision == 1


@in_loop
async def test_opening_on_a_broken_disk_fails(tmp_path):
    """Data that cannot be made durable is not served."""
    disk = FaultyDisk()
    store = await Store.open(tmp_path / "plane.db", environment(), vfs=disk.name)
    await store.write(created("a"))
    with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
        await store.write(created("b"))
    await store.close()
    with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
        await Store.open(tmp_path / "plane.db", environment(), vfs=disk.name)


async def write_on(store: Store) -> None:
    """Write until a write is refused."""
    while store.revision < 1000:
        await store.write(created(str(store.revision), "x" * 2000))


def wal_size(disk: FaultyDisk) -> int:
    return next(len(blocks.seen) for path, blocks in disk.files.items() if path.endswith("-wal"))


@in_loop
async def test_the_write_ahead_log_stays_small(tmp_path):
    """However much is written, the log is folded into the main file in time, and not all the time."""
    disk, syncs = FaultyDisk(), []
    small = StoreSettings(wal_bytes=100_000)
    async with opened(tmp_path, small, vfs=disk.name) as store:
        record = await store.write(created("a"))
        disk.before_sync = lambda: syncs.append(1)
        for _ in range(300):
            record = await store.write(changed(record, "x" * 2000))
            assert wal_size(disk) < 200_000
        assert 300 < len(syncs) < 600


@in_loop
async def test_while_folding_fails_the_write_ahead_log_has_a_limit(tmp_path):
    """When only the main file cannot grow, writes are accepted up to the limit, then refused."""
    disk = FaultyDisk()
    small = StoreSettings(wal_bytes=50_000, wal_limit=200_000)
    async with opened(tmp_path, small, vfs=disk.name) as store:
        with disk.failing(on_write=apsw.SQLITE_FULL, only="plane.db"):
            with pytest.raises(WritesStopped, match="the disk is full"):
                await write_on(store)
            assert 150_000 < wal_size(disk) < 300_000
        written = store.revision
        await store.write(created("space again"))
        assert len(store.collection(WIDGETS)) == written + 1


@in_loop
async def test_a_broken_main_file_stops_writes(tmp_path):
    """A failed sync while folding stops writing, although the changes so far are safe."""
    disk = FaultyDisk()
    async with opened(tmp_path, StoreSettings(wal_bytes=1), vfs=disk.name) as store:
        with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC, only="plane.db"):
            await store.write(created("a"))
            with pytest.raises(WritesStopped, match="SQLITE_IOERR_FSYNC"):
                await write_on(store)
        kept = keys(store.collection(WIDGETS).range())
    async with opened(tmp_path, vfs=disk.name) as store:
        assert keys(store.collection(WIDGETS).range()) == kept


@in_loop
async def test_compaction_waits_for_space(tmp_path):
    """A refused compaction removes nothing, and can be done later."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name) as store:
        await store.write(changed(await store.write(created("a"))))
        with disk.failing(on_write=apsw.SQLITE_FULL), pytest.raises(WritesStopped):
            await store.compact(2)
        assert (store.compacted, revisions(await store.history(WIDGETS, 0))) == (0, [1, 2])
        await store.compact(2)
        assert store.compacted == 2


@pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])
@in_loop
async def test_a_disk_error_during_compaction_stops_writes(tmp_path, threaded):
    """The connection is the same: unsynced data may be missing below later changes."""
    disk = FaultyDisk()
    async with opened(tmp_path, vfs=disk.name, threaded=threaded) as store:
        await store.write(changed(await store.write(created("a"))))
        with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
            await store.compact(2)
        operations = disk.operations
        for attempt in (store.write(created("b")), store.compact(2)):
            with pytest.raises(WritesStopped, match="restart") as stopped:
                await attempt
            assert stopped.value.final
        assert store.stopped is not None
        await store.close()
        assert disk.operations == operations


def test_nothing_is_compacted_after_a_disk_error(tmp_path):
    """Compaction writes as well, so a store that must be reopened no longer compacts."""
    disk, clock = FaultyDisk(), Clock()

    async def scenario() -> None:
        async with opened(tmp_path, vfs=disk.name, threaded=False, clock=clock) as store:
            await store.write(created("a"))
            with disk.failing(on_sync=apsw.SQLITE_IOERR_FSYNC), pytest.raises(WritesStopped):
                await store.write(created("b"))
            operations = disk.operations
            clock.advance(timedelta(hours=1))
            await asyncio.sleep(3600)
            assert (store.compacted, disk.operations) == (0, operations)
            await asyncio.get_running_loop().create_future()

    with pytest.raises(virtual_time.Deadlock):
        virtual_time.run(scenario())


@in_loop
async def test_compaction_keeps_the_write_ahead_log_small(tmp_path):
    """A large compaction without concurrent writes is folded, too."""
    disk = FaultyDisk()
    async with opened(tmp_path, StoreSettings(wal_bytes=200_000), vfs=disk.name) as store:
        for _ in range(5):
            drafts = [created(str(n), "x" * 2000) for n in range(500)]
            records = await asyncio.gather(*map(store.write, drafts))
            await asyncio.gather(*(store.write(deleted(r, "x" * 2000)) for r in records))
        await store.compact(store.revision)
        assert wal_size(disk) < 3_000_000
