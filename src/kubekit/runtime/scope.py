"""A life that ends as a whole: the tasks of a cluster, of a controller, of a process.

Tasks end in the reverse order of their beginning, one after the other, so that a run can be
repeated exactly; a task group would end them in no order at all.
"""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

_log: Final = logging.getLogger(__name__)

Failed = Callable[[str, BaseException], None]


class Scope:
    """Tasks that are begun one by one and end together.

    A task that fails does not end the others: ``failed`` is told its name and why, and decides. By
    default it is logged. The tasks see the context that the scope was made in, or the one it was
    given, whoever begins them.
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
        self._tasks: dict[asyncio.Task[Any], None] = {}  # in the order of their beginning

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Begin a task that ends with the scope at the latest."""
        if self.closed:
            work.close()
            raise RuntimeError(f"{self.name} has ended, so {name} cannot begin")
        loop = asyncio.get_running_loop()
        context = self._context.copy()
        task = loop.create_task(work, name=f"{self.name}/{name}", context=context)
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        """End every task, the youngest first, and wait for each. Nothing can begin from here on."""
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
    """Cancel a task and wait until it is over, however it ends.

    Whoever waits may be cancelled himself, which must not be taken for the task's own end.
    """
    task.cancel()
    await asyncio.wait([task])
