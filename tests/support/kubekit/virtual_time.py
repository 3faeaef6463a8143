"""An event loop whose clock jumps to the next timer, so that a test of an hour takes no time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Deadlock(RuntimeError):
    """No task is ready and no timer is set: the test would wait indefinitely."""


class _Selector:
    """Where a real loop would sleep, this one moves the clock."""

    def __init__(self) -> None:
        self.now = 0.0

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise Deadlock("nothing is ready and no timer is set")
        self.now += timeout
        return []

    def close(self) -> None:
        return


class VirtualLoop(asyncio.base_events.BaseEventLoop):
    """A loop without sockets, threads or waiting."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Selector()

    def time(self) -> float:
        return self._selector.now

    def _process_events(self, event_list: list[Any]) -> None:
        return

    def _write_to_self(self) -> None:
        return


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns, on a loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
