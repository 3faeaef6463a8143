"""A whole world, killed again and again while it works, comes to what its users asked for each time.

Users ask by the seed `COMPUTE_WORLD_SEED`; `COMPUTE_WORLD_KILLS` is for more or fewer kills: ten, or three
hundred in a deep run. Moments are
real ones: a seed that fails may pass the next time, so a failure tells all that it saw.
"""

import asyncio
import math
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import pytest

from compute.app.planes import SYSTEM
from kubekit.api.errors import ApiError, Timeout, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.connection import Misconfigured
from tests.durability.world_census import Census, faults, taken
from tests.durability.world_wishes import (
    CITIES,
    HOME,
    Step,
    Wish,
    Wishes,
    WorkloadStep,
    drawn,
    standing,
)
from tests.support.compute import builders
from tests.support.compute.world_process import WorldProcess, mortal
from tests.support.generated import depth

KILLS: Final = int(os.environ.get("COMPUTE_WORLD_KILLS", depth.either("10", "300")))
SEED: Final = int(os.environ.get("COMPUTE_WORLD_SEED", "8"))
PATIENCE: Final = 60.0  # seconds for a world to come to rest
LOOK: Final = 0.05
SHOWN: Final = 25  # differences that are told
EACH: Final = depth.either(5, 12)  # kills from one look at the status to the next
LOST: Final = (Unavailable, Timeout)


@dataclass
class Story:
    """What was asked for so far, and what the world made of it."""

    world: WorldProcess
    chance: Random
    wishes: Wishes = field(default_factory=lambda: {HOME: {}})
    usable: frozenset[str] = frozenset({HOME})  # projects that were seen whole
    kills: int = 0
    steps: int = 0
    took: list[float] = field(default_factory=list)  # seconds until it was at rest, each time

    async def kill_at_work(self) -> None:
        """Ask for a few things, kill the world at some moment on the way, and start it again.

        Whatever was acknowledged is there then. Of the next step nobody knows whether it is.
        """
        states, steps = [self.wishes], list[Step]()
        for _ in range(self.chance.choice((1, 2, 3))):
            steps.append(drawn(self.chance, states[-1], self.usable))
            states.append(steps[-1].after(states[-1]))
            self.usable &= states[-1].keys()
        acknowledged = await self._interrupted(steps)
        self.steps += acknowledged
        await self._kill_while_it_starts()
        await self.world.start()
        self.wishes = await standing(self.world)
        assert self.wishes in states[acknowledged : acknowledged + 2], (acknowledged, steps)

    async def converge(self) -> None:
        """Wait until every plane holds what was asked for, and nothing else."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while found := await self._faults():
            if loop.time() - began > PATIENCE:
                shown = "\n".join(found[:SHOWN])
                raise AssertionError(f"not at rest after {PATIENCE:g} s:\n{shown}")
            await asyncio.sleep(LOOK)
        self.took.append(loop.time() - began)
        self.usable = frozenset(self.wishes)

    async def look(self) -> None:
        """`compute up status` finds everything well."""
        told = await self.world.status()
        assert len(re.findall(r"^cell +\S+ +\S+ +Ready$", told, re.MULTILINE)) == 4, told
        ready = set(re.findall(r"^project +(\S+) +Ready$", told, re.MULTILINE))
        assert ready == self.wishes.keys(), told

    async def _interrupted(self, steps: Sequence[Step]) -> int:
        """How many of these were acknowledged before the world was killed."""
        acknowledged = 0

        async def ask() -> None:
            nonlocal acknowledged
            for step in steps:
                await step.ask(self.world)
                acknowledged += 1

        asking = asyncio.create_task(ask())
        await asyncio.sleep(math.exp(self.chance.uniform(math.log(0.02), math.log(1.5))))
        asking.cancel()
        await self._kill()
        with suppress(asyncio.CancelledError, *LOST):
            await asking
        return acknowledged

    async def _kill_while_it_starts(self) -> None:
        while self.kills < KILLS and self.chance.random() < 0.25:
            await self.world.begin()
            await asyncio.sleep(self.chance.uniform(0.3, 1.3))
            await self._kill()

    async def _kill(self) -> None:
        await self.world.kill()
        self.kills += 1

    async def _faults(self) -> list[str]:
        try:
            return faults(await taken(self.world), self.wishes)
        except (ApiError, Misconfigured) as refusal:  # a plane that is just being removed
            return [repr(refusal)]


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(depth.either(300, 3600))
def test_a_world_that_is_killed_again_and_again_comes_to_what_was_asked_for(tmp_path):
    """Nothing acknowledged is lost, all is served as asked, and what was deleted leaves no trace."""
    story = asyncio.run(_lived(tmp_path / "world"))
    assert story.world.strange() == []
    assert story.steps > KILLS // 10


def test_a_census_names_what_is_missing_and_what_is_left():
    """In each plane, also in one that nobody asked for."""
    stray = builders.instance(0, namespace="ns-1")
    planes = {"core": [], "hub": [], "cell-dfw": [stray], "project-old": []}
    found = faults(Census(planes), {HOME: {"web": Wish(("DFW",), 1, "web:1", "Parallel")}})
    assert "cell-dfw: Instance ns-1/web-home-dfw-0 is left" in found
    assert f"core: Project /{HOME} is missing" in found
    assert f"project-{HOME}: is not there" in found
    assert "project-old: is still there" in found


async def _lived(data: Path) -> Story:
    cities = ",".join((*CITIES, CITIES[0]))
    async with mortal(data, f"--cities={cities}", f"--project={HOME}") as world:
        story = Story(world, Random(SEED))
        await _slow_down(world)
        await story.converge()
        looked = 0
        while story.kills < KILLS:
            await story.kill_at_work()
            if story.chance.random() < 0.5:
                await story.converge()
            if story.kills - looked >= EACH:
                looked = story.kills
                await story.converge()
                await story.look()
        await _end(story)
        return story


async def _slow_down(world: WorldProcess) -> None:
    """Let machines of one city take their time, so that a kill finds a rollout half done."""
    settings = {"startSeconds": "0.05-0.3", "stopSeconds": "0-0.2"}
    meta = ObjectMeta(name="simulated-provider", namespace=SYSTEM)
    await world.client("cell-lhr").create(ConfigMap(metadata=meta, data=settings))


async def _end(story: Story) -> None:
    """Delete everything, and see that nothing stays."""
    for project, asked in story.wishes.items():
        for name in asked:
            step = WorkloadStep(project, name, None)
            await step.ask(story.world)
            story.wishes = step.after(story.wishes)
    await story.converge()
    await story.look()
