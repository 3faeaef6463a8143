"""One Workload through its whole life, in a world of its own.

The user acts again once everything is served, correct and at rest. So a fault on the way can only shift
times.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final, Protocol

from msgspec.structs import replace

from compute.api.compute import Placement, Workload
from compute.app.planes import PlaneRef
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent, ChangeType
from tests.integration.worlds import is_served
from tests.sim.loop import SimLoop
from tests.sim.trace import Trace
from tests.sim.whole import normal
from tests.sim.whole.judge import Judge, Violation
from tests.sim.whole.simulated import SimulatedWorld
from tests.sim.whole.users import Owner
from tests.support.compute import builders

SEED: Final = "plans"
CITIES: Final = ("DFW", "LHR")
_POLL: Final = 1.0  # seconds between two checks
_PROJECT: Final = "shop"
_NAME: Final = "web"
_NAMESPACE: Final = "default"
_INSTANCES: Final = "compute.datumapis.com/instances"

Act = Callable[[Client], Awaitable[object]]
Wrong = Callable[[str, normal.State], list[str]]


@dataclass(frozen=True, slots=True)
class Pace:
    """For how many seconds nothing may be written, and after how many it must have come to that."""

    quiet: float = 20.0
    patience: float = 900.0


class Company(Protocol):
    """An observer of what the user does. While it is ``busy``, nothing is at rest."""

    busy: bool

    def started(self, act: str) -> None: ...


class Lifetime:
    """The user with a list of acts. ``took`` are the seconds to each milestone."""

    def __init__(
        self, world: SimulatedWorld, judge: Judge, trace: Trace, company: Company, pace: Pace
    ) -> None:
        self.took: dict[str, float] = {}
        self._world = world
        self._judge = judge
        self._trace = trace
        self._company = company
        self._pace = pace
        self._machines = _Machines()
        world.planes.join(self._machines)
        self._writes = -1
        self._since = 0.0

    async def live(self, wrong: Wrong) -> None:
        """All of it. Raises `Violation`. ``wrong`` says what is wrong with a state at a milestone."""
        living = asyncio.ensure_future(self._acts(wrong))
        judging = asyncio.ensure_future(self._judge.violated.wait())
        try:
            await asyncio.wait([living, judging], return_when=asyncio.FIRST_COMPLETED)
            for task in (judging, living):
                task.cancel()
                await asyncio.wait([task])
        finally:
            await self._world.stop()
        if not living.cancelled():
            living.result()
        self._check()

    async def _acts(self, wrong: Wrong) -> None:
        await self._step("project", self._start(), wrong)
        for name, act in ACTS.items():
            await self._step(name, act(self._user), wrong)

    async def _step(self, name: str, deed: Awaitable[object], wrong: Wrong) -> None:
        self._trace.say("user", name)
        self._company.started(name)
        await deed
        await self._arrive(name, wrong)

    async def _start(self) -> None:
        await self._world.start()
        owner = Owner(_PROJECT, self._world.planes, Random(SEED), self._trace)
        await owner.make()
        while not await owner.is_ready():  # noqa: ASYNC110 -- it polls, as a user does
            await asyncio.sleep(_POLL)

    async def _arrive(self, act: str, wrong: Wrong) -> None:
        """Wait until what the user did last is done, all is right, and nothing more happens."""
        start = self._since = asyncio.get_running_loop().time()
        amiss, checked = ["it never comes to rest"], -1
        while amiss:
            if self._is_at_rest() and checked != self._writes:
                checked = self._writes
                amiss = await self._unserved() or wrong(act, self._state())
            self.took[act] = asyncio.get_running_loop().time() - start
            if self.took[act] > self._pace.patience:
                raise Violation(f"{self.took[act]:g} s after {act!r}: {'; '.join(amiss[:5])}")
            if amiss:
                await asyncio.sleep(_POLL)

    def _is_at_rest(self) -> bool:
        now = asyncio.get_running_loop().time()
        if self._company.busy or self._writes != self._judge.writes:
            self._writes = self._judge.writes
            self._since = now
        return now - self._since >= self._pace.quiet

    async def _unserved(self) -> list[str]:
        present = await self._user.find(Workload, _NAME, _NAMESPACE)
        if present is None or (is_served(present) and not present.deleting):
            return []
        return ["it does not go" if present.deleting else "it is not served"]

    def _state(self) -> normal.State:
        return {**normal.state(self.planes), "Instances so far": dict(self._machines.counts)}

    @property
    def planes(self) -> dict[PlaneRef, Plane]:
        planes = self._world.planes
        return {ref: planes[ref] for ref in planes}

    @property
    def _user(self) -> Client:
        return LocalClient(self._world.planes[PlaneRef("project", _PROJECT)], manager="kubectl")

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        for fault in loop.faults:
            self._judge.accuse(f"{fault['message']}: {fault.get('exception')!r}")
        if self._world.failed.done():
            self._judge.accuse(f"a part failed: {self._world.failed.exception()!r}")
        if self._judge.violation:
            raise Violation(self._judge.violation)


class _Machines:
    """Counts how many Instances were made in each cell, and how many have gone."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        if ref.role == "cell":
            plane.store.listen(partial(self._observe, ref), frozenset({_INSTANCES}))

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        """What was counted stays."""

    def _observe(self, ref: PlaneRef, resource: str, event: ChangeEvent) -> None:
        if resource == _INSTANCES and event.change is not ChangeType.MODIFIED:
            self.counts[f"{ref.name} {event.change}"] += 1


def _created(*cities: str, replicas: int) -> Act:
    placement = builders.placement("home", *cities, replicas=replicas)
    fresh = replace(
        builders.workload(_NAME, placement), metadata=ObjectMeta(name=_NAME, namespace=_NAMESPACE)
    )
    return lambda user: user.create(fresh)


def _changed(change: Callable[[Workload], Workload]) -> Act:
    async def act(user: Client) -> None:
        present = await user.get(Workload, _NAME, _NAMESPACE)
        await user.patch(present, change(present))

    return act


def _placed(change: Callable[[Placement], Placement]) -> Act:
    def changed(present: Workload) -> Workload:
        placements = tuple(change(placement) for placement in present.spec.placements)
        return replace(present, spec=replace(present.spec, placements=placements))

    return _changed(changed)


def _scaled(count: int) -> Act:
    return _placed(
        lambda p: replace(p, scale_settings=replace(p.scale_settings, min_replicas=count))
    )


def _rolled(image: str) -> Act:
    return _changed(
        lambda present: replace(
            present, spec=replace(present.spec, template=builders.template(image))
        )
    )


async def _deleted(user: Client) -> None:
    await user.delete(await user.get(Workload, _NAME, _NAMESPACE))


ACTS: Final[dict[str, Act]] = {
    "create": _created("DFW", replicas=2),
    "roll": _rolled("registry.test/web:2"),
    "scale up": _scaled(3),
    "scale down": _scaled(1),
    "move": _placed(lambda p: replace(p, city_codes=("LHR",))),
    "delete": _deleted,
    "create again": _created(*CITIES, replicas=2),
}
