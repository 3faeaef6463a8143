"""Networks that are being deleted, as the services of their cells know of them."""

from compute.api.networking import Network
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.networking import network_use
from compute.services.network import network_conditions
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import Request


def account(projects: Clusters, network: Request | None) -> str:
    """What a Network that is being deleted says of itself; empty for any other.

    A cell goes on while the project does not answer, so the cache is believed.
    """
    project = projects.find(network.cluster) if network else None
    if project is None or network is None:
        return ""
    found = project.informers.of(Network).cache.get(network.namespace, network.name)
    return account_of(found) if found is not None else ""


def account_of(network: Network) -> str:
    """The same of a Network that was read."""
    if not network.deleting:
        return ""
    said = find(network.status.conditions, network_conditions.READY)
    if said is not None and said.reason == Reason.NETWORK_TERMINATING:
        return said.message
    return network_use.terminating((), ())
