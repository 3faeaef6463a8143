"""How late a project shows what a provider says of an Instance."""

import asyncio
import time
from collections.abc import Collection
from random import Random
from typing import Final

import msgspec

from bench.load.report import percentile
from bench.load.world.found import Touched
from bench.load.world.journal import INSTANCES
from compute.api.compute import Instance, InterfaceAssignments, NetworkInterfaceStatus
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent

_PATIENCE: Final = 60.0


class _Arrivals:
    """When each value that was sent is shown."""

    def __init__(self, count: int) -> None:
        self.took: list[int] = []
        self.all = asyncio.Event()
        self._sent: dict[str, tuple[bytes, int]] = {}  # by Instance
        self._left = count

    def expect(self, instance: str, address: str) -> None:
        """From now on it may be shown."""
        self._sent[instance] = f'"{address}"'.encode(), time.perf_counter_ns()

    def heard(self, _: str, event: ChangeEvent) -> None:
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
) -> Touched:
    """Speak of so many Instances a second as their provider, for so long.

    What is written is an address that the provider leaves alone, so that nobody writes it back.
    """
    clients = [LocalClient(cell, manager="provider") for cell in cells]
    there = [(cell, each) for cell in clients for each in (await cell.every(Instance)).items]
    count = min(int(rate * seconds), len(there))
    arrivals = _Arrivals(count)
    leave = project.store.listen(arrivals.heard, {INSTANCES})
    cpu = time.process_time()
    await _spoken(Random(1).sample(there, count), rate, arrivals)  # noqa: S311 - any will do
    cpu = time.process_time() - cpu
    leave()
    p50, p99 = (percentile(arrivals.took, share) for share in (0.5, 0.99))
    return Touched(rate, count, p50, p99, cpu)


async def _spoken(
    chosen: Collection[tuple[Client, Instance]], rate: float, arrivals: _Arrivals
) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with asyncio.TaskGroup() as writing:
        for number, (cell, instance) in enumerate(chosen):
            await asyncio.sleep(max(0.0, begun + number / rate - loop.time()))
            address = f"203.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            arrivals.expect(instance.metadata.name, address)
            writing.create_task(_write(cell, instance, address))
    async with asyncio.timeout(_PATIENCE):
        await arrivals.all.wait()


async def _write(cell: Client, instance: Instance, address: str) -> None:
    (first, *more) = instance.status.network_interfaces or (NetworkInterfaceStatus(),)
    assigned = InterfaceAssignments(network_ip=first.assignments.network_ip, external_ip=address)
    interfaces = (msgspec.structs.replace(first, assignments=assigned), *more)
    status = msgspec.structs.replace(instance.status, network_interfaces=interfaces)
    await cell.patch_status(instance, msgspec.structs.replace(instance, status=status))
