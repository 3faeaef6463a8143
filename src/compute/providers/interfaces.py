"""From an interface of an Instance to the Subnets that its address can come from.

The deployment's binding names the context of the network, and the Subnets name their context. The
network gate opens once they all exist. The caches here may be behind, so an object that is missing in
a cache is read live.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from compute.api.compute import Instance
from compute.api.networking import NetworkBinding, Subnet
from compute.decide.joins import deployment_name
from compute.decide.networking.addresses import Prefix, prefix_of
from compute.decide.networking.bindings import binding_of, deployment_of
from kubekit.runtime.clusters import Cluster

_CONTEXT: Final = "simulated: context"
_DEPLOYMENT: Final = "simulated: deployment"


@dataclass(frozen=True, slots=True)
class NoNetwork:
    """There is no network service here: machines have no addresses."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """The network is not set up yet. ``why`` is a sentence about what is missing."""

    why: str


async def prefixes(
    cell: Cluster, instance: Instance, interface: int
) -> list[Prefix] | NoNetwork | NotYet:
    """The prefixes from which an interface may get its address."""
    binding = await _binding(cell, instance, interface)
    if binding is None:
        return NoNetwork()
    context = binding.status.network_context_ref
    network = binding.spec.network.name
    if context is None:
        return NotYet(f"The network {network} is not set up here yet")
    subnets = _cached(cell, context.namespace, context.name) or [
        subnet
        for subnet in (await cell.client.every(Subnet, context.namespace)).items
        if subnet.spec.network_context.name == context.name
    ]
    allocated = [prefix for prefix in map(_prefix, subnets) if prefix is not None]
    return allocated or NotYet(f"The network {network} has no subnet here yet")


async def _binding(cell: Cluster, instance: Instance, interface: int) -> NetworkBinding | None:
    namespace, deployment = instance.metadata.namespace, deployment_name(instance)
    cache = cell.informers.of(NetworkBinding).cache
    cache.add_index(_DEPLOYMENT, _owners)
    cached = binding_of(instance, interface, cache.by(_DEPLOYMENT, f"{namespace}/{deployment}"))
    if cached is not None and cached.status.network_context_ref is not None:
        return cached
    bindings = (await cell.client.every(NetworkBinding, namespace)).items
    return binding_of(instance, interface, [b for b in bindings if deployment_of(b) == deployment])


def _cached(cell: Cluster, namespace: str, context: str) -> list[Subnet]:
    cache = cell.informers.of(Subnet).cache
    cache.add_index(_CONTEXT, _values)
    return cache.by(_CONTEXT, f"{namespace}/{context}")


def _owners(binding: NetworkBinding) -> Iterable[str]:
    yield f"{binding.metadata.namespace}/{deployment_of(binding)}"


def _values(subnet: Subnet) -> Iterable[str]:
    yield f"{subnet.metadata.namespace}/{subnet.spec.network_context.name}"


def _prefix(subnet: Subnet) -> Prefix | None:
    """The addresses that were allocated, from the status."""
    status = subnet.status
    return None if subnet.deleting else prefix_of(status.start_address, status.prefix_length)
