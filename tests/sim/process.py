"""A simulated process: the runtime's own Manager with the three controllers, which can die or hang.

Each life of it has links, memory and a random source of its own. A crash ends all of them at once: the
links are dead before its tasks are cancelled, so that nothing can be written during the shutdown.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Final

from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.plane import Plane
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.election import ElectionSettings, Elector
from kubekit.runtime.manager import Manager, Runnables
from kubekit.runtime.providers.announced import AnnouncedClusters
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import ClusterName, Request, Result
from kubekit.runtime.sources import Source
from tests.sim.controllers import HUB, Counter, Family, Mirrors
from tests.sim.loop import Life
from tests.sim.network import Link, Wires
from tests.sim.planes import environment
from tests.sim.weather import FAIR, Weather
from tests.sim.witness import Witness

ELECTION: Final = ElectionSettings(
    name="sim", namespace="default", lease=60, renew_deadline=40.0, retry=10.0
)
_SHUTDOWN: Final = 120.0  # seconds within which a process must have ended well


class LinkClient(Client):
    """A client that closes its link when its cluster is disengaged."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self._link = link

    async def close(self) -> None:
        await self._link.close()


class Team:
    """The three controllers. Mutants replace one of them."""

    family: Callable[[Clusters], Any] = Family
    mirrors: Callable[[Clusters, Clusters], Any] = Mirrors
    counter: Callable[[Clusters], Any] = Counter

    def members(self, projects: Clusters, hubs: Clusters) -> dict[str, Any]:
        return {
            "family": self.family(projects),
            "mirrors": self.mirrors(projects, hubs),
            "counter": self.counter(projects),
        }

    def client(self, link: Link) -> Client:
        return LinkClient(link)

    def wired(self, program: Runnables) -> None:
        """A hook for mutants to change the wiring."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The objects that all processes of a world share."""

    seed: str
    planes: Mapping[ClusterName, Plane]
    wires: Wires
    witness: Witness
    team: Team


class Counted:
    """A reconciler whose passes are reported to the witness."""

    def __init__(self, reconciler: Any, looked: Callable[[Request], None]) -> None:
        self._reconciler = reconciler
        self._looked = looked

    async def reconcile(self, request: Request) -> Result:
        self._looked(request)
        result: Result = await self._reconciler.reconcile(request)
        return result


@dataclass(slots=True)
class _Run:
    """One life of a process, from its start to its end."""

    life: Life
    links: dict[ClusterName, Link]
    projects: AnnouncedClusters | None = None
    manager: Manager | None = None
    task: asyncio.Task[None] | None = None
    clients: dict[ClusterName, Client] = field(default_factory=dict)


class Process:
    """One replica, through all its lives."""

    def __init__(
        self, name: str, around: Surroundings, *, elected: bool, offset: timedelta
    ) -> None:
        self.name = name
        self.weather: Weather = FAIR
        self.page = 500
        self._around = around
        self._elected = elected
        self._offset = offset
        self._lives = 0
        self._parted: dict[ClusterName, None] = {}
        self._run: _Run | None = None

    def is_up(self) -> bool:
        return self._run is not None

    def is_paused(self) -> bool:
        return self._run is not None and self._run.life.paused

    def start(self) -> None:
        """Start a new life, without any memory of the previous one."""
        self._lives += 1
        name = f"{self.name}.{self._lives}"
        run = self._run = _Run(Life(name), {c: self._link(name, c) for c in self._around.planes})
        self._say("starts")
        run.task = run.life.begin(self._live(run, name), name)
        run.task.add_done_callback(self._ended)

    async def crash(self) -> None:
        """End it at once. Its requests in flight continue; it sends no more."""
        run, self._run = self._run, None
        if run is None:
            return
        self._say("crashes")
        for link in run.links.values():
            link.die()
        await run.life.end()

    def pause(self) -> None:
        if self._run is not None:
            self._say("pauses")
            self._run.life.pause()

    def resume(self) -> None:
        if self._run is not None and self._run.life.paused:
            self._say("resumes")
            self._run.life.resume()

    def part(self, cluster: ClusterName) -> None:
        self._say("parted", cluster)
        self._parted[cluster] = None
        if self._run is not None:
            self._run.links[cluster].part()

    def heal(self, cluster: ClusterName) -> None:
        if cluster not in self._parted:
            return
        self._say("healed", cluster)
        del self._parted[cluster]
        if self._run is not None and self._run.links[cluster].cut:
            self._run.links[cluster].heal()

    def leave(self, cluster: ClusterName) -> None:
        """Disengage a project for a while."""
        if self._run is not None and self._run.projects is not None:
            self._say("leaves", cluster)
            self._run.projects.withdraw(cluster)

    def join(self, cluster: ClusterName) -> None:
        if self._run is not None and self._run.projects is not None:
            self._say("joins", cluster)
            self._run.projects.announce(cluster, self._run.clients[cluster])

    def change_weather(self, weather: Weather) -> None:
        self.weather = weather
        for link in self._run.links.values() if self._run is not None else ():
            link.weather = weather

    async def stop(self) -> None:
        """Stop it gracefully: in time, and without a failure."""
        run, self._run = self._run, None
        if run is None or run.manager is None or run.task is None:
            return
        self._say("stops")
        run.manager.stop()
        done, _ = await asyncio.wait([run.task], timeout=_SHUTDOWN)
        if not done:
            self._around.witness.accuse(f"{self.name} did not stop within {_SHUTDOWN:g} s")
        for link in run.links.values():
            link.die()
        await run.life.end()

    async def _live(self, run: _Run, name: str) -> None:
        around = environment(f"{self._around.seed}-{name}", self._offset)
        projects, hubs = Clusters("project", around), Clusters("hub", around)
        run.clients = {
            cluster: self._around.team.client(link) for cluster, link in run.links.items()
        }
        run.projects = AnnouncedClusters(projects)
        for cluster, client in run.clients.items():
            if cluster != HUB:
                run.projects.announce(cluster, client)
        program = Runnables(
            clusters=[hubs, projects],
            providers=[FixedCluster(hubs, HUB, run.clients[HUB]), run.projects],
            leading=self._controllers(projects, hubs, around, name),
        )
        self._around.team.wired(program)
        lease = run.clients[HUB]
        elector = Elector(lease, name, around, ELECTION) if self._elected else None
        run.manager = Manager(program, elector)
        await run.manager.run()

    def _controllers(
        self, projects: Clusters, hubs: Clusters, around: ExecutionEnvironment, name: str
    ) -> list[Controller]:
        metrics = Metrics()
        members = self._around.team.members(projects, hubs)
        return [
            self._controller(title, member, projects, (around, metrics, name))
            for title, member in members.items()
        ]

    def _controller(
        self,
        title: str,
        member: Any,
        projects: Clusters,
        given: tuple[ExecutionEnvironment, Metrics, str],
    ) -> Controller:
        around, metrics, name = given
        witness = self._around.witness
        sources: list[Source[Any]] = member.sources()
        counted = Counted(member, lambda request: witness.looked(name, title, request))
        settings = ControllerSettings(workers=2)
        return Controller(title, counted, projects, sources, around, metrics, settings)

    def _link(self, name: str, cluster: ClusterName) -> Link:
        chance = Random(f"{self._around.seed}-{name}-{cluster}")
        link = Link(f"{name}>{cluster}", self._around.planes[cluster], self._around.wires, chance)
        link.weather = self.weather
        link.page = self.page
        link.cut = cluster in self._parted
        return link

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A process that ends by itself has failed."""
        if self._run is not None and self._run.task is task and not task.cancelled():
            self._around.witness.accuse(f"{self.name} ended by itself: {task.exception()!r}")

    def _say(self, what: str, subject: str = "") -> None:
        self._around.wires.trace.say(f"{self.name}.{self._lives}", what, subject)
