"""The networks that the template of a Workload names, and which of them it cannot use."""

from collections.abc import Iterable, Iterator
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.decide.networking.network_use import Key, Lack, of_workload
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request

_USED: Final = "networks"


async def lacking(project: Cluster, workload: Workload) -> Lack:
    """The networks that do not exist or are deleting.

    A network that the cache lacks is read live, since it may have just been created. Where networks
    are not served, none is missing.
    """
    informer = project.informers.of(Network)
    if informer.served is False:
        return Lack()
    by_key = {
        (namespace, name): await live.cached_or_live(project, Network, name, namespace)
        for namespace, name in _named(workload)
    }
    return Lack(
        missing=frozenset(key for key, network in by_key.items() if network is None),
        terminating=frozenset(
            key for key, network in by_key.items() if network and network.deleting
        ),
    )


def users(project: Cluster, network: Network) -> Iterator[Request]:
    """The Workloads whose template names the network."""
    workloads = project.informers.of(Workload).cache
    workloads.add_index(_USED, _index)
    for workload in workloads.by(_USED, f"{network.metadata.namespace}/{network.metadata.name}"):
        yield Request(project.name, workload.metadata.namespace, workload.metadata.name)


def _named(workload: Workload) -> Iterable[Key]:
    return of_workload(workload)


def _index(workload: Workload) -> Iterator[str]:
    return (f"{namespace}/{name}" for namespace, name in _named(workload))
