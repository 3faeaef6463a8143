"""What operators and users do to a whole world, and what they check."""

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, Workload
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.karmada import MemberCluster
from compute.api.networking import Network, NetworkIPAM, NetworkSpec, Subnet
from compute.api.services import ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.app.planes import PLATFORM, SYSTEM, PlaneRef
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from tests.integration.worlds import PROJECT, Watched, reason_of
from tests.support.kubekit.runtime_builders import annotated


def on_network(name: str, made: Workload) -> Workload:
    """The Workload, on another network."""
    interfaces = (NetworkInterface(network=NetworkRef(name=name)),)
    spec = msgspec.structs.replace(made.spec.template.spec, network_interfaces=interfaces)
    template = msgspec.structs.replace(made.spec.template, spec=spec)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, template=template))


async def make_network(world: Watched, name: str, ipv4_range: str) -> Network:
    """A network of the project with a range of its own."""
    ipam = NetworkIPAM(mode="Auto", ipv4_range=ipv4_range)
    metadata = ObjectMeta(name=name, namespace="default")
    return await world.user.create(Network(metadata=metadata, spec=NetworkSpec(ipam=ipam)))


async def addresses(world: Watched, cell: str) -> list[str]:
    """The addresses of all Instances of a cell."""
    found = (await world.client(cell).every(Instance)).items
    return [n.assignments.network_ip or "" for i in found for n in i.status.network_interfaces]


async def subnets(world: Watched, cell: str) -> list[str]:
    """The prefixes that a cell has."""
    found = (await world.client(cell).every(Subnet)).items
    return sorted(f"{s.status.start_address}/{s.status.prefix_length}" for s in found)


async def settings(world: Watched, plane: str, name: str, **data: str) -> None:
    """Write the ConfigMap of a neighbour, as an operator does."""
    namespace = PLATFORM if plane == "core" else SYSTEM
    metadata = ObjectMeta(name=name, namespace=namespace)
    await world.put(plane, ConfigMap(metadata=metadata, data=data))


async def warnings(world: Watched, plane: str) -> set[str]:
    return {e.reason for e in (await world.client(plane).every(Event)).items if e.type == "Warning"}


async def blocked(world: Watched, name: str, text: str) -> Workload:
    """The Workload, once its Available condition has this text."""
    return await world.named(
        PROJECT,
        Workload,
        name,
        true=lambda w: any(text in c.message for c in w.status.conditions if c.type == "Available"),
    )


async def cut(world: Watched, cell: str, value: str = "true") -> None:
    """Cut a cell off, or reconnect it, and wait until the link has changed."""
    hub = world.client("hub")
    cluster = await hub.get(MemberCluster, cell)
    await hub.patch(cluster, annotated(cluster, **{annotations.CUT: value}))
    link = world.world.links[PlaneRef("cell", cell)]

    async def is_so() -> bool:
        return link.is_cut is (value == "true")

    await world.until(is_so)


async def lose(world: Watched, cell: str) -> None:
    """Lose a cell permanently: it is cut off, and then its Cluster is deleted on the hub."""
    await cut(world, cell)
    hub = world.client("hub")
    await world.named(
        "hub",
        MemberCluster,
        cell,
        "",
        lambda c: reason_of(c, "Ready") == "ClusterStatusUnknown",
        120.0,
    )
    await hub.delete(await hub.get(MemberCluster, cell))
    await world.gone("hub", MemberCluster, cell)


async def ready(world: Watched, name: str, count: int, seconds: float = 60.0) -> Workload:
    """The Workload, once exactly this many of its Instances are ready."""
    return await world.named(
        PROJECT,
        Workload,
        name,
        true=lambda w: w.status.ready_replicas == count,
        seconds=seconds,
    )


async def entitle(world: Watched, name: str) -> ServiceEntitlement:
    """Request the service compute."""
    spec = ServiceEntitlementSpec(service_ref=ServiceRef(name="compute.datumapis.com"))
    return await world.user.create(ServiceEntitlement(metadata=ObjectMeta(name=name), spec=spec))
