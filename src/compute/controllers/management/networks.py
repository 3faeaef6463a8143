"""The networks that the template of a Workload names, and which of them do not exist."""

from collections.abc import Iterator
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.runtime.clusters import Cluster
from compute.runtime.requests import Request

_USED: Final = "networks"


async def missing(project: Cluster, workload: Workload) -> tuple[str, ...]:
    """The networks that are not there, sorted, so that what is said of them does not flicker.

    One that the cache does not show is asked for: it may have come a moment ago. Where networks are
    not served at all nobody can make one, and none is missing.
    """
    informer = project.informers.of(Network)
    if informer.served is False:
        return ()
    absent = [key for key in _named(workload) if key not in informer.cache]
    return tuple(
        sorted(
            [
                _shown(key, workload)
                for key in absent
                if await project.client.find(Network, key[1], key[0]) is None
            ]
        )
    )


def users(project: Cluster, network: Network) -> Iterator[Request]:
    """The Workloads whose template names the network."""
    workloads = project.informers.of(Workload).cache
    workloads.add_index(_USED, _index)
    for workload in workloads.by(_USED, f"{network.metadata.namespace}/{network.metadata.name}"):
        yield Request(project.name, workload.metadata.namespace, workload.metadata.name)


def _named(workload: Workload) -> dict[tuple[str, str], None]:
    """Namespace and name of each network, once."""
    own = workload.metadata.namespace
    interfaces = workload.spec.template.spec.network_interfaces
    return {(i.network.namespace or own, i.network.name): None for i in interfaces}


def _index(workload: Workload) -> Iterator[str]:
    return (f"{namespace}/{name}" for namespace, name in _named(workload))


def _shown(key: tuple[str, str], workload: Workload) -> str:
    namespace, name = key
    return name if namespace == workload.metadata.namespace else f"{namespace}/{name}"
