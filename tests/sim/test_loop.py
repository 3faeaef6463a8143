"""The seeded loop: its random choices, the orders it keeps, and its errors."""

import asyncio
import contextvars
import os
import subprocess
import sys

import pytest

from tests.sim.loop import Deadlock, HotLoop, Leftover, Life, SimLoop, run

ORDERS = """
import asyncio
from tests.sim.loop import SimLoop, run

async def main():
    log: list[object] = []
    async def count(name):
        for number in range(20):
            log.append(f"{name}{number}")
            await asyncio.sleep(0 if number % 3 else 0.01)
    tasks = {asyncio.ensure_future(count(name)): name for name in "abcdef"}
    for task in tasks:
        await task
    return "".join(log)

loop = SimLoop(7)
print(run(main(), loop), loop.picks, loop.steps)
"""


def finished(work, seed=0):
    return run(work, SimLoop(seed))


async def order_of_tasks():
    """The order in which ten tasks that are ready together run."""
    log: list[object] = []

    async def tell(number):
        log.append(number)

    for task in [asyncio.ensure_future(tell(number)) for number in range(10)]:
        await task
    return log


def test_the_order_of_ready_tasks_comes_from_the_seed():
    """Tasks that are ready together run in an order that the seed decides, and no other thing."""
    orders = [finished(order_of_tasks(), seed) for seed in range(5)]

    assert all(sorted(order) == list(range(10)) for order in orders)
    assert len({tuple(order) for order in orders}) == 5
    assert orders == [finished(order_of_tasks(), seed) for seed in range(5)]


def test_callbacks_keep_their_order():
    """What was asked for by call_soon runs in the order of asking, whatever the seed."""

    async def main():
        log: list[object] = []
        for number in range(10):
            asyncio.get_running_loop().call_soon(log.append, number)
        await asyncio.sleep(0.001)
        return log

    assert all(finished(main(), seed) == list(range(10)) for seed in range(5))


def test_time_moves_only_when_nothing_is_ready():
    """A timer waits until everything that can happen now has happened, and then time jumps."""

    async def main():
        log: list[object] = []
        asyncio.get_running_loop().call_later(3600.0, log.append, "hour")
        for _ in range(100):
            await asyncio.sleep(0)
        log.append("now")
        await asyncio.sleep(3600.0)
        return log, asyncio.get_running_loop().time()

    assert finished(main()) == (["now", "hour"], 3600.0)


def test_waiting_for_nothing_is_an_error():
    """A run in which nothing can ever happen again fails instead of hanging."""

    async def main():
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match=r"after 0\.000 s"):
        finished(main())


def test_a_busy_loop_is_an_error():
    """A run that never lets time move fails instead of spinning."""

    async def main():
        while True:  # noqa: ASYNC110 -- that is the mistake
            await asyncio.sleep(0)

    with pytest.raises(HotLoop, match=r"20000 steps at 0\.000 s"):
        finished(main())


def test_a_task_that_is_left_over_is_an_error():
    """A run must end all that it began."""

    async def main():
        asyncio.get_running_loop().create_task(asyncio.sleep(1.0), name="sleeper")

    with pytest.raises(Leftover, match="sleeper"):
        finished(main())


def test_there_are_no_threads():
    """Asking for a thread fails at once: its timing would not come from the seed."""

    async def main():
        await asyncio.to_thread(print)

    with pytest.raises(RuntimeError, match="no threads"):
        finished(main())


def printed_by_a_process(hashes):
    environment = {"PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", ORDERS]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_same_seed_is_the_same_run_in_every_process():
    """Orders and choices do not depend on the hash seed of the interpreter."""
    printed = [printed_by_a_process(hashes) for hashes in ("1", "777", "random")]

    assert printed[0].count("a") == 20
    assert printed == [printed[0]] * 3


async def ticking(times):
    """A task of a process that notes every second."""
    while True:
        times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1.0)


def test_a_paused_life_stands_still_and_goes_on():
    """Neither tasks nor timers of a paused process run; once resumed, it sees that time has passed."""

    async def main():
        log: list[object] = []
        life = Life("process")
        life.begin(ticking(log), "ticking")
        await asyncio.sleep(2.5)
        life.pause()
        await asyncio.sleep(60.0)
        life.resume()
        await asyncio.sleep(1.0)
        await life.end()
        return log

    assert finished(main()) == [0.0, 1.0, 2.0, 62.5, 63.5]


def test_an_ended_life_has_no_task_and_no_timer():
    """After its end nothing of a process runs: not what it began by tasks, nor its timers."""

    async def main():
        log: list[object] = []
        life = Life("process")
        life.begin(ticking(log), "ticking")
        life.within(asyncio.get_running_loop().call_later, 5.0, log.append, "timer")
        await asyncio.sleep(0.5)
        await life.end()
        await asyncio.sleep(60.0)
        return log

    assert finished(main()) == [0.0]


def test_a_task_with_a_context_of_its_own_belongs_to_its_life():
    """A task that is started in an empty context still belongs to its process."""

    async def main():
        log: list[object] = []
        kept: list[object] = []
        life = Life("process")

        async def begin():
            loop = asyncio.get_running_loop()
            kept.append(loop.create_task(ticking(log), context=contextvars.Context()))

        life.begin(begin(), "begin")
        await asyncio.sleep(0.5)
        life.pause()
        await asyncio.sleep(5.0)
        await life.end()
        return log

    assert finished(main()) == [0.0]


def test_a_task_that_refuses_to_end_is_cancelled_again():
    """A process cannot survive by catching its own cancellation a few times."""

    async def stubborn(numbers):
        for number in range(5):
            try:
                await asyncio.sleep(1000.0)
            except asyncio.CancelledError:
                numbers.append(number)

    async def main():
        log: list[object] = []
        life = Life("process")
        life.begin(stubborn(log), "stubborn")
        await asyncio.sleep(0.5)
        await life.end()
        return log

    assert finished(main()) == [0, 1, 2, 3, 4]


def test_what_cannot_be_ended_is_an_error():
    """A task that never ends would go on after the crash, so the run fails."""

    async def immortal():
        while True:
            try:
                await asyncio.sleep(1000.0)
            except asyncio.CancelledError:
                continue

    async def main():
        life = Life("process")
        life.begin(immortal(), "immortal")
        await asyncio.sleep(0.5)
        await life.end()

    with pytest.raises(Leftover, match="process does not end: immortal"):
        finished(main())
