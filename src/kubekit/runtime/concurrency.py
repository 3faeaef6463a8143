"""The same call for many items, in batches that double.

Sequential writes cost one round trip each; concurrent writes share round trips and commits. The
first batch has one item, and each further batch twice as many, like ``slowStartBatch`` of
Kubernetes' own controllers. A write that the server refuses for every item then costs one request,
not a thousand.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeVar

from kubekit.runtime.scope import Scope

T = TypeVar("T")
R = TypeVar("R")

_LARGEST_BATCH: Final = 16  # calls at once


async def slow_start_batch(do: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """The results of the calls, in order.

    If a call fails, the rest of its batch is awaited, then the first error is raised. No further
    batch is started.
    """
    results: list[R] = []
    for batch in _batches(items):
        if len(batch) == 1:
            results.append(await do(batch[0]))
            continue
        scope = Scope("batch", failed=_ignore_failure)
        try:
            tasks = [scope.spawn(_awaited(do, item), str(n)) for n, item in enumerate(batch)]
            await asyncio.wait(tasks)
        finally:
            await scope.close()
        results += [task.result() for task in tasks]
    return results


async def _awaited(do: Callable[[T], Awaitable[R]], item: T) -> R:
    return await do(item)


def _ignore_failure(_task: str, _why: BaseException) -> None:
    """Do not log the failure: `slow_start_batch` raises the first error of the batch."""


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    start, size = 0, 1
    while start < len(items):
        yield items[start : start + size]
        start, size = start + size, min(2 * size, _LARGEST_BATCH)
