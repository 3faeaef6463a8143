"""Backoff between attempts, and deadlines for responses and streams."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

_TOO_LONG: Final = "the stream did not end by its deadline and counts as half open"


class JitteredBackoff:
    """Exponential backoff with jitter: each wait is shortened randomly by up to a half."""

    def __init__(self, chance: Random, first: float, most: float) -> None:
        self._chance = chance
        self._first = self._next = first
        self._most = most

    @property
    def at_first_wait(self) -> bool:
        """Whether there was no wait since the start, or since the last `reset`."""
        return self._next == self._first

    def wait(self) -> float:
        """The seconds of the next wait."""
        wait, self._next = self._next, min(self._next * 2, self._most)
        return wait * self._chance.uniform(0.5, 1)

    def reset(self) -> None:
        """Start again with the first wait."""
        self._next = self._first


class StreamDeadline:
    """The deadline of a stream that one task reads, by the loop's clock.

    One timer serves all reads. `asyncio.timeout_at` would set one for each, which for a stream of
    changes costs as much as reading them.
    """

    def __init__(self, deadline: float) -> None:
        self._timer = asyncio.get_running_loop().call_at(deadline, self._end)
        self._over = False
        self._expired_in_read = False  # the deadline passed in the middle of a read
        self._waiting: asyncio.Task[object] | None = None

    async def next(self, stream: AsyncIterator[T]) -> T | None:
        """The next item, None at the end of the stream; `TimeoutError` after the deadline."""
        if self._over:
            raise TimeoutError(_TOO_LONG)
        task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        self._waiting = task
        try:
            return await anext(stream, None)
        except asyncio.CancelledError:
            # Another cancellation at the same moment must not be swallowed.
            if self._expired_in_read and task.uncancel() <= before:
                raise TimeoutError(_TOO_LONG) from None
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        """Cancel the timer."""
        self._timer.cancel()

    def _end(self) -> None:
        self._over = True
        if self._waiting is not None:
            self._expired_in_read = True
            self._waiting.cancel()


async def in_time(answer: Awaitable[T], deadline: float) -> T:
    """The answer, or `TimeoutError` at this time of the loop's clock."""
    try:
        async with asyncio.timeout_at(deadline):
            return await answer
    except TimeoutError as error:
        raise TimeoutError("the server did not answer in time") from error
