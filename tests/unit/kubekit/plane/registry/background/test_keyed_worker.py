"""The chores of a plane: once at a time, again when something changed, later when refused."""

import asyncio
from itertools import pairwise

from kubekit.api.errors import Unavailable
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from tests.support.kubekit import virtual_time


def test_a_key_added_twice_is_looked_at_once():
    """What waits already is not made to wait twice."""

    async def scenario():
        seen: list[str] = []
        chores = KeyedWorker(_noting(seen))
        chores.add("a")
        chores.add("a")
        chores.add("b")
        await chores.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "b"]


def test_a_key_added_while_it_is_looked_at_is_looked_at_again():
    """A look may have read what was there before the change."""

    async def scenario():
        seen = []

        async def look(key):
            seen.append(key)
            if len(seen) == 1:
                chores.add(key)

        chores = KeyedWorker(look)
        chores.add("a")
        await chores.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "a"]


def test_no_key_is_looked_at_twice_at_once_and_not_too_many_together():
    """Each key has one look at a time, and the number of looks is bounded."""

    async def scenario():
        running, most = [], 0

        async def look(key):
            nonlocal most
            assert key not in running
            running.append(key)
            most = max(most, len(running))
            await asyncio.sleep(1)
            running.remove(key)

        chores = KeyedWorker(look, max_concurrent=3)
        for key in range(10):
            chores.add(key)
        await asyncio.sleep(0.5)
        for key in range(10):
            chores.add(key)
        await chores.rest()
        return most, asyncio.get_running_loop().time()

    most, took = virtual_time.run(scenario())
    assert most == 3
    assert took >= 13 / 3


def test_a_refused_key_is_tried_again_later_each_time():
    """A plane whose disk is full must not be hammered by its own chores."""

    async def scenario():
        moments = []

        async def look(_key):
            moments.append(asyncio.get_running_loop().time())
            if len(moments) < 5:
                raise Unavailable("the disk is full")

        chores = KeyedWorker(look)
        chores.add("a")
        await chores.rest()
        return moments

    moments = virtual_time.run(scenario())
    waits = [round(b - a, 3) for a, b in pairwise(moments)]
    assert waits == [0.05, 0.1, 0.2, 0.4]


def test_a_change_does_not_wait_for_the_retry():
    """A refused key that changes is looked at at once, and once only."""

    async def scenario():
        moments = []

        async def look(_key):
            moments.append(asyncio.get_running_loop().time())
            if len(moments) == 1:
                raise Unavailable("not now")

        chores = KeyedWorker(look)
        chores.add("a")
        await asyncio.sleep(0.01)
        chores.add("a")
        await chores.rest()
        return moments

    assert virtual_time.run(scenario()) == [0.0, 0.01]


def test_closing_ends_the_wait_for_rest():
    """`rest` returns, although a key was still to be retried."""

    async def scenario():
        async def look(_key):
            raise Unavailable("the disk is full")

        chores = KeyedWorker(look)
        chores.add("a")
        await asyncio.sleep(0.01)
        resting = asyncio.ensure_future(chores.rest())
        await asyncio.sleep(0)
        await chores.close()
        await asyncio.wait_for(resting, 1)
        return chores.idle

    assert virtual_time.run(scenario())


def test_a_fault_on_one_key_leaves_the_others_alone(caplog):
    """One object that our code cannot stand is logged; all the others are served."""

    async def scenario():
        seen = []

        async def look(key):
            if key == "poison":
                raise KeyError(key)
            seen.append(key)

        chores = KeyedWorker(look, max_concurrent=1)
        for key in ("poison", "a", "b"):
            chores.add(key)
        await chores.rest()
        return seen

    assert virtual_time.run(scenario()) == ["a", "b"]
    assert "reconcile failed" in caplog.text


def test_closing_stops_what_runs_and_what_waits():
    """After closing nothing is looked at any more."""

    async def scenario():
        seen = []

        async def look(key):
            await asyncio.sleep(1)
            seen.append(key)

        chores = KeyedWorker(look, max_concurrent=1)
        for key in ("a", "b"):
            chores.add(key)
        await asyncio.sleep(0.5)
        await chores.close()
        chores.add("c")
        await asyncio.sleep(10)
        return seen, chores.idle

    assert virtual_time.run(scenario()) == ([], True)


def _noting(seen):
    async def look(key):
        seen.append(key)

    return look
