"""A plane for tests: the real one, in a directory of the test's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.plane import Plane
from tests.support.compute import served_kinds
from tests.support.compute.builders import NOW


def environment(seed: int = 1) -> ExecutionEnvironment:
    """Random values from a seed, and a clock that advances by a millisecond with each read."""
    ticks = count()
    return ExecutionEnvironment(lambda: NOW + timedelta(milliseconds=next(ticks)), Random(seed))


@asynccontextmanager
async def open_plane(directory: Path) -> AsyncIterator[Plane]:
    """A plane with all our kinds. It commits in the loop, without a thread."""
    plane = await Plane.open(directory, served_kinds.everything(), environment(), threaded=False)
    try:
        yield plane
    finally:
        await plane.close()
