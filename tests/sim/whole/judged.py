"""Whole worlds, as shipped and undisturbed, with a judge who hears of everything."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from compute.app.homes import Home, Homes
from compute.app.sites import sites
from compute.app.world import World
from compute.plane.plane import Plane
from compute.plane.store.records import Event
from tests.integration.worlds import CITIES, Watched
from tests.sim.planes import environment
from tests.sim.trace import Trace
from tests.sim.whole.laws import Judge
from tests.sim.whole.simulated import MemoryPlanes
from tests.virtual_time import run

CALM = 0.5  # seconds: nothing is late here, so no decision is on its way for longer

Story = Callable[["JudgedWorld"], Coroutine[Any, Any, None]]


class JudgedWorld(Watched):
    """A world, somebody who looks at it, and the judge."""

    judge: Judge

    def opened(self, home: Home, plane: Plane) -> None:
        super().opened(home, plane)
        plane.store.listen(partial(self._committed, home))

    @property
    def all_planes(self) -> dict[Home, Plane]:
        return {home: self.world.homes[home] for home in self.world.homes}

    def _committed(self, home: Home, _: str, event: Event) -> None:
        self.judge.committed(home, event)


def judged(story: Story, cities: Sequence[str] = CITIES, seed: str = "judged") -> Judge:
    """Tell a story in a world that has a project, and hear what the judge says."""

    async def tell() -> Judge:
        homes = Homes(MemoryPlanes(seed))
        watched = JudgedWorld(world=World(homes, sites(cities), environment(seed)))
        watched.judge = Judge(Trace(), CALM)
        homes.join(watched)
        try:
            await watched.world.start()
            await watched.make_project()
            await story(watched)
        finally:
            await watched.world.stop()
        return watched.judge

    return run(tell())
