"""Doing the same to many things, some of them at a time."""

import asyncio

import pytest
from hypothesis import given, strategies as st

from kubekit.runtime.concurrency import slow_start_batch
from tests.support.kubekit.virtual_time import run


class Recorder:
    """Where things are done, a second each, but for those that fail."""

    def __init__(self, *bad: int) -> None:
        self.started: list[int] = []
        self.busy = self.busiest = 0
        self._bad = bad

    async def do(self, thing: int) -> str:
        self.started.append(thing)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            await asyncio.sleep(1.0)
        finally:
            self.busy -= 1
        if thing in self._bad:
            raise ValueError(f"not {thing}")
        return str(thing)


@given(st.integers(0, 100))
def test_all_is_done_in_order_and_some_at_a_time(count):
    """What comes of each is where it was, and never are more than sixteen under way."""

    async def story():
        recorder = Recorder()
        return await slow_start_batch(recorder.do, range(count)), recorder

    done, recorder = run(story())

    assert done == [str(n) for n in range(count)]
    assert recorder.started == [*range(count)]
    assert recorder.busiest <= min(16, max(1, count))


def test_many_take_as_long_as_few_one_by_one():
    """One, two, four, eight, then sixteen at a time: a hundred in ten seconds instead of a hundred."""

    async def story():
        started = asyncio.get_running_loop().time()
        await slow_start_batch(Recorder().do, range(100))
        return asyncio.get_running_loop().time() - started

    assert run(story()) == 10.0


@pytest.mark.parametrize(("bad", "started"), [((0,), 1), ((1, 2), 3), ((20,), 31)])
def test_the_first_failure_ends_it_once_what_is_under_way_has_ended(bad, started):
    """What is refused at once costs one request; nothing goes on behind the caller's back."""

    async def story():
        recorder = Recorder(*bad)
        with pytest.raises(ValueError, match=f"not {bad[0]}"):
            await slow_start_batch(recorder.do, range(100))
        return recorder

    recorder = run(story())

    assert (len(recorder.started), recorder.busy) == (started, 0)


def test_who_gives_up_ends_what_is_under_way():
    """A caller that is cancelled leaves no task behind."""

    async def story():
        recorder = Recorder()
        task = asyncio.ensure_future(slow_start_batch(recorder.do, range(100)))
        await asyncio.sleep(3.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return recorder

    recorder = run(story())

    assert (len(recorder.started), recorder.busy) == (15, 0)
