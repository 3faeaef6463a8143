"""Whole worlds that can be compared and restored: no uid is ever used twice.

The planes of `worlds.running` repeat their random sequence when they are opened a second time. That
is enough for a story of one world. Where two worlds are compared, or a world is stopped and started
again, each uid must identify one object.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from zlib import crc32

from compute.app.planes import OpenPlanes, PlaneRef, folder
from compute.app.sites import sites
from compute.app.world import World
from kubekit.plane.plane import DATABASE, Plane
from kubekit.plane.store.store import Store
from tests.integration.worlds import (
    CITIES,
    PROJECT,
    SETTINGS,
    Planes,
    Story,
    Watched,
    kinds,
    names_folder,
)
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.virtual_time import run


class PlanesApart(Planes):
    """Planes in memory, or in a folder, each with a seed of its own at each opening."""

    def __init__(self, data: Path | None = None) -> None:
        super().__init__(data)
        self._openings: Counter[PlaneRef] = Counter()

    async def open(self, home: PlaneRef) -> Plane:
        self._openings[home] += 1
        around = environment(crc32(f"{home.context} {self._openings[home]}".encode()))
        if self._data is not None:
            path = folder(self._data, home) / DATABASE
            store = await Store.open(path, around, SETTINGS, threaded=False)
        else:
            path = names_folder() / f"{self._number}-{home.context}.db"
            store = await Store.open(path, around, SETTINGS, threaded=False, vfs="memdb")
            path.with_name(f"{path.name}.lock").unlink()  # it is held by its descriptor
        return await Plane.on(store, kinds(home.role), around)


@asynccontextmanager
async def running_apart(
    cities: Sequence[str] = CITIES, planes: PlanesApart | None = None, kind: type[World] = World
) -> AsyncIterator[Watched]:
    """A running world. The next world can open the same ``planes`` again."""
    homes = OpenPlanes(planes or PlanesApart())
    world = kind(homes, sites(cities), environment())
    watched = Watched(world=world)
    homes.join(watched)
    try:
        await world.start()
        if PROJECT not in watched.planes:
            await watched.make_project()
        yield watched
        if world.failed.done():
            world.failed.result()
    finally:
        await world.stop()


def run_story_apart(story: Story, cities: Sequence[str] = CITIES) -> None:
    """Run a story in a world that has a project."""

    async def main() -> None:
        async with running_apart(cities) as watched:
            await story(watched)

    run(main())
