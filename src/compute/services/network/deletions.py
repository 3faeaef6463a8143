"""The message of a Network that is being deleted, for its objects in cells."""

from compute.api.networking import Network
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.networking import network_use
from compute.services.network import network_conditions
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import Request


def terminating(projects: Clusters, network: Request | None) -> str:
    """The Ready message of a Network that is being deleted; empty for any other.

    The cell must work while the project is unreachable, so this reads the cache.
    """
    project = projects.find(network.cluster) if network else None
    if project is None or network is None:
        return ""
    found = project.informers.of(Network).cache.get(network.namespace, network.name)
    return terminating_message(found) if found is not None else ""


def terminating_message(network: Network) -> str:
    """The Ready message of this Network if it is being deleted; empty if not."""
    if not network.deleting:
        return ""
    ready = find(network.status.conditions, network_conditions.READY)
    if ready is not None and ready.reason == Reason.NETWORK_TERMINATING:
        return ready.message
    return network_use.terminating((), ())
