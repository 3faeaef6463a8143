"""Lookups between objects: a cell's namespace and its project's, a claim, its context and its Network.

Every lookup uses an index, so the cost of a change depends only on the objects it affects.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from compute.api import labels, names
from compute.api.compute import Workload
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.decide.federation import ProjectNamespace, identity
from compute.decide.networking.network_use import of_workload
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import Request, cluster_name
from kubekit.runtime.watching.cache import Cache

_NETWORK: Final = "network service: network"
_CONTEXT: Final = "network service: context"
_PROJECT: Final = "network service: project"
_HOLDER: Final = "network service: holder"
_CELL: Final = "network service: cell"


def network_of(obj: Object, name: str) -> Request | None:
    """The Network of this name in the project that the upstream labels of an object name."""
    project = identity(Namespace(metadata=obj.metadata))
    return None if project is None else network_named(project, name)


def network_named(project: ProjectNamespace, name: str) -> Request:
    """The Network of this name in the project namespace that a cell's namespace stands for."""
    return Request(cluster_name(names.cluster_key(project.project)), project.namespace, name)


async def project_namespace(cell: Cluster, namespace: str) -> ProjectNamespace | None:
    """The project namespace that a cell's namespace stands for; None if its labels do not say."""
    cached = cell.informers.of(Namespace).cache.get("", namespace)
    found = identity(cached) if cached else None
    if found is None:
        present = await cell.client.find(Namespace, namespace)
        found = identity(present) if present else None
    return found


def cell_namespaces(cell: Cluster, network: Request) -> list[str]:
    """The cell's namespaces that stand for the project namespace of a Network."""
    cache = cell.informers.of(Namespace).cache
    cache.add_index(_PROJECT, _project_values)
    value = f"{network.cluster}/{network.namespace}"
    return [namespace.metadata.name for namespace in cache.by(_PROJECT, value)]


def bindings_of(cell: Cluster, namespace: str, network: str) -> list[NetworkBinding]:
    """The bindings in a cell's namespace that ask for a Network."""
    return _bindings(cell).by(_NETWORK, f"{namespace}/{network}")


def bindings_to(cell: Cluster, namespace: str, context: str) -> list[NetworkBinding]:
    """The bindings in a cell's namespace that a context is for."""
    return _bindings(cell).by(_CONTEXT, f"{namespace}/{context}")


def context_name(binding: NetworkBinding) -> str:
    """The context that a binding needs, in its own namespace."""
    return names.network_context(binding.spec.network.name, binding.spec.location.name)


def contexts_of(cell: Cluster, network: Request) -> list[NetworkContext]:
    """The contexts of a Network in a cell."""
    cache = cell.informers.of(NetworkContext).cache
    cache.add_index(_NETWORK, _network_values)
    return cache.by(_NETWORK, str(network))


def claims_of(cell: Cluster, network: Request) -> Iterator[SubnetClaim]:
    """The claims for addresses of a Network in a cell."""
    for context in contexts_of(cell, network):
        yield from claims_at(cell, context)


def claims_at(cell: Cluster, context: NetworkContext) -> list[SubnetClaim]:
    """The claims for addresses of a context."""
    cache = cell.informers.of(SubnetClaim).cache
    cache.add_index(_CONTEXT, _claim_values)
    return cache.by(_CONTEXT, f"{context.metadata.namespace}/{context.metadata.name}")


def network_of_claim(cell: Cluster, claim: SubnetClaim) -> Request | None:
    """The Network that a claim is for; None while its context is not known."""
    context = cell.informers.of(NetworkContext).cache.get(
        claim.metadata.namespace, claim.spec.network_context.name
    )
    return None if context is None else network_of(context, context.spec.network.name)


def workloads_of(project: Cluster, network: Network) -> list[Workload]:
    """The Workloads whose template names a Network, as the cache knows them."""
    cache = project.informers.of(Workload).cache
    cache.add_index(_NETWORK, _named_networks)
    meta = network.metadata
    return cache.by(_NETWORK, f"{meta.namespace}/{meta.name}")


def entries_of(project: Cluster, network: Network) -> list[Subnet]:
    """The ledger of a Network, as the cache knows it."""
    cache = project.informers.of(Subnet).cache
    cache.add_index(_NETWORK, _owner_values)
    meta = network.metadata
    return cache.by(_NETWORK, f"{meta.namespace}/{meta.name}")


def entries_for(projects: Clusters, cell: str) -> Iterator[tuple[Cluster, Subnet]]:
    """The entries of a cell in every project's ledgers."""
    for project in projects:
        cache = project.informers.of(Subnet).cache
        cache.add_index(_CELL, _cell_values)
        for entry in cache.by(_CELL, cell):
            yield project, entry


def entries_held(
    projects: Clusters, cell: str, namespace: str, claim: str
) -> Iterator[tuple[Cluster, Subnet]]:
    """The entries of a claim, whether or not the claim exists. There should be one at most."""
    for project in projects:
        cache = project.informers.of(Subnet).cache
        cache.add_index(_HOLDER, _holder_values)
        for entry in cache.by(_HOLDER, f"{cell}/{namespace}/{claim}"):
            yield project, entry


def owner(entry: Subnet) -> str:
    """The Network whose ledger an entry is of; empty if it is of none."""
    for reference in entry.metadata.owner_references:
        if reference.controller and reference.kind == "Network":
            return reference.name
    return ""


def _bindings(cell: Cluster) -> Cache[NetworkBinding]:
    cache = cell.informers.of(NetworkBinding).cache
    cache.add_index(_NETWORK, _binding_networks)
    cache.add_index(_CONTEXT, _binding_contexts)
    return cache


def _named_networks(workload: Workload) -> Iterable[str]:
    return (f"{namespace}/{name}" for namespace, name in of_workload(workload))


def _project_values(namespace: Namespace) -> Iterable[str]:
    found = identity(namespace)
    if found is not None:
        yield f"{names.cluster_key(found.project)}/{found.namespace}"


def _network_values(context: NetworkContext) -> Iterable[str]:
    network = network_of(context, context.spec.network.name)
    if network is not None:
        yield str(network)


def _binding_networks(binding: NetworkBinding) -> Iterable[str]:
    yield f"{binding.metadata.namespace}/{binding.spec.network.name}"


def _binding_contexts(binding: NetworkBinding) -> Iterable[str]:
    yield f"{binding.metadata.namespace}/{context_name(binding)}"


def _claim_values(claim: SubnetClaim) -> Iterable[str]:
    yield f"{claim.metadata.namespace}/{claim.spec.network_context.name}"


def _owner_values(entry: Subnet) -> Iterable[str]:
    if name := owner(entry):
        yield f"{entry.metadata.namespace}/{name}"


def _holder_values(entry: Subnet) -> Iterable[str]:
    if owner(entry):
        cell = entry.metadata.labels.get(labels.SOURCE_CLUSTER, "")
        namespace = entry.metadata.labels.get(labels.INSTANCE_NAMESPACE, "")
        yield f"{cell}/{namespace}/{entry.metadata.name.removesuffix(f'.{cell}')}"


def _cell_values(entry: Subnet) -> Iterable[str]:
    if owner(entry):
        yield entry.metadata.labels.get(labels.SOURCE_CLUSTER, "")
