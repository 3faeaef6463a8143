"""Waits between tries, and reads of a stream that must be over by a certain time."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from hypothesis import given, strategies as st

from kubekit.client.retry_timing import JitteredBackoff, StreamDeadline, in_time
from tests.support.kubekit.virtual_time import run


async def ticks(count: int, seconds: float = 1) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(seconds)
        yield number


@given(seed=st.integers(), first=st.floats(0.01, 10), growth=st.floats(1, 1000))
def test_waits_double_up_to_the_most(seed: int, first: float, growth: float):
    """Each is between a half and the whole of the doubled one, and none is more than the most."""
    pace = JitteredBackoff(Random(seed), first, first * growth)
    wanted = first
    for _ in range(20):
        assert wanted / 2 <= pace.wait() <= wanted
        wanted = min(wanted * 2, first * growth)


def test_after_a_rest_the_first_wait_comes_again():
    """What went before is forgotten."""
    pace = JitteredBackoff(Random(1), 1, 8)
    rested = [pace.at_first_wait]
    waits = [pace.wait() for _ in range(4)]
    rested.append(pace.at_first_wait)
    pace.reset()
    assert [*rested, pace.at_first_wait] == [True, False, True]
    assert pace.wait() <= 1 < waits[-1]


def test_a_stream_is_read_while_there_is_time():
    """Each read gives what comes next, the last one None."""

    async def story() -> None:
        patience, stream = StreamDeadline(10), ticks(2)
        assert [await patience.next(stream) for _ in range(3)] == [0, 1, None]
        patience.close()

    run(story())


def test_a_read_ends_when_the_time_is_over():
    """Right then, and the task that read is none the worse."""

    async def story() -> None:
        patience = StreamDeadline(2.5)
        stream = ticks(9)
        assert [await patience.next(stream) for _ in range(2)] == [0, 1]
        with pytest.raises(TimeoutError, match="half open"):
            await patience.next(stream)
        task = asyncio.current_task()
        assert asyncio.get_running_loop().time() == 2.5
        assert task is not None
        assert not task.cancelling()

    run(story())


def test_no_read_begins_after_the_time():
    """Also when the time went by between two reads."""

    async def story() -> None:
        patience = StreamDeadline(2.5)
        await asyncio.sleep(3)
        with pytest.raises(TimeoutError):
            await patience.next(ticks(1))

    run(story())


@pytest.mark.parametrize("at", [1, 2.5], ids=["before", "at the very moment"])
def test_a_task_that_is_cancelled_is_cancelled(at: float):
    """The deadline does not hide another cancellation of the task."""

    async def story() -> None:
        loop = asyncio.get_running_loop()
        patience = StreamDeadline(2.5)
        reading = asyncio.ensure_future(patience.next(ticks(1, 60)))
        loop.call_at(at, reading.cancel)
        await asyncio.wait([reading])
        patience.close()
        assert reading.cancelled()

    run(story())


def test_an_answer_must_come_in_time():
    """What comes earlier is returned, what comes later is not waited for."""

    async def story() -> None:
        assert await in_time(asyncio.sleep(1, "yes"), 2) == "yes"
        with pytest.raises(TimeoutError, match="did not answer"):
            await in_time(asyncio.sleep(5), 4)
        assert asyncio.get_running_loop().time() == 4

    run(story())
