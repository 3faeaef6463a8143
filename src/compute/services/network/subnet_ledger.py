"""The ledger of a Network: one Subnet in its namespace for each claim with addresses.

An entry names the cell, the cell's namespace and the claim it is for. It is *allocated* once it is
certain that it overlaps no other; until then it blocks the range, but the claim cannot use it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from compute.api import labels
from compute.api.conditions import NeighbourCondition
from compute.api.networking import Network, Subnet, SubnetClaim, SubnetSpec
from compute.decide.conditions import is_true
from compute.decide.networking.addresses import Prefix, prefix_of
from compute.services.network import joins
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster

ALLOCATIONS: Final = (
    "networking.datumapis.com/allocations"  # on a Network: the number of allocations so far
)


@dataclass(frozen=True, slots=True, order=True)
class SubnetHolder:
    """The holder of an entry: a claim in a namespace of a cell."""

    cell: str
    namespace: str
    claim: str


def holder(entry: Subnet) -> SubnetHolder:
    """The holder of an entry."""
    meta = entry.metadata
    cell = meta.labels.get(labels.SOURCE_CLUSTER, "")
    namespace = meta.labels.get(labels.INSTANCE_NAMESPACE, "")
    return SubnetHolder(cell, namespace, meta.name.removesuffix(f".{cell}"))


def entry_name(cell: str, claim: str) -> str:
    """The entry of a claim. A cell's name has no dot, so the two parts can be separated again."""
    return f"{claim}.{cell}"


def entry(network: Network, cell: str, claim: SubnetClaim, prefix: Prefix) -> Subnet:
    """The entry that gives these addresses to a claim."""
    wanted = claim.spec
    return Subnet(
        metadata=ObjectMeta(
            name=entry_name(cell, claim.metadata.name),
            namespace=network.metadata.namespace,
            labels={
                labels.SOURCE_CLUSTER: cell,
                labels.INSTANCE_NAMESPACE: claim.metadata.namespace,
            },
            owner_references=(network.reference(controller=True),),
        ),
        spec=SubnetSpec(
            ip_family=wanted.ip_family,
            location=wanted.location,
            network_context=wanted.network_context,
            prefix_length=prefix.prefixlen,
            start_address=str(prefix.network_address),
            subnet_class=wanted.subnet_class,
        ),
    )


def is_of(network: Network, entry: Subnet) -> bool:
    """Whether an entry is of this very Network, and of no earlier one of its name."""
    return any(
        reference.controller and reference.uid == network.metadata.uid
        for reference in entry.metadata.owner_references
    )


def is_ours(entry: Subnet) -> bool:
    """Whether a Subnet of a project is an entry of a ledger at all."""
    return bool(joins.owner(entry) and holder(entry).cell and holder(entry).namespace)


def is_allocated(entry: Subnet) -> bool:
    return is_true(entry.status.conditions, NeighbourCondition.ALLOCATED)


def spec(entry: Subnet) -> SubnetSpec:
    """The spec with the addresses that were allocated, whatever was written over it since."""
    start, length = entry.status.start_address, entry.status.prefix_length
    if start is None or length is None:
        return entry.spec
    return msgspec.structs.replace(entry.spec, start_address=start, prefix_length=length)


async def live(client: Client, network: Network) -> dict[str, Subnet]:
    """The entries of a Network by name, read live."""
    subnets = await client.every(Subnet, network.metadata.namespace)
    return {each.metadata.name: each for each in subnets.items if is_of(network, each)}


def cached(project: Cluster, network: Network) -> list[Subnet]:
    """The entries of a Network, from the cache."""
    return [each for each in joins.entries_of(project, network) if is_ours(each)]


def prefix(entry: Subnet) -> Prefix | None:
    """The addresses of an entry; None if they are invalid."""
    allocated = spec(entry)
    return prefix_of(allocated.start_address, allocated.prefix_length)


def prefixes(entries: Iterable[Subnet]) -> list[Prefix]:
    """The addresses that are taken."""
    return [found for found in map(prefix, entries) if found is not None]
