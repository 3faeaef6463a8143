"""The worker of a plane: once at a time, again when something changed, later when refused."""

import asyncio
from itertools import pairwise

from kubekit.api.errors import Unavailable
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from tests.support.kubekit import virtual_time


def test_a_key_added_twice_is_reconciled_once():
    """What waits already is not made to wait twice."""

    async def scenario():
        seen: list[str] = []
        worker = KeyedWorker(_noting(seen))
        worker.add("a")
        worker.add("a")
        worker.add("b")
        await worker.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "b"]


def test_a_key_added_while_it_is_reconciled_is_requeued():
    """The running pass may have read the state before the change."""

    async def scenario():
        seen = []

        async def reconcile(key):
            seen.append(key)
            if len(seen) == 1:
                worker.add(key)

        worker = KeyedWorker(reconcile)
        worker.add("a")
        await worker.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "a"]


def test_no_key_runs_twice_at_once_and_concurrency_is_bounded():
    """Each key has one pass at a time, and the number of concurrent passes is bounded."""

    async def scenario():
        running, most = [], 0

        async def reconcile(key):
            nonlocal most
            assert key not in running
            running.append(key)
            most = max(most, len(running))
            await asyncio.sleep(1)
            running.remove(key)

        worker = KeyedWorker(reconcile, max_concurrent=3)
        for key in range(10):
            worker.add(key)
        await asyncio.sleep(0.5)
        for key in range(10):
            worker.add(key)
        await worker.rest()
        return most, asyncio.get_running_loop().time()

    most, took = virtual_time.run(scenario())
    assert most == 3
    assert took >= 13 / 3


def test_a_refused_key_is_tried_again_later_each_time():
    """A plane whose disk is full must not be hammered by its own worker."""

    async def scenario():
        moments = []

        async def reconcile(_key):
            moments.append(asyncio.get_running_loop().time())
            if len(moments) < 5:
                raise Unavailable("the disk is full")

        worker = KeyedWorker(reconcile)
        worker.add("a")
        await worker.rest()
        return moments

    moments = virtual_time.run(scenario())
    waits = [round(b - a, 3) for a, b in pairwise(moments)]
    assert waits == [0.05, 0.1, 0.2, 0.4]


def test_a_change_does_not_wait_for_the_retry():
    """A refused key that changes is reconciled at once, and once only."""

    async def scenario():
        moments = []

        async def reconcile(_key):
            moments.append(asyncio.get_running_loop().time())
            if len(moments) == 1:
                raise Unavailable("not now")

        worker = KeyedWorker(reconcile)
        worker.add("a")
        await asyncio.sleep(0.01)
        worker.add("a")
        await worker.rest()
        return moments

    assert virtual_time.run(scenario()) == [0.0, 0.01]


def test_closing_ends_the_wait_for_rest():
    """`rest` returns, although a key was still to be retried."""

    async def scenario():
        async def reconcile(_key):
            raise Unavailable("the disk is full")

        worker = KeyedWorker(reconcile)
        worker.add("a")
        await asyncio.sleep(0.01)
        resting = asyncio.ensure_future(worker.rest())
        await asyncio.sleep(0)
        await worker.close()
        await asyncio.wait_for(resting, 1)
        return worker.idle

    assert virtual_time.run(scenario())


def test_a_fault_on_one_key_leaves_the_others_alone(caplog):
    """One object that our code cannot stand is logged; all the others are served."""

    async def scenario():
        seen = []

        async def reconcile(key):
            if key == "poison":
                raise KeyError(key)
            seen.append(key)

        worker = KeyedWorker(reconcile, max_concurrent=1)
        for key in ("poison", "a", "b"):
            worker.add(key)
        await worker.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "b"]
    assert "reconcile failed" in caplog.text


def test_closing_stops_what_runs_and_what_waits():
    """After closing no key is reconciled."""

    async def scenario():
        seen = []

        async def reconcile(key):
            await asyncio.sleep(1)
            seen.append(key)

        worker = KeyedWorker(reconcile, max_concurrent=1)
        for key in ("a", "b"):
            worker.add(key)
        await asyncio.sleep(0.5)
        await worker.close()
        worker.add("c")
        await asyncio.sleep(10)
        return seen, worker.idle

    assert virtual_time.run(scenario()) == ([], True)


def _noting(seen):
    async def reconcile(key):
        seen.append(key)

    return reconcile
