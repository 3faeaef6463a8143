"""Turns are counted, not timed: which change runs, and after how many others."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import TooManyRequests
from kubekit.plane.http import eager
from kubekit.plane.http.fairness import Fairness, FairnessLimits, PlaneQueue
from tests.support.generated import depth


class Clock:
    """A clock that advances on demand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """Work that ends on demand, and the order in which it started."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self._under_way: list[tuple[str, asyncio.Future[None]]] = []

    async def work(self, name: str) -> str:
        self.started.append(name)
        ended = asyncio.get_running_loop().create_future()
        self._under_way.append((name, ended))
        await ended
        return name

    @property
    def under_way(self) -> list[str]:
        return [name for name, _ in self._under_way]

    async def finish(self, turns: int = 1) -> None:
        """End the earliest, so many times, and let others start."""
        for _ in range(turns):
            self._under_way.pop(0)[1].set_result(None)
            await settle()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def async_test(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test())  # type: ignore[arg-type]  # a coroutine function

    run.__doc__, run.__name__ = test.__doc__, test.__name__
    return run


def start(queue: PlaneQueue, bench: Bench, *names: str) -> list["asyncio.Task[str]"]:
    return [asyncio.ensure_future(queue.run(bench.work(name))) for name in names]


async def drain(bench: Bench, tasks: list["asyncio.Task[Any]"]) -> None:
    while bench.under_way:
        await bench.finish()
    await asyncio.gather(*tasks, return_exceptions=True)


@async_test
async def test_work_starts_at_once_while_there_are_seats():
    """A coroutine that need not wait for a turn is not put off to the next one of the loop."""

    async def quick() -> int:
        return 7

    fairness = Fairness(FairnessLimits(in_flight=1))
    assert eager.run(fairness.queue().run(quick()), asyncio.get_running_loop()) == 7
    assert fairness.free == 1


@async_test
async def test_t6_many_changes_delay_another_plane_by_one_turn():
    """With a thousand changes of one plane waiting, the other's is the next but one to start."""
    fairness, bench = Fairness(FairnessLimits(in_flight=4, per_plane=4, queue_length=2000)), Bench()
    many = start(fairness.queue(), bench, *(f"a{n}" for n in range(1000)))
    await settle()
    other = start(fairness.queue(), bench, "b")
    await settle()

    await bench.finish(turns=2)

    assert "b" in bench.started
    assert len(bench.started) <= 6
    await drain(bench, [*many, *other])


@async_test
async def test_t6_a_plane_never_takes_all_seats():
    """Another plane finds one without any turn when one plane is at its own bound."""
    fairness, bench = Fairness(FairnessLimits(in_flight=3, per_plane=2)), Bench()
    many = start(fairness.queue(), bench, "a1", "a2", "a3")
    await settle()
    other = start(fairness.queue(), bench, "b1")
    await settle()
    assert bench.under_way == ["a1", "a2", "b1"]
    await drain(bench, [*many, *other])


@async_test
async def test_t6_planes_take_turns():
    """Each of several busy planes gets a seat before any gets a second one."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1, per_plane=1)), Bench()
    tasks = []
    for name in "abc":
        tasks += start(fairness.queue(), bench, f"{name}1", f"{name}2", f"{name}3")
        await settle()
    await bench.finish(turns=8)
    assert [name[0] for name in bench.started] == list("abcabcabc")
    await drain(bench, tasks)


@async_test
async def test_a_plane_is_served_in_the_order_of_requests():
    """Within one queue the first comes first."""
    fairness, bench = Fairness(FairnessLimits(in_flight=2, per_plane=1)), Bench()
    tasks = start(fairness.queue(), bench, *"12345")
    await settle()
    await drain(bench, tasks)
    assert bench.started == list("12345")
    assert fairness.free == 2


@async_test
async def test_too_many_waiting_is_refused():
    """The error says when to retry, and the work is never started."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1, queue_length=1)), Bench()
    queue = fairness.queue()
    tasks = start(queue, bench, "1", "2")
    await settle()
    with pytest.raises(TooManyRequests) as refusal:
        await queue.run(bench.work("3"))
    assert refusal.value.details is not None
    assert refusal.value.details.retry_after_seconds == 1
    assert "1 requests of this plane wait already" in refusal.value.message
    assert (queue.waiting, queue.refused) == (1, 1)
    await drain(bench, tasks)
    assert bench.started == ["1", "2"]


@async_test
async def test_no_change_waits_indefinitely():
    """A change that waited too long is refused at its turn, and the next one gets it."""
    clock, bench = Clock(), Bench()
    queue = Fairness(FairnessLimits(in_flight=1, queue_timeout=5), clock).queue()
    tasks = start(queue, bench, "1", "late")
    await settle()
    clock.now = 4.0
    tasks += start(queue, bench, "3")
    await settle()
    clock.now = 6.0
    await bench.finish()
    assert bench.under_way == ["3"]
    with pytest.raises(TooManyRequests):
        await tasks[1]
    await drain(bench, tasks)


@async_test
async def test_a_cancelled_change_takes_no_turn():
    """A waiter that is cancelled leaves its place to the next, and its work is closed."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1)), Bench()
    queue = fairness.queue()
    tasks = start(queue, bench, "1", "gone", "3")
    await settle()
    tasks[1].cancel()
    await settle()
    await bench.finish()
    assert bench.started == ["1", "3"]
    await drain(bench, tasks)
    assert fairness.free == 1


@async_test
async def test_a_seat_given_to_a_cancelled_change_is_free_again():
    """A change that is cancelled in the moment it gets a seat does not keep it."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1)), Bench()
    queue = fairness.queue()
    tasks = start(queue, bench, "1", "gone", "3")
    await settle()
    tasks[0].cancel()
    tasks[1].get_loop().call_soon(tasks[1].cancel)
    await settle()
    assert bench.started == ["1", "3"]
    bench._under_way.pop(0)
    await drain(bench, tasks)
    assert (fairness.free, queue.in_flight) == (1, 0)


@async_test
async def test_work_that_fails_gives_its_seat_back():
    """Whatever ends the work ends its turn."""

    async def fail() -> None:
        raise ValueError("no")

    fairness = Fairness(FairnessLimits(in_flight=1))
    with pytest.raises(ValueError, match="no"):
        await fairness.queue().run(fail())
    assert fairness.free == 1


@async_test
async def test_w1_a_change_that_waits_for_a_webhook_blocks_no_other():
    """A change that waits for a task has no seat meanwhile: what the task asks for needs one."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1, per_plane=1)), Bench()
    queue = fairness.queue()

    async def asking() -> str:
        inner = queue.run(bench.work("inner"))
        return await asyncio.ensure_future(inner)

    outer = asyncio.ensure_future(queue.run(asking()))
    await settle()
    assert (bench.under_way, queue.in_flight, queue.suspended) == (["inner"], 1, 1)
    await bench.finish()
    assert await outer == "inner"
    assert (fairness.free, queue.in_flight, queue.suspended) == (1, 0, 0)


@async_test
async def test_w1_changes_that_wait_for_webhooks_count_as_waiting():
    """There are not more of them than may wait at all."""
    queue = Fairness(FairnessLimits(in_flight=1, queue_length=2)).queue()
    answer = asyncio.get_running_loop().create_future()

    async def asking() -> None:
        await asyncio.ensure_future(_until(answer))

    tasks = [asyncio.ensure_future(queue.run(asking())) for _ in range(2)]
    await settle()
    with pytest.raises(TooManyRequests):
        await queue.run(asking())
    answer.set_result(None)
    await asyncio.gather(*tasks)


async def _until(answer: "asyncio.Future[None]") -> None:
    await asyncio.shield(answer)


@async_test
async def test_a_change_cancelled_while_it_waits_for_a_webhook_leaves_nothing():
    """Cancelled or refused there, its seat is free and the work receives the exception."""
    fairness = Fairness(FairnessLimits(in_flight=1))
    queue = fairness.queue()
    ends: list[str] = []

    async def asking(answer: "asyncio.Future[None]") -> None:
        try:
            await asyncio.ensure_future(_until(answer))
        except BaseException as end:
            ends.append(type(end).__name__)
            raise

    answers = [asyncio.get_running_loop().create_future() for _ in range(2)]
    tasks = [asyncio.ensure_future(queue.run(asking(answer))) for answer in answers]
    await settle()
    tasks[0].cancel()
    answers[1].set_exception(ValueError("no"))
    await asyncio.gather(*tasks, return_exceptions=True)
    assert ends == ["CancelledError", "ValueError"]
    assert (fairness.free, queue.in_flight, queue.suspended) == (1, 0, 0)


@async_test
async def test_a_cancelled_change_does_not_count_as_waiting():
    """Its place is free at once, and not only when its turn would have come."""
    fairness, bench = Fairness(FairnessLimits(in_flight=1, queue_length=1)), Bench()
    queue = fairness.queue()
    tasks = start(queue, bench, "1", "gone")
    await settle()
    tasks[1].cancel()
    await settle()
    assert queue.waiting == 0
    tasks += start(queue, bench, "3")
    await settle()
    await drain(bench, tasks)
    assert bench.started == ["1", "3"]


def test_a_rate_lets_bursts_through_and_then_so_many_a_second():
    """Tokens come back with time, and never more than a burst of them."""
    clock = Clock()
    queue = Fairness(FairnessLimits(rate=2, burst=3), clock).queue()
    for _ in range(3):
        queue.check_rate()
    with pytest.raises(TooManyRequests) as refusal:
        queue.check_rate()
    assert refusal.value.details is not None
    assert refusal.value.details.retry_after_seconds == 1
    clock.now = 100.0
    for _ in range(3):
        queue.check_rate()
    with pytest.raises(TooManyRequests):
        queue.check_rate()


def test_without_a_rate_nothing_is_counted():
    """There is no limit unless one is configured."""
    queue = Fairness().queue()
    for _ in range(10_000):
        queue.check_rate()
    assert queue.refused == 0


def test_t6_a_plane_has_so_many_watches():
    """One watch more than allowed is refused, with a time to come again."""
    queue = Fairness(FairnessLimits(watches=2)).queue()
    queue.check_watches(1)
    with pytest.raises(TooManyRequests) as refusal:
        queue.check_watches(2)
    assert "2 watches" in refusal.value.message


@settings(max_examples=depth.examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_seats_are_never_lost_nor_shared(steps, in_flight, per_plane):
    """Whatever comes and ends in whatever order: bounds hold, all is served, all seats are free."""

    async def story() -> None:
        fairness = Fairness(FairnessLimits(in_flight=in_flight, per_plane=per_plane))
        queues, bench, tasks = [fairness.queue() for _ in range(4)], Bench(), []
        for queue, ends in steps:
            tasks += start(queues[queue], bench, str(queue))
            await settle()
            await bench.finish(min(ends, len(bench.under_way)))
            assert len(bench.under_way) <= in_flight
            assert all(each.in_flight <= per_plane for each in queues)
            waiting = [each for each in queues if each.waiting and each.in_flight < per_plane]
            assert not (fairness.free and waiting)
        await drain(bench, tasks)
        assert len(bench.started) == len(steps)
        assert fairness.free == in_flight

    asyncio.run(story())
