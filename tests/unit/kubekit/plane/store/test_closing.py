"""Closing a store while it is in use."""

import asyncio
import threading

import pytest

from kubekit.plane.store.store import Store, StoreSettings, WritesStopped
from kubekit.plane.store.writer import ThreadWriter
from tests.support.kubekit.store_builders import WIDGETS, created, environment, in_loop, opened

both = pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])


@both
@in_loop
async def test_closing_finishes_what_was_accepted(tmp_path, threaded):
    """Earlier writes are committed; later ones are refused; closing twice has no effect."""
    async with opened(tmp_path, threaded=threaded) as store:
        futures = [store.write(created(str(n))) for n in range(3)]
        await store.close()
        assert [future.result().revision for future in futures] == [1, 2, 3]
        with pytest.raises(WritesStopped, match="is closed"):
            await store.write(created("late"))
    async with opened(tmp_path, threaded=threaded) as store:
        assert store.revision == 3


async def write_on(store: Store) -> None:
    """Write until a write is refused."""
    while store.revision < 1000:
        await store.write(created(str(store.revision)))


@both
@in_loop
async def test_closing_does_not_wait_for_later_writes(tmp_path, threaded):
    """Once closing starts, no write is accepted, so it ends."""
    async with opened(tmp_path, threaded=threaded) as store:
        writer = asyncio.ensure_future(write_on(store))
        await asyncio.sleep(0)
        await store.close()
        assert store.revision == 1
        with pytest.raises(WritesStopped, match="is closed"):
            await writer


@both
@in_loop
async def test_a_closed_store_answers(tmp_path, threaded):
    """Reading the history of a closed store is refused and does not hang."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
    for call in (store.history(WIDGETS, 0), store.collection_at(WIDGETS, 1), store.compact()):
        with pytest.raises(WritesStopped, match="is closed"):
            await call


@both
@in_loop
async def test_history_reads_end_when_the_store_closes(tmp_path, threaded):
    """A read that waits for the disk when the store closes gets a result or an error."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
    async with opened(tmp_path, threaded=threaded) as store:
        readers = [asyncio.ensure_future(store.history(WIDGETS, 0)) for _ in range(3)]
        await asyncio.sleep(0)
        await store.close()
        answers = await asyncio.gather(*readers, return_exceptions=True)
        assert [type(answer) for answer in answers] == [list, WritesStopped, WritesStopped]


@both
@in_loop
async def test_closing_does_not_wait_for_compaction(tmp_path, threaded):
    """Compaction may stop half way: the next process continues it."""
    async with opened(tmp_path, threaded=threaded) as store:
        await asyncio.gather(*(store.write(created(f"{n:04}")) for n in range(3000)))
    async with opened(tmp_path, StoreSettings(window_revisions=10), threaded=threaded) as store:
        await asyncio.sleep(0)
    async with opened(tmp_path, threaded=threaded) as store:
        assert store.compacted < 2990
        assert len(store.collection(WIDGETS)) == 3000
        assert len(await store.history(WIDGETS, store.compacted)) == 3000 - store.compacted


@both
@in_loop
async def test_a_cancelled_open_leaves_nothing_behind(tmp_path, threaded):
    """The file can be opened again."""
    opening = asyncio.ensure_future(
        Store.open(tmp_path / "plane.db", environment(), threaded=threaded)
    )
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    async with opened(tmp_path, threaded=threaded) as store:
        assert store.revision == 0


@both
@in_loop
async def test_closing_continues_when_its_caller_is_cancelled(tmp_path, threaded):
    """A second call waits for the same close: after it, the file can be opened."""
    async with opened(tmp_path, threaded=threaded) as store:
        impatient = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        impatient.cancel()
        await store.close()
        async with opened(tmp_path, threaded=threaded) as after:
            assert after.revision == 0


def test_the_writer_thread_survives_a_closed_loop(monkeypatch):
    """A result that the loop cannot receive is no error, and the next job runs."""
    gate = threading.Event()
    done: list[object] = []
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)

    async def return_early() -> ThreadWriter:
        writer = ThreadWriter(asyncio.get_running_loop())
        writer.submit(gate.wait, done.append)
        return writer

    writer = asyncio.run(return_early())
    writer.submit(lambda: done.append("done"), done.append)
    gate.set()
    writer.stop()
    assert (done, failures) == (["done"], [])
