"""An event loop whose every choice comes from a seed, and whose clock jumps to the next timer.

asyncio defines the order of callbacks, but not the order of tasks: here the next of the ready tasks is
chosen at random. Time moves only when nothing is ready, so a run that would hang or spin ends with an
error. A `Life` is the part of the loop that belongs to one simulated process. It can be stopped as a
whole, as by SIGSTOP, and ended as a whole, as by SIGKILL.
"""

import asyncio
import contextvars
import gc
import hashlib
import heapq
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")
MOST_STEPS: Final = 20_000  # at one instant; a busy loop takes more
_CLEANUP: Final = 1e-6  # seconds between two looks at a life that ends


class Deadlock(RuntimeError):
    """No task is ready and no timer is set: the run would hang."""


class HotLoop(RuntimeError):
    """Too many steps ran at the same virtual time: the run would spin."""


class Leftover(RuntimeError):
    """Tasks were still running at the end of the run."""


class Life:
    """The tasks and timers of one simulated process: all that were started `within` it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.paused = False
        self.over = False
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.parked: list[asyncio.Handle] = []
        self._context = contextvars.copy_context()
        self._context.run(_life.set, self)

    def within(self, function: Callable[..., T], *args: object) -> T:
        """Call a function so that all tasks it starts belong to this life."""
        return self._context.run(function, *args)

    def begin(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        loop = asyncio.get_running_loop()
        return loop.create_task(work, name=name, context=self._context.copy())

    def pause(self) -> None:
        """Stop running its tasks. Time goes on, and wake-ups from others are queued."""
        self.paused = True

    def resume(self) -> None:
        """Run its tasks again, starting with the queued wake-ups."""
        self.paused = False
        parked, self.parked = self.parked, []
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        loop.put_back(parked)

    async def end(self) -> None:
        """Cancel all its tasks, repeatedly until none is left."""
        if self.paused:
            self.resume()
        for _ in range(100):
            for task in list(self.tasks):
                task.cancel()
            if not self.tasks:
                break
            await asyncio.sleep(_CLEANUP)
        else:
            raise Leftover(f"{self.name} does not end: {_names(self.tasks)}")
        self.over = True


_life: contextvars.ContextVar[Life | None] = contextvars.ContextVar("life", default=None)


def outside() -> contextvars.Context:
    """The current context without a process: tasks started in it survive every process."""
    context = contextvars.copy_context()
    context.run(_life.set, None)
    return context


class SimLoop(asyncio.base_events.BaseEventLoop):
    """A loop without sockets, threads or waiting. ``picks`` is a digest of every choice it made."""

    _ready: deque[Any]  # the names of BaseEventLoop
    _scheduled: list[Any]

    def __init__(self, seed: int | str) -> None:
        super().__init__()
        self.steps = 0
        self.faults: list[dict[str, Any]] = []  # errors that reached no task
        self._now = 0.0
        self._instant = 0
        self._chance = random.Random(f"loop-{seed}")
        self._picks = hashlib.blake2b(digest_size=16)
        self.set_exception_handler(lambda _, context: self.faults.append(context))

    @property
    def picks(self) -> str:
        return self._picks.hexdigest()

    def time(self) -> float:
        return self._now

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None) -> asyncio.Task[Any]:
        if context is not None and _life not in context:
            context.run(_life.set, _life.get())  # a task with an empty context is part of it too
        task: asyncio.Task[Any] = super().create_task(coro, name=name, context=context)
        life = _life.get() if context is None else context.get(_life)
        if life is not None:
            life.tasks[task] = None
            task.add_done_callback(life.tasks.pop)
        return task

    def put_back(self, handles: list[asyncio.Handle]) -> None:
        """Make the queued callbacks ready."""
        self._ready.extend(handles)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override] # whatever is asked
        raise RuntimeError("there are no threads inside the simulation")

    def _process_events(self, event_list: list[Any]) -> None:
        return

    def _write_to_self(self) -> None:
        return

    def _run_once(self) -> None:
        self._move_time()
        if not (ready := self._ready):
            return
        index = self._pick(ready)
        handle = ready[index]
        del ready[index]
        self._count(index, len(ready))
        if handle._cancelled:
            return
        life = handle._context.get(_life)
        if life is not None and (life.paused or life.over):
            life.parked.append(handle)
            return
        handle._run()

    def _move_time(self) -> None:
        scheduled, ready = self._scheduled, self._ready
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)._scheduled = False
        if not ready:
            if not scheduled:
                raise Deadlock(f"nothing can happen after {self._now:.3f} s")
            if scheduled[0]._when > self._now:
                self._now = scheduled[0]._when
                self._instant = 0
        while scheduled and scheduled[0]._when <= self._now:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False
            ready.append(handle)

    def _pick(self, ready: Any) -> int:
        """A random ready task, or the first plain callback: callbacks keep their order."""
        if len(ready) == 1:
            return 0
        index = int(self._chance.random() * len(ready))
        if _is_task(ready[index]):
            return index
        return next(i for i, handle in enumerate(ready) if not _is_task(handle))

    def _count(self, index: int, others: int) -> None:
        self._picks.update(b"%d/%d " % (index, others))
        self.steps += 1
        self._instant += 1
        if self._instant > MOST_STEPS:
            raise HotLoop(f"more than {MOST_STEPS} steps at {self._now:.3f} s")


def run(work: Coroutine[Any, Any, T], loop: SimLoop) -> T:
    """Run the coroutine and return its result. It may leave no tasks behind.

    The collector rests meanwhile: when it runs, and so when a forgotten generator is closed,
    depends on more than the seed.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        result = loop.run_until_complete(work)
        left = asyncio.all_tasks(loop)
        if left:
            raise Leftover(f"at the end there was still {_names(left)}")
        return result
    finally:
        _abandon(loop)
        if collecting:
            gc.enable()


def _abandon(loop: SimLoop) -> None:
    """Close the tasks of a failed run, so that they cause no errors in a later run."""
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined] # there is no other way
        with suppress(RuntimeError):  # it waits for something on its way out
            task.get_coro().close()
    loop.close()


def _is_task(handle: Any) -> bool:
    callback = handle._callback
    return isinstance(getattr(callback, "__self__", None), asyncio.Task)


def _names(tasks: Any) -> str:
    return ", ".join(sorted(task.get_name() for task in tasks))
