"""Runs the disk jobs one after the other, in a thread or in the loop itself.

Results return to the loop in the order of the jobs. So a disk read returns only after all earlier
commits are published.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Protocol, TypeVar

Result = TypeVar("Result")
Callback = Callable[[Result | BaseException], None]


class Writer(Protocol):
    """Runs jobs in order. ``callback`` is called in the loop with the result or the exception."""

    def submit(self, job: Callable[[], Result], callback: Callback[Result]) -> None: ...

    def stop(self) -> None:
        """End after the jobs submitted so far."""
        ...


async def run_job(writer: Writer, job: Callable[[], Result]) -> Result:
    """The result of a job."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def callback(outcome: Result | BaseException) -> None:
        if future.cancelled():
            return
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    writer.submit(job, callback)
    return await future


class ThreadWriter:
    """The one thread of a store. It sleeps while there are no jobs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Result], callback: Callback[Result]) -> None:
        def run() -> None:
            outcome = _outcome(job)
            with suppress(RuntimeError):  # the loop is closed: nothing waits for the result
                self._loop.call_soon_threadsafe(callback, outcome)

        self._jobs.put(run)

    def stop(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (run := self._jobs.get()) is not None:
            run()


class LoopWriter:
    """Runs jobs inside the loop, for simulations with virtual time, which allow no threads."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def submit(self, job: Callable[[], Result], callback: Callback[Result]) -> None:
        self._loop.call_soon(lambda: callback(_outcome(job)))

    def stop(self) -> None:
        """There is no thread to end."""


def _outcome(job: Callable[[], Result]) -> Result | BaseException:
    try:
        return job()
    except BaseException as error:  # noqa: BLE001 - it is raised again in the loop
        return error
