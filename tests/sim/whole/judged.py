"""Whole worlds, as shipped and without faults, with a judge that observes everything."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from compute.app.planes import OpenPlanes, PlaneRef
from compute.app.sites import sites
from compute.app.world import World
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent
from kubekit.runtime.controller_factory import ControllerFactory
from tests.integration.worlds import CITIES, Watched
from tests.sim.planes import environment
from tests.sim.trace import Trace
from tests.sim.whole.judge import Judge
from tests.sim.whole.processes import CountingKit
from tests.sim.whole.simulated import MemoryPlanes
from tests.support.kubekit.virtual_time import run

CALM = 0.5  # seconds: nothing is late here, so no decision is on its way for longer

Story = Callable[["JudgedWorld"], Coroutine[Any, Any, None]]


class CountedWorld(World):
    """A world as shipped, whose judge also observes every pass of its controllers."""

    judge: Judge

    def factory(self, part: str) -> ControllerFactory:
        return CountingKit(self._environment, part, self.judge)


class JudgedWorld(Watched):
    """A world with clients for its planes, and the judge."""

    judge: Judge

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        super().opened(ref, plane)
        plane.store.listen(partial(self._committed, ref))

    @property
    def all_planes(self) -> dict[PlaneRef, Plane]:
        return {ref: self.world.planes[ref] for ref in self.world.planes}

    def _committed(self, ref: PlaneRef, _: str, event: ChangeEvent) -> None:
        self.judge.committed(ref, event)


def judged(story: Story, cities: Sequence[str] = CITIES, seed: str = "judged") -> Judge:
    """Run a story in a world that has a project, up to the first violation, and return its judge."""

    async def main() -> Judge:
        planes = OpenPlanes(MemoryPlanes(seed))
        world = CountedWorld(planes, sites(cities), environment(seed))
        watched = JudgedWorld(world=world)
        watched.judge = world.judge = Judge(Trace(), CALM)
        planes.join(watched)
        try:
            await watched.world.start()
            await _until_violated(watched, story)
        finally:
            await watched.world.stop()
        return watched.judge

    return run(main())


async def _until_violated(world: JudgedWorld, story: Story) -> None:
    async def acts() -> None:
        await world.make_project()
        await story(world)

    playing = asyncio.ensure_future(acts())
    judging = asyncio.ensure_future(world.judge.violated.wait())
    await asyncio.wait([playing, judging], return_when=asyncio.FIRST_COMPLETED)
    for task in (judging, playing):
        task.cancel()
        await asyncio.wait([task])
    if not playing.cancelled() and not world.judge.violation:
        playing.result()
