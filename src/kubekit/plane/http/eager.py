"""Runs a coroutine at once, without a task.

A task starts one iteration of the loop after its creation, even if it never waits. Most requests
never wait: a list comes from memory, and so does a refusal. They are answered in the callback that
read them. All others continue when the future that they await is done.

Such a coroutine has no current task. So it may await futures, but not use ``asyncio.timeout`` or
anything else that needs a current task.
"""

from asyncio import AbstractEventLoop, Future
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T], loop: AbstractEventLoop) -> T | Future[T]:
    """The result of the coroutine if it does not wait, otherwise a future of its result."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    return _Suspended(coroutine, loop).after(waits_for)


class _Suspended:
    """A coroutine that has started and waits for a future."""

    __slots__ = ("_coroutine", "_loop", "_outcome")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], loop: AbstractEventLoop) -> None:
        self._coroutine = coroutine
        self._loop = loop
        self._outcome: Future[Any] = loop.create_future()

    def after(self, waits_for: Future[Any] | None) -> Future[Any]:
        if waits_for is None:  # a bare yield, as in asyncio.sleep(0)
            self._loop.call_soon(self._step, None)
        else:
            # The flag marks a future that was yielded by `await`; a task clears it too.
            waits_for._asyncio_future_blocking = False  # noqa: SLF001 - the protocol of awaiting
            waits_for.add_done_callback(self._step)
        return self._outcome

    def _step(self, _done: Future[Any] | None) -> None:
        # The awaited future hands its own result or exception to the coroutine.
        try:
            waits_for = self._coroutine.send(None)
        except StopIteration as end:
            if not self._outcome.done():
                self._outcome.set_result(end.value)
        except BaseException as problem:  # the caller that awaits the future gets it
            if not self._outcome.done():
                self._outcome.set_exception(problem)
            if isinstance(problem, KeyboardInterrupt | SystemExit):
                raise
        else:
            self.after(waits_for)
