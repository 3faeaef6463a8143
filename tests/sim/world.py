"""A world drawn from a seed: planes, processes, users and whatever goes wrong; and its judgement.

It has two halves. While things go wrong nothing may happen that the witness forbids. Then they stop
going wrong, and everything must come to where it should be, and to rest.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, Final

from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent
from kubekit.runtime.requests import ClusterName, cluster_name
from tests.sim import judgement
from tests.sim.controllers import HUB
from tests.sim.loop import SimLoop
from tests.sim.network import Wires
from tests.sim.planes import open_plane
from tests.sim.process import Process, Surroundings, Team
from tests.sim.trace import Trace
from tests.sim.users import User, Vandal
from tests.sim.weather import FAIR, Weather, drawn
from tests.sim.witness import Violation, Witness

NEMESES: Final = ("crash", "pause", "part", "swizzle", "compact", "leave")
SETTLES: Final = 1200.0  # seconds: a half-open watch is noticed after eleven minutes
# Seconds after which a watch that says nothing has been given up, and two copies of a controller that
# overwrote each other out of stale caches have stopped doing so.
UNREST: Final = 1000.0
QUIET: Final = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the seed decided for a world."""

    projects: int
    processes: int
    elected: bool
    nemeses: tuple[str, ...]
    weathers: tuple[Weather, ...]  # one for each process
    offsets: tuple[int, ...]  # seconds by which the clock of each process is wrong
    seconds: float  # of trouble
    vandals: bool
    page: int  # objects in one page of a list

    def describe(self) -> str:
        weathers = "; ".join(weather.describe() for weather in self.weathers)
        return (
            f"projects={self.projects} processes={self.processes} elected={self.elected} "
            f"nemeses={','.join(self.nemeses) or 'none'} seconds={self.seconds:.0f} "
            f"offsets={self.offsets} page={self.page} vandals={self.vandals}\n  weather: {weathers}"
        )


def options(seed: int) -> Options:
    """The options of a seed: about one world in five is free of nemeses, and one has a single one."""
    chance = Random(f"options-{seed}")
    processes = chance.choice((1, 1, 2))
    nemeses = chance.choice(
        (
            (),
            (chance.choice(NEMESES),),
            *[tuple(name for name in NEMESES if chance.random() < 0.5)] * 3,
        )
    )
    return Options(
        projects=chance.choice((1, 1, 2)),
        processes=processes,
        elected=processes > 1 and chance.random() < 0.5,
        nemeses=nemeses,
        weathers=tuple(drawn(chance) for _ in range(processes)),
        offsets=tuple(chance.choice((0, 0, -600, 600)) for _ in range(processes)),
        seconds=chance.uniform(60.0, 180.0),
        vandals=chance.random() < 0.4,
        page=chance.choice((2, 500)),
    )


class World:
    """Everything of one run."""

    def __init__(self, seed: int, team: Team, trace: Trace) -> None:
        self.seed = seed
        self.options = options(seed)
        self.trace = trace
        self.witness = Witness(trace)
        self.witness.remembers = "leave" not in self.options.nemeses
        self.wires = Wires(trace, self.witness)
        self.settled = 0.0  # seconds it took after the last trouble
        self._team = team
        self._chance = Random(f"nemesis-{seed}")
        self._planes: dict[ClusterName, Plane] = {}
        self._processes: list[Process] = []
        self._tasks: dict[asyncio.Task[None], None] = {}

    async def play(self) -> None:
        """The whole run. Raises `Violation`."""
        try:
            await self._begin()
            await self._until_violated(self._acts())
        finally:
            await self._end()
        self._check()

    async def _acts(self) -> None:
        await self._trouble()
        await self._calm()
        await self._settle()
        await self._rest()
        for process in self._processes:
            await process.stop()

    async def _begin(self) -> None:
        names = [cluster_name(f"project-{letter}") for letter in "ab"[: self.options.projects]]
        for name in (HUB, *names):
            plane = self._planes[name] = await open_plane(f"{self.seed}-{name}")
            plane.store.listen(partial(self._observe, name))
        around = Surroundings(str(self.seed), self._planes, self.wires, self.witness, self._team)
        for number in range(self.options.processes):
            offset = timedelta(seconds=self.options.offsets[number])
            process = Process(f"p{number}", around, elected=self.options.elected, offset=offset)
            process.page = self.options.page
            process.change_weather(self.options.weathers[number])
            process.start()
            self._processes.append(process)

    def _observe(self, plane: ClusterName, _: str, event: ChangeEvent) -> None:
        self.witness.committed(plane, event)

    async def _until_violated(self, acts: Coroutine[Any, Any, None]) -> None:
        """Go on to the end, or to the first violation."""
        playing = asyncio.ensure_future(acts)
        judging = asyncio.ensure_future(self.witness.violated.wait())
        await asyncio.wait([playing, judging], return_when=asyncio.FIRST_COMPLETED)
        for task in (judging, playing):
            task.cancel()
            await asyncio.wait([task])
        if not playing.cancelled():
            playing.result()

    async def _trouble(self) -> None:
        """The first half: users at work, and everything that the seed lets go wrong."""
        ends = asyncio.get_running_loop().time() + self.options.seconds
        for name, plane in self._planes.items():
            if name != HUB:
                user = User(name, plane, Random(f"user-{self.seed}-{name}"), self.trace)
                self._spawn(user.work(ends))
            if self.options.vandals:
                chance = Random(f"vandal-{self.seed}-{name}")
                self._spawn(Vandal(name, plane, chance, self.witness).work(ends))
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, self._chance.expovariate(1 / 6.0)))
            if self.options.nemeses:
                nemesis = self._chance.choice(self.options.nemeses)
                self._spawn(getattr(self, f"_{nemesis}")())

    async def _calm(self) -> None:
        """End all trouble, but for what it left behind."""
        for task in list(self._tasks):
            task.cancel()
            await asyncio.wait([task])
        self.trace.say("WORLD", "calm")
        for process in self._processes:
            process.change_weather(FAIR)
            for cluster in self._planes:
                process.heal(cluster)
            process.resume()
            if not process.is_up():
                process.start()
            for cluster in self._planes:
                if cluster != HUB:
                    process.join(cluster)

    async def _settle(self) -> None:
        """Wait until everything is as it should be."""
        begun = asyncio.get_running_loop().time()
        seen = -1
        wrong: list[str] = ["nothing was looked at"]
        while wrong:
            if seen != self.witness.writes:
                seen = self.witness.writes
                wrong = judgement.differences(self._planes)
            self.settled = asyncio.get_running_loop().time() - begun
            if self.settled > SETTLES:
                self.witness.accuse(f"after {SETTLES:g} s still: {'; '.join(wrong[:5])}")
                return
            await asyncio.sleep(0.5)
        self.trace.say("WORLD", "settled", "", f"after {self.settled:.1f} s")

    async def _rest(self) -> None:
        """Nothing more may be written, and nearly nothing looked at."""
        await asyncio.sleep(UNREST)
        writes, passes = self.witness.writes, self.witness.passes
        await asyncio.sleep(QUIET)
        if self.witness.writes != writes:
            self.witness.accuse(f"{self.witness.writes - writes} writes in {QUIET:g} quiet seconds")
        if self.witness.passes != passes:
            self.witness.accuse(f"{self.witness.passes - passes} passes in {QUIET:g} quiet seconds")
        if wrong := judgement.differences(self._planes):
            self.witness.accuse(f"in the end: {'; '.join(wrong[:5])}")

    async def _end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
            await asyncio.wait([task])
        for process in self._processes:
            await process.crash()
        await self.wires.close()
        for plane in self._planes.values():
            await plane.close()

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        for fault in loop.faults:
            self.witness.accuse(f"{fault['message']}: {fault.get('exception')!r}")
        if self.witness.violation:
            raise Violation(self.witness.violation)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    # What can go wrong besides the weather

    async def _crash(self) -> None:
        process = self._chance.choice(self._processes)
        if process.is_up() and not process.is_paused():
            await process.crash()
            await asyncio.sleep(self._chance.choice((0.0, 0.5, 5.0, 30.0)))
            if not process.is_up():
                process.start()

    async def _pause(self) -> None:
        process = self._chance.choice(self._processes)
        if process.is_up() and not process.is_paused():
            process.pause()
            await asyncio.sleep(self._chance.choice((0.1, 1.0, 10.0, 60.0)))
            process.resume()

    async def _part(self) -> None:
        process = self._chance.choice(self._processes)
        cluster = self._chance.choice(list(self._planes))
        process.part(cluster)
        await asyncio.sleep(self._chance.choice((0.5, 3.0, 20.0)))
        process.heal(cluster)

    async def _swizzle(self) -> None:
        """Cut several links one after the other, and heal them in another order."""
        ways = [(process, cluster) for process in self._processes for cluster in self._planes]
        self._chance.shuffle(ways)
        for process, cluster in ways:
            process.part(cluster)
            await asyncio.sleep(1.0)
        self._chance.shuffle(ways)
        for process, cluster in ways:
            process.heal(cluster)
            await asyncio.sleep(1.0)

    async def _compact(self) -> None:
        plane = self._chance.choice(list(self._planes.values()))
        self.trace.say("WORLD", "compacts")
        await plane.store.compact(max(0, plane.store.revision - self._chance.choice((0, 3, 20))))

    async def _leave(self) -> None:
        """A project goes out of sight of one process, and comes back."""
        process = self._chance.choice(self._processes)
        cluster = self._chance.choice([name for name in self._planes if name != HUB])
        if process.is_up() and not process.is_paused():
            process.leave(cluster)
            await asyncio.sleep(self._chance.choice((0.0, 0.1, 5.0)))
            process.join(cluster)
