"""Listeners and readers of changes; a failing listener does not affect others."""

import asyncio

import pytest

from tests.support.kubekit.store_builders import WIDGETS, created, in_loop, opened, revisions

pytestmark = pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])


@in_loop
async def test_readers_and_listeners_receive_a_batch(tmp_path, threaded):
    """Each reader is woken once for a batch, a listener receives each change in order."""
    async with opened(tmp_path, threaded=threaded) as store:
        woken, changes = [], []
        reader = store.subscribe(WIDGETS, 0, lambda: woken.append(store.revision))
        store.listen(lambda resource, event: changes.append((resource, event)))
        await asyncio.gather(*(store.write(created(str(n))) for n in range(3)))
        events = reader.take(10)
        assert woken == [3]
        assert revisions(events) == [1, 2, 3]
        assert changes == [(WIDGETS, event) for event in events]


@in_loop
async def test_a_stopped_listener_receives_nothing(tmp_path, threaded):
    """Stopping twice is like stopping once, also for a function that listens twice."""
    async with opened(tmp_path, threaded=threaded) as store:
        changes = []

        def listener(resource, event):
            changes.append((resource, event.record.key))

        leave, stay = store.listen(listener), store.listen(listener)
        leave()
        leave()
        await store.write(created("a"))
        stay()
        await store.write(created("b"))
        assert changes == [(WIDGETS, "a")]


@in_loop
async def test_a_failing_listener_does_not_affect_the_others(tmp_path, threaded):
    """A reader or a listener that raises is reported to the loop; all others are called."""
    async with opened(tmp_path, threaded=threaded) as store:
        reported, called = [], []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, report: reported.append(str(report["exception"]))
        )
        store.subscribe(WIDGETS, 0, lambda: fail("reader"))
        store.subscribe(WIDGETS, 0, lambda: called.append("reader"))
        store.listen(lambda *_: fail("listener"))
        store.listen(lambda *_: called.append("listener"))
        await asyncio.gather(store.write(created("a")), store.write(created("b")))
        assert reported == ["reader", "listener", "listener"]
        assert called == ["reader", "listener", "listener"]


def fail(who: str) -> None:
    raise RuntimeError(who)
