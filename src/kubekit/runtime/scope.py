"""A group of tasks that end together: those of a cluster, of a controller, of a process.

Tasks end one after the other, in the reverse order of their start, so that a run can be repeated
exactly. A task group ends its tasks in no defined order.
"""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

_log: Final = logging.getLogger(__name__)

Failed = Callable[[str, BaseException], None]


class Scope:
    """Tasks that are started one by one and end together.

    A task that fails does not end the others: ``failed`` is called with its name and the exception.
    By default the failure is logged. All tasks run in the context in which the scope was made, or in
    the given one, whatever context they are spawned from.
    """

    def __init__(
        self,
        name: str,
        failed: Failed | None = None,
        context: contextvars.Context | None = None,
    ) -> None:
        self.name = name
        self.closed = False
        self._context = contextvars.copy_context() if context is None else context
        self._failed = failed or self._log_failure
        self._tasks: dict[asyncio.Task[Any], None] = {}  # in the order of their start

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start a task that ends with the scope at the latest."""
        if self.closed:
            work.close()
            raise RuntimeError(f"{self.name} has ended, so {name} cannot start")
        loop = asyncio.get_running_loop()
        context = self._context.copy()
        task = loop.create_task(work, name=f"{self.name}/{name}", context=context)
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        """End every task, the newest first, and wait for each. No task can be spawned afterwards."""
        self.closed = True
        for task in reversed(list(self._tasks)):
            await cancel_and_wait(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._tasks[task]
        if not task.cancelled() and (why := task.exception()) is not None:
            self._failed(task.get_name(), why)

    def _log_failure(self, task: str, why: BaseException) -> None:
        _log.error("task failed", exc_info=why, extra={"task": task})


async def cancel_and_wait(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has ended, however it ends.

    The waiting task may be cancelled too. That must not be mistaken for the end of the other task.
    """
    task.cancel()
    await asyncio.wait([task])
