"""A whole world that is killed repeatedly converges to what its users requested each time.

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
from tests.support.compute.world_process import WorldProcess, world_process
from tests.support.generated import depth

KILLS: Final = int(os.environ.get("COMPUTE_WORLD_KILLS", depth.either("10", "300")))
SEED: Final = int(os.environ.get("COMPUTE_WORLD_SEED", "8"))
PATIENCE: Final = 60.0  # seconds for a world to become idle
POLL: Final = 0.05
SHOWN: Final = 25  # differences that are printed
EACH: Final = depth.either(5, 12)  # kills between two checks of the status
LOST: Final = (Unavailable, Timeout)


@dataclass
class Story:
    """The requests so far, and the state of the world."""

    world: WorldProcess
    chance: Random
    wishes: Wishes = field(default_factory=lambda: {HOME: {}})
    usable: frozenset[str] = frozenset({HOME})  # projects that were seen whole
    kills: int = 0
    steps: int = 0
    took: list[float] = field(default_factory=list)  # seconds until it was at rest, each time

    async def kill_at_work(self) -> None:
        """Make a few requests, kill the world at some moment in between, and start it again.

        Acknowledged steps must be present then. The outcome of the next step is unknown.
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
        """Wait until every plane has the requested objects, and nothing else."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        while found := await self._faults():
            if loop.time() - started > PATIENCE:
                shown = "\n".join(found[:SHOWN])
                raise AssertionError(f"not at rest after {PATIENCE:g} s:\n{shown}")
            await asyncio.sleep(POLL)
        self.took.append(loop.time() - started)
        self.usable = frozenset(self.wishes)

    async def check_status(self) -> None:
        """`compute up status` reports everything as ready."""
        status = await self.world.status()
        assert len(re.findall(r"^cell +\S+ +\S+ +Ready$", status, re.MULTILINE)) == 4, status
        ready = set(re.findall(r"^project +(\S+) +Ready$", status, re.MULTILINE))
        assert ready == self.wishes.keys(), status

    async def _interrupted(self, steps: Sequence[Step]) -> int:
        """The number of steps that were acknowledged before the kill."""
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
def test_a_world_that_is_killed_repeatedly_converges(tmp_path):
    """No acknowledged write is lost, all requests are served, and deleted objects leave no trace."""
    story = asyncio.run(_lived(tmp_path / "world"))
    assert story.world.strange() == []
    assert story.steps > KILLS // 10


def test_a_census_names_what_is_missing_and_what_is_left():
    """In each plane, also in one without requests."""
    stray = builders.instance(0, namespace="ns-1")
    planes = {"core": [], "hub": [], "cell-dfw": [stray], "project-old": []}
    found = faults(Census(planes), {HOME: {"web": Wish(("DFW",), 1, "web:1", "Parallel")}})
    assert "cell-dfw: Instance ns-1/web-home-dfw-0 is left" in found
    assert f"core: Project /{HOME} is missing" in found
    assert f"project-{HOME}: is not there" in found
    assert "project-old: is still there" in found


async def _lived(data: Path) -> Story:
    cities = ",".join((*CITIES, CITIES[0]))
    async with world_process(data, f"--cities={cities}", f"--project={HOME}") as world:
        story = Story(world, Random(SEED))
        await _slow_down(world)
        await story.converge()
        checked = 0
        while story.kills < KILLS:
            await story.kill_at_work()
            if story.chance.random() < 0.5:
                await story.converge()
            if story.kills - checked >= EACH:
                checked = story.kills
                await story.converge()
                await story.check_status()
        await _end(story)
        return story


async def _slow_down(world: WorldProcess) -> None:
    """Make machines of one city slow, so that a kill interrupts a rollout."""
    settings = {"startSeconds": "0.05-0.3", "stopSeconds": "0-0.2"}
    meta = ObjectMeta(name="simulated-provider", namespace=SYSTEM)
    await world.client("cell-lhr").create(ConfigMap(metadata=meta, data=settings))


async def _end(story: Story) -> None:
    """Delete everything, and check that nothing is left."""
    for project, asked in story.wishes.items():
        for name in asked:
            step = WorkloadStep(project, name, None)
            await step.ask(story.world)
            story.wishes = step.after(story.wishes)
    await story.converge()
    await story.check_status()
