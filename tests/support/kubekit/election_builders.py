"""Candidates for one Lease, each a process of its own on a simulated network."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from kubekit.api.kinds.coordination import Lease
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.local import LocalClient
from kubekit.runtime.election import ElectionSettings, Elector, Term, Work
from tests.sim.loop import Life, SimLoop, run
from tests.sim.network import Link, Wires
from tests.sim.trace import Trace
from tests.support.kubekit import plane_worlds
from tests.support.kubekit.plane_worlds import START

SETTINGS = ElectionSettings(name="leader", namespace="default")


@dataclass
class Candidate:
    """One process: its part of the loop, its link to the plane, its elector."""

    life: Life
    link: Link
    elector: Elector
    terms: list[Term] = field(default_factory=list)
    task: asyncio.Task[Any] | None = None

    def start(self, work: Work | None = None) -> asyncio.Task[Any]:
        """Compete from now on. As the leader, run ``work``; by default, wait until cancelled."""
        self.task = self.life.begin(self.elector.lead(work or self.serve), self.life.name)
        return self.task

    async def serve(self, term: Term) -> None:
        self.terms.append(term)
        await asyncio.Event().wait()

    @property
    def leads(self) -> bool:
        return bool(self.terms) and self.terms[-1].holds()

    async def crash(self) -> None:
        """End at once, without releasing the Lease."""
        self.link.die()
        await self.life.end()

    async def leave(self) -> None:
        """End as a process does on SIGTERM."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])


class ElectionWorld:
    """A plane, and the candidates for a Lease on it."""

    def __init__(self, plane: Any, seed: int, settings: ElectionSettings) -> None:
        self.client = LocalClient(plane)
        self.candidates: list[Candidate] = []
        self._plane = plane
        self._seed = seed
        self._settings = settings
        self._wires = Wires(Trace())

    def candidate(self, ahead: float = 0.0, *, stands_still: bool = False) -> Candidate:
        """A process whose clock is ahead by some seconds, or stands still."""
        number = len(self.candidates)
        chance = Random(f"{self._seed}-{number}")
        link = Link(f"p{number}", self._plane, self._wires, Random(f"link-{self._seed}-{number}"))
        offset = timedelta(seconds=ahead)
        now = (lambda: START) if stands_still else lambda: clock() + offset
        environment = ExecutionEnvironment(now=now, chance=chance)
        elector = Elector(Client(link), "host", environment, self._settings)
        self.candidates.append(Candidate(Life(f"p{number}"), link, elector))
        return self.candidates[-1]

    def holding(self) -> list[Term]:
        """The terms of all candidates that hold at this moment."""
        return [term for each in self.candidates for term in each.terms if term.holds()]

    @property
    def revision(self) -> int:
        """The revision of the plane: the number of writes."""
        revision: int = self._plane.store.revision
        return revision

    async def lease(self) -> Lease:
        return await self.client.get(Lease, self._settings.name, self._settings.namespace)

    async def close(self) -> None:
        for candidate in self.candidates:
            await candidate.crash()
        await self._wires.close()


Story = Callable[[ElectionWorld], Awaitable[None]]


def run_story(story: Story, seed: int = 1, settings: ElectionSettings = SETTINGS) -> None:
    """Run a story in a world of its own."""
    run(_run_story(story, seed, settings), SimLoop(seed))


async def until(truth: Callable[[], object], limit: float = 60.0) -> float:
    """The seconds until the predicate became true, to a hundredth."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not truth():
        assert loop.time() < started + limit, f"it is not so after {limit} s"
        await asyncio.sleep(0.01)
    return loop.time() - started


def clock() -> Any:
    return START + timedelta(seconds=asyncio.get_running_loop().time())


async def _run_story(story: Story, seed: int, settings: ElectionSettings) -> None:
    async with _world(seed, settings) as rivals:
        await story(rivals)


@asynccontextmanager
async def _world(seed: int, settings: ElectionSettings) -> AsyncIterator[ElectionWorld]:
    with TemporaryDirectory() as directory:
        async with plane_worlds.opened(Path(directory), seed) as world:
            rivals = ElectionWorld(world.plane, seed, settings)
            try:
                yield rivals
            finally:
                await rivals.close()
