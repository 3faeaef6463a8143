"""The faults that a plan injects, and the moments at which it can.

Up to its misfortune a plan is the reference, choice by choice: whatever happens there has the same
number in both.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

from kubekit.api.errors import ApiError
from kubekit.client.transport import ResourceLocation, WatchEvent
from tests.sim.network import Sent, Wires
from tests.sim.weather import FAIR, Weather
from tests.sim.whole.lifetime import SEED
from tests.sim.whole.processes import Process
from tests.sim.whole.simulated import SimulatedWorld
from tests.support.generated import depth

Kind = Literal["crash", "stale", "unseen", "late"]
LAPSES: Final = (0.5, 5.0, 30.0)  # seconds that a part is dead, or a watch silent
PAST: Final = Weather(stale_list=1.0)
PAST_LASTS: Final = 20.0  # seconds of a life in which lists are of the past
LATE: Final = Weather(delayed=1.0, delay=depth.either(150.0, 600.0))
_WRITES: Final = frozenset({"create", "update", "patch", "delete", "delete*"})
_UNCOUNTED: Final = frozenset({"leases", "events"})  # they come with time, not with what is done


@dataclass(frozen=True, slots=True)
class Moment:
    """A write of a controller, or an event that a watch brings; ``number`` counts those alike."""

    part: str
    who: str  # the controller, or what is watched and where
    number: int
    what: str
    act: str  # what the user did last

    def __str__(self) -> str:
        return f"{self.part}: {self.who} #{self.number}, {self.what}, after {self.act!r}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes wrong, and when. A part that is late is so from the beginning, at no moment."""

    number: int
    kind: Kind
    part: str
    moment: Moment | None = None

    @property
    def lapse(self) -> float:
        return Random(f"{SEED}-{self.number}").choice(LAPSES)

    def __str__(self) -> str:
        when = "" if self.moment is None else f" for {self.lapse:g} s at {self.moment}"
        return f"plan {self.number}: {self.kind}{when or f', {self.part}'}"


@dataclass(slots=True)
class Moments:
    """What happened in a life, in order."""

    writes: list[Moment] = field(default_factory=list)
    events: list[Moment] = field(default_factory=list)


class Fate:
    """Notes the moments of a life, and lets happen what is planned. ``busy`` until it is over."""

    def __init__(self, world: SimulatedWorld, wires: Wires, plan: Plan | None) -> None:
        self.moments = Moments()
        self.struck = plan is None
        self.busy = False
        self._world = world
        self._wires = wires
        self._plan = plan
        self._act = ""
        self._counts: Counter[tuple[str, str]] = Counter()
        wires.observer = self
        wires.gap = self

    def started(self, act: str) -> None:
        """The user does something."""
        self._act = act
        plan = self._plan
        if plan is not None and plan.kind == "late" and act == "create":
            self.struck = True
            self._world.processes[plan.part].change_weather(LATE)

    def served(self, sent: Sent, outcome: object) -> None:
        """Any request of anybody. It counts if something was written."""
        plural = sent.place.resource.plural
        if sent.verb not in _WRITES or plural in _UNCOUNTED or isinstance(outcome, ApiError):
            return
        what = f"{sent.verb} {_called(sent.place, sent.place.name)}"
        moment = self._moment(sent.link, sent.controller, what)
        self.moments.writes.append(moment)
        if self._is_due(moment, "crash", "stale"):
            process = self._world.processes[moment.part]
            self._wires.carry(self._die(process), "misfortune")

    def delivered(self, sent: Sent, outcome: object) -> None:
        """The event of a write makes no difference."""

    def lasts(self, link: str, place: ResourceLocation, event: WatchEvent) -> float:
        """Any event of any watch."""
        plural = place.resource.plural
        if event.type == "BOOKMARK" or plural in _UNCOUNTED:
            return 0.0
        what = f"{event.type} {_called(place, event.object['metadata']['name'])}"
        moment = self._moment(link, f"{plural} of {link.partition('>')[2]}", what)
        self.moments.events.append(moment)
        if self._plan is None or not self._is_due(moment, "unseen"):
            return 0.0
        self._wires.carry(self._pass(self._plan.lapse), "misfortune")
        return self._plan.lapse

    def _moment(self, link: str, who: str, what: str) -> Moment:
        part = link.partition(">")[0].rpartition(".")[0]
        self._counts[part, who] += 1
        return Moment(part, who, self._counts[part, who], what, self._act)

    def _is_due(self, moment: Moment, *kinds: Kind) -> bool:
        plan = self._plan
        if self.struck or plan is None or plan.kind not in kinds or plan.moment != moment:
            return False
        self.struck = self.busy = True
        return True

    async def _die(self, process: Process) -> None:
        assert self._plan is not None
        await process.crash()
        await asyncio.sleep(self._plan.lapse)
        if self._plan.kind == "stale":
            process.change_weather(PAST)
        process.start()
        if self._plan.kind == "stale":
            await asyncio.sleep(PAST_LASTS)
            process.change_weather(FAIR)
        self.busy = False

    async def _pass(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.busy = False


def _called(place: ResourceLocation, name: str) -> str:
    kind = "/".join(filter(None, (place.resource.plural, place.subresource)))
    return f"{kind} {name}".rstrip()
