"""Whole worlds that can be compared and restarted: several worlds can share one set of planes.

Planes that are passed in can be opened again by the next world. No uid is ever used twice, so each uid
identifies one object across these worlds.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from compute.app.planes import OpenPlanes
from compute.app.sites import sites
from compute.app.world import World
from tests.integration.worlds import (
    CITIES,
    PROJECT,
    Planes,
    Story,
    Watched,
)
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.virtual_time import run


@asynccontextmanager
async def running_apart(
    cities: Sequence[str] = CITIES, planes: Planes | None = None, kind: type[World] = World
) -> AsyncIterator[Watched]:
    """A running world. The next world can open the same ``planes`` again."""
    open_planes = OpenPlanes(planes or Planes())
    world = kind(open_planes, sites(cities), environment())
    watched = Watched(world=world)
    open_planes.join(watched)
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
