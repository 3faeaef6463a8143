"""A part of a simulated world as a process with its own network, clock and random source, which can crash.

A crash ends everything at once: its links are dead before its tasks are cancelled, so that nothing
can still be written.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Final, Protocol

from compute.app.planes import PlaneRef
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.plane import Plane
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import Request
from tests.sim.loop import Life
from tests.sim.network import Link, Wires
from tests.sim.planes import environment
from tests.sim.process import Counted, LinkClient
from tests.sim.weather import FAIR, Weather

_PLAIN: Final = ControllerSettings()


class Witness(Protocol):
    """Judges what processes do."""

    def accuse(self, why: str) -> None: ...

    def reconciled(self, process: str, controller: str, request: Request) -> None: ...


class CountingKit(ControllerFactory):
    """Makes controllers whose passes the witness counts."""

    def __init__(self, around: ExecutionEnvironment, title: str, witness: Witness) -> None:
        super().__init__(around, Metrics(), title)
        self._title = title
        self._witness = witness

    def controller(
        self,
        name: str,
        reconciler: Any,
        clusters: Any,
        sources: Any,
        settings: ControllerSettings = _PLAIN,
    ) -> Controller:
        counted = Counted(
            reconciler, lambda asked: self._witness.reconciled(self._title, name, asked)
        )
        return super().controller(name, counted, clusters, sources, settings)


@dataclass(slots=True)
class _Run:
    """One life of a process."""

    life: Life
    name: str
    around: ExecutionEnvironment
    links: list[tuple[PlaneRef, Link]] = field(default_factory=list)


class Process:
    """One part, or one copy of it, through all its lives.

    ``main`` starts what it runs, ``forget`` is called when it died.
    """

    def __init__(
        self,
        title: str,
        wires: Wires,
        witness: Witness,
        main: Callable[[], Coroutine[Any, Any, None]],
        forget: Callable[[], None],
    ) -> None:
        self.title = title
        self.seed = ""
        self.offset = timedelta()
        self.weather: Weather = FAIR
        self.page = 500
        self._wires = wires
        self._witness = witness
        self._main = main
        self._forget = forget
        self._lives = 0
        self._parted: dict[PlaneRef, None] = {}
        self._run: _Run | None = None

    # What the world asks of it, within its life

    def factory(self) -> ControllerFactory:
        return CountingKit(self._living().around, self.title, self._witness)

    def connect(self, ref: PlaneRef, plane: Plane, manager: str) -> Client:
        run = self._living()
        # Part of every seed: with another text here, each noted seed would draw another world.
        key = f"Home(role={ref.role!r}, name={ref.name!r})"
        chance = Random(f"{self.seed}-{run.name}-{key}-{len(run.links)}")
        link = Link(f"{run.name}>{ref.name}", plane, self._wires, chance, manager)
        link.weather = self.weather
        link.page = self.page
        link.cut = ref in self._parted
        run.links.append((ref, link))
        return LinkClient(link)

    # Life and death

    @property
    def is_up(self) -> bool:
        return self._run is not None

    @property
    def is_paused(self) -> bool:
        return self._run is not None and self._run.life.paused

    def start(self) -> None:
        """Begin a life, unless it has one."""
        if self._run is not None:
            return
        self._lives += 1
        name = f"{self.title}.{self._lives}"
        around = environment(f"{self.seed}-{name}", self.offset)
        self._run = _Run(Life(name), name, around)
        self._say("starts")
        task = self._run.life.begin(self._main(), f"{name} begins")
        task.add_done_callback(self._started)

    async def crash(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        self._wires.trace.say(run.name, "dies")
        for _, link in run.links:
            link.die()
        self._forget()
        await run.life.end()

    def pause(self) -> None:
        if self._run is not None:
            self._say("pauses")
            self._run.life.pause()

    def resume(self) -> None:
        if self._run is not None and self._run.life.paused:
            self._say("resumes")
            self._run.life.resume()

    # Its network

    @property
    def parted(self) -> list[PlaneRef]:
        return list(self._parted)

    def part(self, ref: PlaneRef) -> None:
        if ref not in self._parted:
            self._say("parted", ref.name)
            self._parted[ref] = None
            for link in self._links(ref):
                link.part()

    def heal(self, ref: PlaneRef) -> None:
        if ref in self._parted:
            self._say("healed", ref.name)
            del self._parted[ref]
            for link in self._links(ref):
                link.heal()

    def lose(self, ref: PlaneRef) -> None:
        """A plane is gone permanently. Another of its name is reached by other links."""
        for link in self._links(ref):
            link.part()
        if self._run is not None:
            self._run.links = [(other, link) for other, link in self._run.links if other != ref]

    def change_weather(self, weather: Weather) -> None:
        self.weather = weather
        for _, link in self._run.links if self._run is not None else ():
            link.weather = weather

    def _links(self, ref: PlaneRef) -> Iterator[Link]:
        links = self._run.links if self._run is not None else []
        return (link for other, link in links if other == ref)

    def _living(self) -> _Run:
        assert self._run is not None, f"{self.title} is asked for something while it is dead"
        return self._run

    def _started(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (why := task.exception()) is not None:
            self._witness.accuse(f"{self.title} does not start: {why!r}")

    def _say(self, what: str, subject: str = "") -> None:
        name = self.title if self._run is None else self._run.name
        self._wires.trace.say(name, what, subject)
