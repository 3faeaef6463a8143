"""Workloads may not be attached to a network that is being deleted."""

from collections.abc import Iterable

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.decide.networking.network_use import names_network
from compute.decide.validation import NetworkUse
from kubekit.api.fields import FieldError, forbidden
from kubekit.client.client import Client


async def terminating(
    client: Client, networks: Iterable[NetworkUse], old: Workload | None
) -> tuple[FieldError, ...]:
    """The refusals of networks that are being deleted, except for those that are named already."""
    new = [
        network
        for network in networks
        if old is None or not names_network(old, (network.namespace, network.name))
    ]
    return tuple([error for network in new if (error := await _refusal(client, network))])


async def _refusal(client: Client, network: NetworkUse) -> FieldError | None:
    found = await client.find(Network, network.name, network.namespace)
    if found is None or not found.deleting:
        return None
    return forbidden(
        network.path,
        f"the network {network.namespace}/{network.name} is being deleted, and nothing new is attached "
        "to it; name another network, or create it again once it is gone",
    )
