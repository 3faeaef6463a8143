"""What happens in a measured world, one thing after the other: grow, rest, restart, delete."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bench.load.report import percentile
from bench.load.servers import resident
from bench.load.world import orders
from bench.load.world.journal import INSTANCES, Journal
from bench.load.world.results import PhaseResult, Rest
from compute.api.compute import Workload
from kubekit.client.client import Client
from kubekit.plane.plane import Plane

_STILL: Final = 1.0  # seconds without a write that are called rest
_RESTARTED: Final = "2026-01-01T00:00:00Z"  # any time that is not in the template yet


@dataclass(frozen=True, slots=True)
class Measured:
    """A world that is ready to be measured."""

    journal: Journal
    passes: Callable[[], Counter[str]]
    user: Client
    cells: Mapping[str, Plane]
    workloads: Sequence[Workload]
    patience: float  # seconds for each phase

    @property
    def wanted(self) -> dict[str, int]:
        """The number of Instances that each Workload requests."""
        return {each.metadata.name: orders.wanted(each) for each in self.workloads}


class _Meter:
    """What is used from here on."""

    def __init__(self, world: Measured) -> None:
        self._world = world
        self._passes = world.passes()
        self._writes = Counter(world.journal.writes)
        self._spent = world.journal.spent
        self._memory = resident("self")
        self._cpu = time.process_time()
        self._begun = time.perf_counter_ns()

    @property
    def cpu(self) -> float:
        return time.process_time() - self._cpu

    def writes(self) -> dict[str, int]:
        found = self._world.journal.writes - self._writes
        return {f"{role} {kind}": count for (role, kind), count in found.most_common()}

    async def bout(self, done: int, settled: int) -> PhaseResult:
        """What it took until now, and what is written from now until all is at rest."""
        cpu, listening = self.cpu, self._world.journal.spent - self._spent
        await quiet(self._world.journal)
        return PhaseResult(
            seconds=(done - self._begun) / 1e9,
            settled=(settled - self._begun) / 1e9,
            cpu=cpu,
            listening=listening / 1e9,
            writes=self.writes(),
            passes=dict((self._world.passes() - self._passes).most_common()),
            memory=resident("self") - self._memory,
        )


async def grow(world: Measured) -> PhaseResult:
    """From the first Workload that is sent until all Instances are Ready in the project."""
    world.journal.reset(world.wanted)
    meter = _Meter(world)
    for workload in world.workloads:
        await world.user.create(workload)
    return await _all_ready(world, meter)


async def rest(world: Measured, seconds: float) -> Rest:
    """What a world does that has nothing to do."""
    meter = _Meter(world)
    await asyncio.sleep(seconds)
    return Rest(seconds, meter.cpu, meter.writes())


async def restart(world: Measured) -> PhaseResult:
    """Every Instance is replaced, as many at once as may be unavailable."""
    world.journal.reset(world.wanted)
    meter = _Meter(world)
    for name in world.wanted:
        present = await world.user.get(Workload, name, orders.NAMESPACE)
        await world.user.patch(present, orders.restarted(present, _RESTARTED))
    return await _all_ready(world, meter)


async def delete(world: Measured) -> PhaseResult:
    """Everything goes. A Workload is the last of what is its own."""
    world.journal.reset(world.wanted)
    meter = _Meter(world)
    for name in world.wanted:
        await world.user.delete(await world.user.get(Workload, name, orders.NAMESPACE))
    gone = await world.journal.gone(world.patience)
    bout = await meter.bout(gone, gone)
    left = sum(len(cell.store.collection(INSTANCES)) for cell in world.cells.values())
    if left:
        raise RuntimeError(f"{left} Instances are in their cells, although no Workload is left")
    return bout


async def quiet(journal: Journal) -> None:
    """Wait until nothing is written but heartbeats."""
    before = -1
    while journal.work != before:
        before = journal.work
        await asyncio.sleep(_STILL)


async def _all_ready(world: Measured, meter: _Meter) -> PhaseResult:
    shown = await world.journal.shown(world.patience)
    settled = await world.journal.served(world.patience)
    bout = await meter.bout(shown, settled)
    hops = {
        name: (percentile(took, 0.5), percentile(took, 0.99))
        for name, took in world.journal.hops().items()
    }
    return msgspec.structs.replace(bout, hops=hops)
