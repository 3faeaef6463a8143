"""Measures the delay from a provider's status write to the project's copy."""

import asyncio
import time
from collections.abc import Collection
from random import Random
from typing import Final

import msgspec

from bench.load.report import percentile
from bench.load.world.journal import INSTANCES
from bench.load.world.results import StatusDelays
from compute.api.compute import Instance, InterfaceAssignments, NetworkInterfaceStatus
from kubekit.api.meta import with_status
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent

_PATIENCE: Final = 60.0


class _Arrivals:
    """The times at which each sent value arrives."""

    def __init__(self, count: int) -> None:
        self.took: list[int] = []
        self.all = asyncio.Event()
        self._sent: dict[str, tuple[bytes, int]] = {}  # by Instance
        self._left = count

    def expect(self, instance: str, address: str) -> None:
        """Record that a value is sent now."""
        self._sent[instance] = f'"{address}"'.encode(), time.perf_counter_ns()

    def on_change(self, _: str, event: ChangeEvent) -> None:
        name = event.record.key.rpartition("/")[2]
        sent = self._sent.get(name)
        if sent and sent[0] in event.record.data:
            del self._sent[name]
            self.took.append(time.perf_counter_ns() - sent[1])
            self._left -= 1
            if not self._left:
                self.all.set()


async def statuses(
    project: Plane, cells: Collection[Plane], rate: float, seconds: float
) -> StatusDelays:
    """Write the status of so many Instances a second as their provider, for so long.

    The value is an address that the real provider does not touch, so that it is not reverted.
    """
    clients = [LocalClient(cell, manager="provider") for cell in cells]
    instances = [(cell, each) for cell in clients for each in (await cell.every(Instance)).items]
    count = min(int(rate * seconds), len(instances))
    arrivals = _Arrivals(count)
    stop = project.store.listen(arrivals.on_change, {INSTANCES})
    cpu = time.process_time()
    await _write_all(Random(1).sample(instances, count), rate, arrivals)  # noqa: S311 - any will do
    cpu = time.process_time() - cpu
    stop()
    p50, p99 = (percentile(arrivals.took, share) for share in (0.5, 0.99))
    return StatusDelays(rate, count, p50, p99, cpu)


async def _write_all(
    chosen: Collection[tuple[Client, Instance]], rate: float, arrivals: _Arrivals
) -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    async with asyncio.TaskGroup() as writing:
        for number, (cell, instance) in enumerate(chosen):
            await asyncio.sleep(max(0.0, started + number / rate - loop.time()))
            address = f"203.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            arrivals.expect(instance.metadata.name, address)
            writing.create_task(_write(cell, instance, address))
    async with asyncio.timeout(_PATIENCE):
        await arrivals.all.wait()


async def _write(cell: Client, instance: Instance, address: str) -> None:
    (first, *more) = instance.status.network_interfaces or (NetworkInterfaceStatus(),)
    assigned = InterfaceAssignments(network_ip=first.assignments.network_ip, external_ip=address)
    interfaces = (msgspec.structs.replace(first, assignments=assigned), *more)
    await cell.patch_status(instance, with_status(instance, network_interfaces=interfaces))
