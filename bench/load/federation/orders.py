"""What is sent: Workloads of a user, and deployments that only Karmada is to deliver."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from bench.load.world import orders
from compute.api import labels, names
from compute.api.compute import (
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadRef,
)
from compute.api.karmada import (
    ClusterAffinity,
    ClusterPlacement,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
)
from kubekit.api.meta import LabelSelector, ObjectMeta

ALONE: Final = "bench-alone"
"""The namespace on the hub of what only Karmada delivers."""
_PLACEMENT: Final = "all"  # as in `bench.load.world.orders`
_WRITERS: Final = 8

T = TypeVar("T")


class Order(msgspec.Struct, frozen=True):
    """A Workload with one Instance in each of its cities."""

    name: str
    cities: tuple[str, ...]

    @property
    def workload(self) -> Workload:
        return orders.workload(self.name, self.cities, 1, "25%")

    @property
    def deployments(self) -> list[str]:
        """The names of its deployments, on every plane."""
        return [names.deployment(self.name, _PLACEMENT, city) for city in self.cities]


def single(prefix: str, count: int, cities: Sequence[str]) -> list[Order]:
    """Workloads in one city each, in turn."""
    return [Order(f"{prefix}-{n}", (cities[n % len(cities)],)) for n in range(count)]


def everywhere(prefix: str, count: int, cities: Sequence[str]) -> list[Order]:
    """Workloads in every city."""
    return [Order(f"{prefix}-{n}", tuple(cities)) for n in range(count)]


def deployments(wanted: Iterable[Order]) -> list[str]:
    """The names of all their deployments."""
    return [name for order in wanted for name in order.deployments]


def alone(order: Order) -> list[WorkloadDeployment]:
    """Its deployments as management puts them on the hub."""
    workload = order.workload
    (placement,) = workload.spec.placements
    return [
        WorkloadDeployment(
            metadata=ObjectMeta(
                name=name, namespace=ALONE, labels={labels.TOPOLOGY_CITY_CODE: city}
            ),
            spec=WorkloadDeploymentSpec(
                city_code=city,
                placement_name=placement.name,
                scale_settings=placement.scale_settings,
                template=workload.spec.template,
                workload_ref=WorkloadRef(name=order.name, uid=order.name),
            ),
        )
        for city, name in zip(order.cities, order.deployments, strict=True)
    ]


def policy(city: str) -> PropagationPolicy:
    """Deployments of the city, to the cells of the city."""
    chosen = LabelSelector(match_labels={labels.TOPOLOGY_CITY_CODE: city})
    resource = WorkloadDeployment.RESOURCE
    selector = ResourceSelector(
        api_version=resource.api_version, kind=resource.kind, label_selector=chosen
    )
    placement = ClusterPlacement(cluster_affinity=ClusterAffinity(label_selector=chosen))
    return PropagationPolicy(
        metadata=ObjectMeta(name=names.policy(city), namespace=ALONE),
        spec=PropagationSpec(resource_selectors=(selector,), placement=placement),
    )


async def by_writers(send: Callable[[T], Coroutine[Any, Any, None]], wanted: Iterable[T]) -> None:
    """Send each, a few at once."""
    left = iter(list(wanted))

    async def write() -> None:
        for each in left:
            await send(each)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(_WRITERS):
            tasks.create_task(write())
