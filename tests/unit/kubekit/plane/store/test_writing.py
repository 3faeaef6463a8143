"""Writes: commits, conflicts, batches and events."""

import asyncio

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from kubekit.plane.store.records import Record
from kubekit.plane.store.store import RevisionConflict
from tests.support.generated import depth
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.store_builders import (
    WIDGETS,
    body_of,
    changed,
    created,
    deleted,
    in_loop,
    keys,
    opened,
)

pytestmark = pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])


@in_loop
async def test_the_revision_is_written_into_the_document(tmp_path, threaded):
    """What is served is what was given, with the revision as its resourceVersion."""
    async with opened(tmp_path, threaded=threaded) as store:
        record = await store.write(created("default/a", "hello"))
        assert record.data == (
            b'{"kind":"Widget","metadata":{"resourceVersion":"1","name":"a"},"body":"hello"}'
        )
        assert store.find(WIDGETS, "default/a") is record


@in_loop
async def test_nothing_is_seen_before_it_is_committed(tmp_path, threaded):
    """While a change is being written, it is not visible and no reader or listener is called."""
    disk, seen, woken = FaultyDisk(), [], []
    async with opened(tmp_path, threaded=threaded, vfs=disk.name) as store:
        store.subscribe(WIDGETS, 0, lambda: woken.append(1))
        future = store.write(created("a"))
        disk.before_sync = lambda: seen.append(
            (future.done(), store.find(WIDGETS, "a"), store.revision, len(woken))
        )
        await future
        assert set(seen) == {(False, None, 0, 0)}
        assert (store.revision, len(woken)) == (1, 1)


@in_loop
async def test_the_first_of_two_changes_wins(tmp_path, threaded):
    """Of two changes of one revision in one batch, the log takes one."""
    async with opened(tmp_path, threaded=threaded) as store:
        record = await store.write(created("a"))
        drafts = [changed(record, "one"), changed(record, "two"), created("b")]
        first, second, other = await asyncio.gather(
            *map(store.write, drafts), return_exceptions=True
        )
        assert isinstance(second, RevisionConflict)
        assert str(second) == "example.com/widgets a has changed since revision 1"
        assert isinstance(first, Record)
        assert store.find(WIDGETS, "a") == first
        assert isinstance(other, Record)
        assert store.find(WIDGETS, "b") == other


@in_loop
async def test_a_batch_of_conflicts_does_not_stop_writing(tmp_path, threaded):
    """When no waiting write can succeed, the next one still does."""
    async with opened(tmp_path, threaded=threaded) as store:
        await store.write(created("a"))
        with pytest.raises(RevisionConflict):
            await store.write(created("a"))
        assert (await store.write(created("b"))).revision == 2


@in_loop
async def test_a_change_of_a_deleted_object_is_a_conflict(tmp_path, threaded):
    """An object that is gone cannot be changed."""
    async with opened(tmp_path, threaded=threaded) as store:
        record = await store.write(created("a"))
        await store.write(deleted(record))
        with pytest.raises(RevisionConflict):
            await store.write(changed(record))


@in_loop
async def test_nothing_can_be_deleted_twice(tmp_path, threaded):
    """A deletion needs something to delete."""
    async with opened(tmp_path, threaded=threaded) as store:
        with pytest.raises(RevisionConflict):
            await store.write(deleted(Record("a", 0, b"")))
        record = await store.write(created("a"))
        drafts = [deleted(record), deleted(record)]
        results = await asyncio.gather(*map(store.write, drafts), return_exceptions=True)
        assert [type(result) for result in results] == [Record, RevisionConflict]


@in_loop
async def test_a_name_can_be_used_again(tmp_path, threaded):
    """Create after delete works at once, after a restart, and after compaction."""
    for _ in range(3):
        async with opened(tmp_path, threaded=threaded) as store:
            await store.write(deleted(await store.write(created("a"))))
            await store.write(deleted(await store.write(created("a"))))
    async with opened(tmp_path, threaded=threaded) as store:
        await store.compact(store.revision)
        assert (await store.write(created("a"))).revision == 13


@in_loop
async def test_a_name_can_be_used_again_when_only_older_things_are_forgotten(tmp_path, threaded):
    """The row that was the object's first may still be there: the new one is no second first."""
    async with opened(tmp_path, threaded=threaded) as store:
        first = await store.write(created("a"))
        await store.write(created("b"))
        await store.write(deleted(first))
        await store.compact(2)
        assert (await store.write(created("a"))).revision == 4


@in_loop
async def test_an_old_revision_stays_old_after_compaction(tmp_path, threaded):
    """The log has removed the later rows; the change must still fail."""
    async with opened(tmp_path, threaded=threaded) as store:
        first = await store.write(created("a"))
        await store.write(changed(await store.write(changed(first))))
        await store.compact(store.revision)
        for stale in (changed(first), created("a")):
            with pytest.raises(RevisionConflict):
                await store.write(stale)


@in_loop
async def test_a_cancelled_write_is_not_made(tmp_path, threaded):
    """A write that is cancelled before its batch is formed leaves nothing behind."""
    async with opened(tmp_path, threaded=threaded) as store:
        store.write(created("a")).cancel()
        await store.write(created("b"))
        assert keys(store.collection(WIDGETS).range()) == ["b"]


@in_loop
async def test_a_write_cancelled_during_the_commit_is_kept(tmp_path, threaded):
    """The change is committed; only its caller gets no result."""
    async with opened(tmp_path, threaded=threaded) as store:
        future = store.write(created("a"))
        asyncio.get_running_loop().call_soon(future.cancel)
        with pytest.raises(asyncio.CancelledError):
            await future
        await store.write(created("b"))
        assert keys(store.collection(WIDGETS).range()) == ["a", "b"]


@in_loop
async def test_many_writes_become_few_commits(tmp_path, threaded):
    """Waiting writes are committed together, in their order of arrival."""
    async with opened(tmp_path, threaded=threaded) as store:
        drafts = [created(f"{n:04}") for n in range(1200)]
        records = await asyncio.gather(*map(store.write, drafts))
        assert [record.revision for record in records] == list(range(1, 1201))
        assert (store.stats.commits, store.stats.writes, store.stats.largest) == (
            3,
            1200,
            512,
        )


@in_loop
async def test_large_documents_go_in_several_batches(tmp_path, threaded):
    """A batch is bounded in bytes, too."""
    async with opened(tmp_path, threaded=threaded) as store:
        drafts = [created(str(n), "x" * 700_000) for n in range(8)]
        await asyncio.gather(*map(store.write, drafts))
        assert store.stats.commits == 3


@in_loop
async def test_an_event_knows_what_was_there_before(tmp_path, threaded):
    """A change has the record before it, a creation none."""
    async with opened(tmp_path, threaded=threaded) as store:
        reader = store.subscribe(WIDGETS, 0, lambda: None)
        one = await store.write(created("a", "1"))
        two = await store.write(changed(one, "2"))
        await store.write(deleted(two, "3"))
        await store.write(created("a", "4"))
        assert [event.previous for event in reader.take(10)] == [None, one, two, None]


@settings(
    max_examples=depth.examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("cud")), max_size=5), max_size=8
    )
)
def test_the_store_is_a_dict_with_versions(tmp_path_factory, threaded, steps):
    """Any concurrent changes leave what a plain model says, also after opening again."""

    async def scenario() -> None:
        directory = tmp_path_factory.mktemp("store")
        model: dict[str, Record] = {}
        for step in steps:
            async with opened(directory, threaded=threaded) as store:
                drafts = [_draft(model, key, verb, str(n)) for n, (key, verb) in enumerate(step)]
                results = await asyncio.gather(*map(store.write, drafts), return_exceptions=True)
                for draft, result in zip(drafts, results, strict=True):
                    if isinstance(result, Record):
                        model[draft.key] = result
                        if draft.change == "DELETED":
                            del model[draft.key]
            async with opened(directory, threaded=threaded) as store:
                present = store.collection(WIDGETS).range()
                assert {r.key: body_of(r) for r in present} == {
                    key: body_of(record) for key, record in model.items()
                }

    asyncio.run(scenario())


def _draft(model, key, verb, body):
    record = model.get(key)
    if verb == "c" or record is None:
        return created(key, body)
    return {"u": changed, "d": deleted}[verb](record, body)
