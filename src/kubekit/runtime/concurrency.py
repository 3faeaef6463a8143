"""Doing the same to many things, some of them at a time.

One write after the other takes as long as all their ways to the server and back. What is under way
together is committed together. It begins with one and doubles while all goes well, as Kubernetes'
own controllers do it: what every server would refuse costs one request, not a thousand.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeVar

from kubekit.runtime.scope import Scope

T = TypeVar("T")
R = TypeVar("R")

_MOST: Final = 16  # under way at once


async def slow_start_batch(do: Callable[[T], Awaitable[R]], things: Sequence[T]) -> list[R]:
    """What came of each, in order.

    What is under way when one fails is waited for, then the first error is raised; the rest is not
    begun.
    """
    done: list[R] = []
    for batch in _batches(things):
        if len(batch) == 1:
            done.append(await do(batch[0]))
            continue
        scope = Scope("together", failed=_raised_below)
        try:
            tasks = [scope.spawn(_awaited(do, thing), str(n)) for n, thing in enumerate(batch)]
            await asyncio.wait(tasks)
        finally:
            await scope.close()
        done += [task.result() for task in tasks]
    return done


async def _awaited(do: Callable[[T], Awaitable[R]], thing: T) -> R:
    return await do(thing)


def _raised_below(_task: str, _why: BaseException) -> None:
    """The first error of a wave is raised to whoever waits for it."""


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    begin, size = 0, 1
    while begin < len(things):
        yield things[begin : begin + size]
        begin, size = begin + size, min(2 * size, _MOST)
