"""Who works on the disk: one thread that does one job after the other, or the loop itself.

Answers come back to the loop in the order of the jobs, so whoever reads the disk hears of it only
after everything committed before has been published.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Protocol, TypeVar

Result = TypeVar("Result")
Answer = Callable[[Result | BaseException], None]


class Writer(Protocol):
    """Does jobs in order. ``answer`` is called in the loop with the result or the exception."""

    def submit(self, job: Callable[[], Result], answer: Answer[Result]) -> None: ...

    def stop(self) -> None:
        """End after the jobs submitted so far."""
        ...


async def done(writer: Writer, job: Callable[[], Result]) -> Result:
    """The result of a job."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def answer(outcome: Result | BaseException) -> None:
        if future.cancelled():
            return
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    writer.submit(job, answer)
    return await future


class ThreadWriter:
    """The one thread of a store. Asleep while there is nothing to do."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Result], answer: Answer[Result]) -> None:
        def run() -> None:
            outcome = _outcome(job)
            with suppress(RuntimeError):  # the loop is closed: nobody is there to hear
                self._loop.call_soon_threadsafe(answer, outcome)

        self._jobs.put(run)

    def stop(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (run := self._jobs.get()) is not None:
            run()


class LoopWriter:
    """Works inside the loop, where time is virtual and threads are not allowed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def submit(self, job: Callable[[], Result], answer: Answer[Result]) -> None:
        self._loop.call_soon(lambda: answer(_outcome(job)))

    def stop(self) -> None:
        """Nothing to end."""


def _outcome(job: Callable[[], Result]) -> Result | BaseException:
    try:
        return job()
    except BaseException as error:  # noqa: BLE001 - it is raised again in the loop
        return error
