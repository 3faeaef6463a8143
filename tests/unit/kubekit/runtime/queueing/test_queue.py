"""The work queue: order, timers, turns of clusters, and its metrics."""

import asyncio
import tracemalloc

import pytest

from kubekit.runtime.queueing.queue import QueueClosed, WorkQueue
from kubekit.runtime.requests import Request, cluster_name
from tests.support.kubekit.virtual_time import run

EAST = cluster_name("east")
WEST = cluster_name("west")


def key(name, cluster=EAST):
    return Request(cluster, "ns", name)


async def taken(queue):
    """Every key that is ready, in the order in which it is handed out, each given back at once."""
    keys = []
    while len(queue):
        keys.append(await queue.take())
        queue.done(keys[-1])
    return keys


def test_a_key_added_often_is_handed_out_once():
    """Several adds of a waiting key are one add."""

    async def story():
        queue = WorkQueue()
        for name in ("a", "b", "a", "a"):
            queue.add(key(name))
        return await taken(queue), queue.adds

    assert run(story()) == ([key("a"), key("b")], 2)


def test_a_key_added_while_in_hand_waits_for_its_taker():
    """The second pass of a key starts after the first has ended, and not before."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        first = await queue.take()
        queue.add(first)
        queue.add(first)
        during = len(queue)
        queue.done(first)
        return during, await taken(queue)

    assert run(story()) == (0, [key("a")])


def test_a_key_that_was_not_taken_cannot_be_done():
    """A worker that gives back what it does not have is an error, not a silent second taker."""

    async def story():
        WorkQueue().done(key("a"))

    with pytest.raises(KeyError):
        run(story())


def test_reliability_class_9_delayed_adds_of_a_key_do_not_pile_up():
    """A key asked for again and again with a delay is processed once, not once for each add."""

    async def story():
        queue = WorkQueue()
        for _ in range(1000):
            queue.add_after(key("a"), 5)
        waiting = queue.delayed
        await asyncio.sleep(60)
        return waiting, await taken(queue), queue.delayed

    assert run(story()) == (1, [key("a")], 0)


def test_reliability_class_9_a_pass_that_asks_to_look_again_runs_at_that_pace():
    """A key that is added during each pass, and again after it, still has one pass for each add."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        passes = 0
        async with asyncio.timeout(600) as limit:
            while asyncio.get_running_loop().time() < 300:
                request = await queue.take()
                passes += 1
                queue.add_after(request, 30)
                queue.add_after(request, 10)
                queue.done(request)
                queue.add_after(request, 20)
            limit.reschedule(None)
        return passes

    assert run(story()) == 31


@pytest.mark.parametrize(
    ("delays", "expected"), [((9, 3, 6), 3), ((3, 9), 3), ((5, 0), 0), ((5, -1), 0)]
)
def test_the_earliest_of_delayed_adds_wins(delays, expected):
    """The earliest of several delayed adds counts; no delay means at once."""

    async def story():
        queue = WorkQueue()
        for delay in delays:
            queue.add_after(key("a"), delay)
        await queue.take()
        return asyncio.get_running_loop().time()

    assert run(story()) == expected


def test_an_add_replaces_the_timer():
    """After a pass nothing is left of a timer that was set before it."""

    async def story():
        queue = WorkQueue()
        queue.add_after(key("a"), 5)
        queue.add(key("a"))
        first = await taken(queue)
        await asyncio.sleep(60)
        return first, len(queue)

    assert run(story()) == ([key("a")], 0)


def test_a_timer_that_ends_during_the_pass_asks_for_another():
    """A delay shorter than the pass itself is not lost."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        first = await queue.take()
        queue.add_after(first, 1)
        await asyncio.sleep(2)
        queue.done(first)
        return await taken(queue)

    assert run(story()) == [key("a")]


def test_a_noisy_cluster_does_not_starve_a_quiet_one():
    """With two clusters that have work, each waits for one take of the other."""

    async def story():
        queue = WorkQueue()
        for number in range(1000):
            queue.add(key(str(number)))
        queue.add(key("x", WEST))
        queue.add(key("y", WEST))
        return [await queue.take() for _ in range(5)]

    expected = [key("0"), key("x", WEST), key("1"), key("y", WEST), key("2")]
    assert run(story()) == expected


def test_a_cluster_keeps_its_place_while_it_adds():
    """Events that keep coming do not put a cluster behind others again and again."""

    async def story():
        queue = WorkQueue()
        for number in range(5):
            queue.add(key(str(number), WEST))
        served = []
        for number in range(4):
            queue.add(key(str(number)))
            served.append((await queue.take()).cluster)
        return served

    assert run(story()) == [WEST, EAST, WEST, EAST]


def test_a_cluster_that_hangs_leaves_workers_to_others():
    """With a limit for each cluster, its keys stay ready while that many are in hand."""

    async def story():
        queue = WorkQueue(at_once=2)
        for name in "abc":
            queue.add(key(name))
        hanging = [await queue.take(), await queue.take()]
        sleeper = asyncio.ensure_future(queue.take())
        await asyncio.sleep(1)
        queue.add(key("x", WEST))
        other = await sleeper
        queue.done(hanging[0])
        return hanging, other, await queue.take()

    assert run(story()) == ([key("a"), key("b")], key("x", WEST), key("c"))


def test_a_disengaged_cluster_is_forgotten():
    """Ready keys, timers and second passes of a cluster are gone; other clusters keep theirs."""

    async def story():
        queue = WorkQueue()
        for name in "abc":
            queue.add(key(name))
        in_hand = await queue.take()
        queue.add(in_hand)
        queue.add_after(key("d"), 1)
        queue.add(key("x", WEST))
        queue.drop(EAST)
        queue.done(in_hand)
        await asyncio.sleep(5)
        return await taken(queue)

    assert run(story()) == [key("x", WEST)]


def test_a_cluster_that_comes_back_waits_for_the_pass_in_hand():
    """A key of a cluster that left and came back has no second taker beside the first."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        in_hand = await queue.take()
        queue.drop(EAST)
        queue.add(key("a"))
        during = len(queue)
        queue.done(in_hand)
        return during, await taken(queue)

    assert run(story()) == (0, [key("a")])


def test_a_closed_queue_hands_out_nothing():
    """Takers end, new adds are ignored, and keys in processing can still be done."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        in_hand = await queue.take()
        queue.add(in_hand)
        sleeper = asyncio.ensure_future(queue.take())
        await asyncio.sleep(1)
        queue.close()
        queue.add(key("b"))
        queue.add_after(key("c"), 1)
        queue.done(in_hand)
        with pytest.raises(QueueClosed):
            await sleeper
        with pytest.raises(QueueClosed):
            await queue.take()
        return len(queue), queue.delayed

    assert run(story()) == (0, 0)


def test_a_taker_cancelled_as_it_is_woken_passes_the_key_on():
    """No wake-up is lost when a worker ends at the moment a key was meant for it."""

    async def story():
        queue = WorkQueue()
        first = asyncio.ensure_future(queue.take())
        second = asyncio.ensure_future(queue.take())
        await asyncio.sleep(1)  # until both sleep
        queue.add(key("a"))
        first.cancel()
        return await second

    assert run(story()) == key("a")


def test_a_key_goes_to_a_taker_that_still_wants_it():
    """A sleeper that was cancelled is passed over."""

    async def story():
        queue = WorkQueue()
        first = asyncio.ensure_future(queue.take())
        second = asyncio.ensure_future(queue.take())
        await asyncio.sleep(1)  # until both sleep
        first.cancel()
        queue.add(key("a"))
        return await second

    assert run(story()) == key("a")


def test_a_taker_lets_others_run_first():
    """A worker whose passes never wait does not hold the loop."""

    async def story():
        queue = WorkQueue()
        others = 0

        async def other():
            nonlocal others
            while True:
                others += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(other())
        for number in range(10):
            queue.add(key(str(number)))
        await taken(queue)
        beside.cancel()
        return others

    assert run(story()) >= 9


def test_the_queue_tells_how_long_keys_wait_and_work():
    """Durations, ages and counts are those of the loop's clock."""

    async def story():
        queue = WorkQueue()
        queue.add(key("a"))
        queue.add(key("x", WEST))
        await asyncio.sleep(2)
        first = await queue.take()
        await asyncio.sleep(3)
        at_five = (queue.oldest_age, queue.unfinished_seconds, queue.longest_running_seconds)
        second = await queue.take()
        await asyncio.sleep(1)
        at_six = (queue.oldest_age, queue.unfinished_seconds, queue.longest_running_seconds)
        queue.done(first)
        queue.done(second)
        queue.add_after(first, 1)
        idle = (queue.unfinished_seconds, queue.longest_running_seconds, queue.retries)
        return at_five, at_six, idle, queue.queued.total, queue.worked.total

    assert run(story()) == ((5, 3, 3), (0, 5, 4), (0, 0, 1), 2 + 5, 4 + 1)


def test_memory_follows_the_number_of_distinct_keys():
    """A storm of events, delays and passes of few keys leaves nothing behind."""

    async def story():
        queue = WorkQueue()
        keys = [key(str(number)) for number in range(10)]

        async def storm():
            for _ in range(200):
                for each in keys:
                    queue.add_after(each, 5)
                    queue.add(each)
                    queue.add(each)
                await taken(queue)

        await storm()
        tracemalloc.start()
        await storm()
        await storm()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return held

    assert run(story()) < 50_000


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [1, 1000])
def test_work_for_each_key_does_not_grow_with_their_number(clusters):
    """A hundred thousand keys are added, added again, taken and given back, each once."""

    async def story():
        names = [cluster_name(f"c{number}") for number in range(clusters)]
        keys = [key(str(number), names[number % clusters]) for number in range(100_000)]
        queue = WorkQueue()
        for each in (*keys, *keys):
            queue.add(each)
        assert len(queue) == len(keys)
        return len(set(await taken(queue)))

    assert run(story()) == 100_000
