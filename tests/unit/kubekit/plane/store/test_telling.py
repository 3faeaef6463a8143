"""Who hears of a change, and that one listener's trouble is not another's."""

import asyncio

import pytest

from tests.support.kubekit.store_builders import WIDGETS, created, in_loop, opened, revisions

pytestmark = pytest.mark.parametrize("threaded", [True, False], ids=["thread", "loop"])


@in_loop
async def test_readers_and_listeners_hear_of_a_batch(tmp_path, threaded):
    """Each reader is woken once for a batch, a listener hears each change in order."""
    async with opened(tmp_path, threaded=threaded) as store:
        woken, heard = [], []
        reader = store.subscribe(WIDGETS, 0, lambda: woken.append(store.revision))
        store.listen(lambda resource, event: heard.append((resource, event)))
        await asyncio.gather(*(store.write(created(str(n))) for n in range(3)))
        events = reader.take(10)
        assert woken == [3]
        assert revisions(events) == [1, 2, 3]
        assert heard == [(WIDGETS, event) for event in events]


@in_loop
async def test_a_listener_that_left_hears_nothing(tmp_path, threaded):
    """Leaving twice is leaving once, also for one who listens in two places."""
    async with opened(tmp_path, threaded=threaded) as store:
        heard = []

        def hear(resource, event):
            heard.append((resource, event.record.key))

        leave, stay = store.listen(hear), store.listen(hear)
        leave()
        leave()
        await store.write(created("a"))
        stay()
        await store.write(created("b"))
        assert heard == [(WIDGETS, "a")]


@in_loop
async def test_one_who_fails_keeps_nothing_from_the_others(tmp_path, threaded):
    """A reader or a listener that raises is reported to the loop; all others are told."""
    async with opened(tmp_path, threaded=threaded) as store:
        reported, told = [], []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, report: reported.append(str(report["exception"]))
        )
        store.subscribe(WIDGETS, 0, lambda: fail("reader"))
        store.subscribe(WIDGETS, 0, lambda: told.append("reader"))
        store.listen(lambda *_: fail("listener"))
        store.listen(lambda *_: told.append("listener"))
        await asyncio.gather(store.write(created("a")), store.write(created("b")))
        assert reported == ["reader", "listener", "listener"]
        assert told == ["reader", "listener", "listener"]


def fail(who: str) -> None:
    raise RuntimeError(who)
