"""A site that is ready to be measured: what is sent to it, and how far that has come."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bench.load.federation.managers import Managers
from bench.load.federation.orders import ALONE, Order, alone, by_writers, deployments
from bench.load.federation.results import Sizes
from bench.load.federation.site import Site
from bench.load.federation.timeline import OF_WORKLOAD, Stage, Timeline
from bench.load.world.orders import NAMESPACE
from compute.api.compute import Workload, WorkloadDeployment
from kubekit.api.errors import NotFound
from kubekit.api.meta import Object
from kubekit.client.client import Client

SETTLED: Final = 0.5  # seconds between two Workloads that are measured one by one
QUIET: Final = 3.0  # seconds after which the events of a phase no longer disturb the next
_ENDS: Final = (Stage.GONE, Stage.GONE_FROM_PROJECT, Stage.GONE_FROM_HUB, Stage.GONE_FROM_CELL)


@dataclass(frozen=True, slots=True)
class Trial:
    """A site that is ready to be measured."""

    site: Site
    timeline: Timeline
    managers: Managers
    project: Client
    hub: Client
    sizes: Sizes

    async def reached(self, stage: Stage, orders: Sequence[Order]) -> int:
        """When the last of these got there."""
        names = [o.name for o in orders] if stage in OF_WORKLOAD else deployments(orders)
        return await self.timeline.reached(stage, names, self.sizes.patience)

    async def create(self, order: Order) -> None:
        await self.project.create(order.workload)

    async def delete(self, order: Order) -> None:
        await _delete(self.project, Workload, order.name, NAMESPACE)

    async def create_alone(self, order: Order) -> None:
        """Put it on the hub, as management would."""
        for each in alone(order):
            await self.hub.create(each)

    async def delete_alone(self, order: Order) -> None:
        for name in order.deployments:
            await _delete(self.hub, WorkloadDeployment, name, ALONE)

    async def clear(self, orders: Sequence[Order]) -> int:
        """Delete these Workloads; when the last of them was gone from everywhere."""
        await by_writers(self.delete, orders)
        ends = [await self.reached(stage, orders) for stage in _ENDS]
        await asyncio.sleep(QUIET if len(orders) > 1 else SETTLED)
        return max(ends)


async def _delete(client: Client, kind: type[Object], name: str, namespace: str) -> None:
    with suppress(NotFound):
        await client.delete(await client.get(kind, name, namespace))
