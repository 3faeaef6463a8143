"""The networks that the template of a Workload names, and which of them it cannot have."""

from collections.abc import Iterable, Iterator
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.decide.networking.network_use import Key, Lack, named
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request

_USED: Final = "networks"


async def lacking(project: Cluster, workload: Workload) -> Lack:
    """The networks that are not there, or about to go.

    One that the cache does not show is asked for: it may have come a moment ago. Where networks are
    not served at all none can be made, and none is missing.
    """
    informer = project.informers.of(Network)
    if informer.served is False:
        return Lack()
    known = {key: informer.cache.get(*key) for key in _named(workload)}
    found = {
        key: network or await project.client.find(Network, key[1], key[0])
        for key, network in known.items()
    }
    return Lack(
        missing=frozenset(key for key, network in found.items() if network is None),
        terminating=frozenset(
            key for key, network in found.items() if network and network.deleting
        ),
    )


def users(project: Cluster, network: Network) -> Iterator[Request]:
    """The Workloads whose template names the network."""
    workloads = project.informers.of(Workload).cache
    workloads.add_index(_USED, _index)
    for workload in workloads.by(_USED, f"{network.metadata.namespace}/{network.metadata.name}"):
        yield Request(project.name, workload.metadata.namespace, workload.metadata.name)


def _named(workload: Workload) -> Iterable[Key]:
    return named(workload.spec.template, workload.metadata.namespace)


def _index(workload: Workload) -> Iterator[str]:
    return (f"{namespace}/{name}" for namespace, name in _named(workload))
