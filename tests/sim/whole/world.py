"""A whole world drawn from a seed, everything that goes wrong in it, and its judgement.

It has two halves. While things go wrong nothing may happen that the laws forbid. Then they stop going
wrong, and everything must come to where it should be, and to rest.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from compute.app.planes import HUB, PlaneRef
from compute.app.sites import sites
from kubekit.api.errors import ApiError
from tests.sim.loop import SimLoop
from tests.sim.network import Sent, Wires
from tests.sim.trace import Trace
from tests.sim.weather import FAIR, Weather, drawn
from tests.sim.whole import ending
from tests.sim.whole.judge import LAG, Judge, Violation
from tests.sim.whole.processes import Process
from tests.sim.whole.simulated import SimulatedWorld
from tests.sim.whole.users import Owner, Tenant, Vandal, Weatherman
from tests.support.generated import depth

NEMESES: Final = ("crash", "pause", "part", "swizzle", "compact", "outage", "alone", "machines")
PROJECTS: Final = ("ada", "bob")
CITIES: Final = ("DFW", "LHR", "SIN", "SIN")  # the last city has two cells
COPY: Final = " again"  # how the second copy of a part is called
TROUBLE: Final = depth.either(600.0, 2400.0)  # seconds of it
EVERY: Final = 20.0  # seconds between two misfortunes
# Seconds: a half-open watch is noticed after eleven minutes, and a machine whose provider's clock is ten
# minutes behind takes as long to stop, of which three may roll one after the other.
SETTLES: Final = 3600.0
UNREST: Final = 1000.0  # seconds after which a watch that says nothing has been given up
QUIET: Final = 900.0
_POLL: Final = 2.0  # seconds between two checks whether all is right
_SWEEP: Final = 60.0  # seconds between two collections of garbage


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the seed decided for a world."""

    doubled: bool  # every part runs twice
    nemeses: tuple[str, ...]
    weathers: tuple[Weather, ...]  # for the parts in turn
    offsets: tuple[int, ...]  # seconds by which their clocks are wrong, in turn
    vandals: bool
    leaves: bool  # projects are deleted and come again
    page: int  # objects in one page of a list

    def describe(self) -> str:
        weathers = "; ".join(weather.describe() for weather in self.weathers)
        return (
            f"doubled={self.doubled} nemeses={','.join(self.nemeses) or 'none'} "
            f"offsets={self.offsets} page={self.page} vandals={self.vandals} "
            f"leaves={self.leaves}\n  weathers: {weathers}"
        )


def options(seed: int) -> Options:
    """The options of a seed: one world in five is free of nemeses, and one has a single one."""
    chance = Random(f"whole-{seed}")
    nemeses = chance.choice(
        (
            (),
            (chance.choice(NEMESES),),
            *[tuple(name for name in NEMESES if chance.random() < 0.5)] * 3,
        )
    )
    return Options(
        doubled=chance.random() < 0.1,
        nemeses=nemeses,
        weathers=tuple(drawn(chance) for _ in range(3)),
        offsets=tuple(chance.choice((0, 0, -600, 600)) for _ in range(3)),
        vandals=chance.random() < 0.3,
        leaves=chance.random() < 0.4,
        page=chance.choice((2, 500)),
    )


class Play:
    """Everything of one run."""

    def __init__(self, seed: int, chosen: Options, trace: Trace) -> None:
        self.seed = seed
        self.options = chosen
        self.trace = trace
        self.judge = Judge(trace, _lag(chosen))
        self.settled = 0.0  # seconds it took after the last trouble
        self.faults = 0
        self._wires = Wires(trace, self)
        self._world = SimulatedWorld(str(seed), sites(CITIES), self._wires, self.judge)
        self._chance = Random(f"nemesis-{seed}")
        self._owners: list[Owner] = []
        self._silent: Counter[str] = Counter()  # cells, and by how many misfortunes
        self._tasks: dict[asyncio.Task[None], None] = {}

    # What processes and planes say to each other

    def served(self, sent: Sent, outcome: object) -> None:
        return

    def delivered(self, sent: Sent, outcome: object) -> None:
        """An acknowledged write must never be lost."""
        if sent.verb in {"create", "update", "patch"} and isinstance(outcome, dict):
            ref = self._world.ref(sent.link.rpartition(">")[2])
            meta = outcome["metadata"]
            if ref is not None and "uid" in meta:
                self.judge.acknowledged(ref, meta["uid"], meta["resourceVersion"])

    @property
    def _processes(self) -> list[Process]:
        return list(self._world.processes.values())

    @property
    def _cells(self) -> list[PlaneRef]:
        return [PlaneRef("cell", site.cell) for site in self._world.sites]

    async def run(self) -> None:
        """The whole of it. Raises `Violation`."""
        try:
            await self._until_violated(self._acts())
        finally:
            await self._end()
        self._check()

    async def _acts(self) -> None:
        self._spawn(self._sweep())
        await self._start()
        await self._trouble()
        await self._calm()
        await self._settle()
        await self._rest()

    async def _start(self) -> None:
        """A world that works, with projects that are ready; then its weather."""
        await self._world.start()
        if self.options.doubled:
            for part in self._world.parts:
                await self._world.resume(part, COPY)
        for name in PROJECTS:
            chance = Random(f"owner-{self.seed}-{name}")
            self._owners.append(Owner(name, self._world.planes, chance, self.trace))
        for owner in self._owners:
            await owner.make()
        while not all([await owner.is_ready() for owner in self._owners]):  # noqa: ASYNC110 - polled from outside
            await asyncio.sleep(1.0)
        for number, process in enumerate(self._processes):
            process.page = self.options.page
            process.offset = timedelta(seconds=_in_turn(self.options.offsets, number))
            process.change_weather(_in_turn(self.options.weathers, number))

    async def _trouble(self) -> None:
        """The first half: users at work, and everything that the seed lets go wrong."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + TROUBLE
        planes = self._world.planes
        for name, owner in zip(PROJECTS, self._owners, strict=True):
            tenant = Tenant(name, planes, Random(f"tenant-{self.seed}-{name}"), self.trace)
            self._spawn(tenant.work(ends))
            self._spawn(owner.work(ends, removes=self.options.leaves))
        if self.options.vandals:
            for ref in planes:
                if ref.role != "core":
                    chance = Random(f"vandal-{self.seed}-{ref.context}")
                    self._spawn(Vandal(ref, planes, chance, self.judge.forgive).work(ends))
        while (left := ends - loop.time()) > 0:
            await asyncio.sleep(min(left, self._chance.expovariate(1 / EVERY)))
            if self.options.nemeses:
                nemesis = self._chance.choice(self.options.nemeses)
                self.faults += 1
                self._spawn(getattr(self, f"_{nemesis}")())

    async def _calm(self) -> None:
        """End all trouble, but for what it left behind."""
        for task in list(self._tasks):
            task.cancel()
            await asyncio.wait([task])
        self._spawn(self._sweep())
        self.trace.say("WORLD", "calm")
        for process in self._processes:
            process.change_weather(FAIR)
            for ref in process.parted:
                process.heal(ref)
            process.resume()
            process.start()
        for cell in self._cells:
            await Weatherman(cell, self._world.planes, self._chance).calm()
        for owner in self._owners:
            await owner.limit(50)

    async def _settle(self) -> None:
        """Wait until everything is as it should be."""
        started = asyncio.get_running_loop().time()
        seen = -1
        wrong: list[str] = ["nothing was reconciled at"]
        while wrong:
            if seen != self.judge.writes:
                seen = self.judge.writes
                wrong = self._differences()
            self.settled = asyncio.get_running_loop().time() - started
            if self.settled > SETTLES:
                self.judge.accuse(f"after {SETTLES:g} s still: {'; '.join(wrong[:5])}")
                return
            await asyncio.sleep(_POLL)
        self.trace.say("WORLD", "settled", "", f"after {self.settled:.1f} s")

    async def _rest(self) -> None:
        """Nothing more may be written."""
        await asyncio.sleep(UNREST)
        writes = self.judge.writes
        await asyncio.sleep(QUIET)
        if self.judge.writes != writes:
            self.judge.accuse(f"{self.judge.writes - writes} writes in {QUIET:g} quiet seconds")
        if wrong := self._differences():
            self.judge.accuse(f"in the end: {'; '.join(wrong[:5])}")

    def _differences(self) -> list[str]:
        planes = self._world.planes
        return ending.differences({ref: planes[ref] for ref in planes})

    async def _until_violated(self, acts: Coroutine[Any, Any, None]) -> None:
        """Go on to the end, or to the first violation."""
        playing = asyncio.ensure_future(acts)
        judging = asyncio.ensure_future(self.judge.violated.wait())
        await asyncio.wait([playing, judging], return_when=asyncio.FIRST_COMPLETED)
        for task in (judging, playing):
            task.cancel()
            await asyncio.wait([task])
        if not playing.cancelled():
            playing.result()

    async def _end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
            await asyncio.wait([task])
        await self._world.stop()

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        for fault in loop.faults:
            self.judge.accuse(f"{fault['message']}: {fault.get('exception')!r}")
        if self._world.failed.done():
            self.judge.accuse(f"a part failed: {self._world.failed.exception()!r}")
        if self.judge.violation:
            raise Violation(self.judge.violation)

    async def _sweep(self) -> None:
        """Collect garbage, but at times that depend on the seed alone."""
        while True:
            await asyncio.sleep(_SWEEP)
            gc.collect(1)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    # What can go wrong besides the weather

    async def _crash(self) -> None:
        process = self._chance.choice(self._processes)
        if process.is_up and not process.is_paused:
            await process.crash()
            await asyncio.sleep(self._chance.choice((0.0, 0.5, 5.0, 30.0)))
            process.start()

    async def _pause(self) -> None:
        process = self._chance.choice(self._processes)
        if process.is_up and not process.is_paused:
            process.pause()
            await asyncio.sleep(self._chance.choice((0.1, 1.0, 10.0, 60.0)))
            process.resume()

    async def _part(self) -> None:
        await self._parted([(self._chance.choice(self._processes), self._any_home())])

    async def _swizzle(self) -> None:
        """Cut several links one after the other, and heal them in another order."""
        links = [(self._chance.choice(self._processes), self._any_home()) for _ in range(4)]
        for process, ref in links:
            process.part(ref)
            await asyncio.sleep(1.0)
        self._chance.shuffle(links)
        for process, ref in links:
            process.heal(ref)
            await asyncio.sleep(1.0)

    async def _outage(self) -> None:
        """A plane is unreachable for all processes."""
        ref = self._any_home()
        with self._silenced(self._cells if ref == HUB else [ref]):
            await self._parted([(process, ref) for process in self._processes])

    async def _alone(self) -> None:
        """A cell is cut off from everything, in both directions."""
        cell = self._chance.choice(self._cells)
        inside = [p for p in self._processes if _is_in(p.title, cell)]
        links = [(p, ref) for p in inside for ref in self._world.planes if ref != cell]
        links += [(p, cell) for p in self._processes if p not in inside]
        with self._silenced([cell]):
            await self._parted(links, (20.0, 120.0, 600.0))

    @contextmanager
    def _silenced(self, planes: list[PlaneRef]) -> Iterator[None]:
        """Let the judge know which cells are cut off, for as long as any nemesis keeps them so."""
        cells = [ref.name for ref in planes if ref.role == "cell"]
        for cell in cells:
            self._silent[cell] += 1
            self.judge.cut(cell)
        try:
            yield
        finally:
            for cell in cells:
                self._silent[cell] -= 1
                if not self._silent[cell]:
                    self.judge.healed(cell)

    async def _compact(self) -> None:
        plane = self._world.planes[self._any_home()]
        self.trace.say("WORLD", "compacts")
        await plane.store.compact(max(0, plane.store.revision - self._chance.choice((0, 3, 20))))

    async def _machines(self) -> None:
        cell = self._chance.choice(self._cells)
        with suppress(ApiError):
            await Weatherman(cell, self._world.planes, self._chance).change()

    async def _parted(
        self,
        links: list[tuple[Process, PlaneRef]],
        seconds: tuple[float, ...] = (0.5, 3.0, 20.0, 60.0),
    ) -> None:
        for process, ref in links:
            process.part(ref)
        await asyncio.sleep(self._chance.choice(seconds))
        for process, ref in links:
            process.heal(ref)

    def _any_home(self) -> PlaneRef:
        """Any plane, the hub most often: everything passes through it."""
        planes = list(self._world.planes)
        return self._chance.choice([HUB, HUB, *planes])


def _lag(chosen: Options) -> float:
    """How late a decision may be. A watch that stands still is noticed after eleven minutes."""
    return UNREST if any(weather.silent for weather in chosen.weathers) else LAG


def _in_turn(drawn: tuple[Any, ...], number: int) -> Any:
    return drawn[number % len(drawn)]


def _is_in(title: str, cell: PlaneRef) -> bool:
    return title.removesuffix(COPY) in {f"cell {cell.name}", f"provider {cell.name}"}
