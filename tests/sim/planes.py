"""Planes for simulated worlds: real planes on a disk in memory, with the time of the loop."""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.plane import Plane
from kubekit.plane.store.store import Store, StoreSettings
from tests.sim.kinds import served

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SETTINGS: Final = StoreSettings(sealed=frozenset())  # a key would be drawn outside of the seed
_numbers = count()


def environment(seed: str, offset: timedelta = timedelta()) -> ExecutionEnvironment:
    """The time of the running loop, with an optional clock error, and a random source of its own."""
    start = START + offset
    return ExecutionEnvironment(
        now=lambda: start + timedelta(seconds=asyncio.get_running_loop().time()),
        chance=Random(seed),
    )


async def open_plane(seed: str) -> Plane:
    """A plane that leaves no files behind. Opening it takes 3 ms."""
    path = _folder() / f"{next(_numbers)}.db"
    around = environment(seed)
    store = await Store.open(path, around, _SETTINGS, threaded=False, vfs="memdb")
    path.with_name(f"{path.name}.lock").unlink()  # it is held by its descriptor
    return await Plane.on(store, served(), around)


def _folder() -> Path:
    return Path(_made().name)


@cache
def _made() -> tempfile.TemporaryDirectory[str]:
    """A place for names, removed when the interpreter ends."""
    return tempfile.TemporaryDirectory(prefix="compute-sim-")
