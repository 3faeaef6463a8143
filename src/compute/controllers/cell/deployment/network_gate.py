"""The networks of a deployment: what is read, what is requested, and what requeues it.

The gate Network itself is removed from each Instance by `deployment_plan.updated`, once the networks
are ready.

Nothing is polled. A deployment waits for its city's Location, for its bindings, and for the contexts,
claims and subnets that these lead to; a change of any of them requeues exactly the deployments that
use it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.networking import Location, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.decide.networking.networks import NetworkObjects, NetworkPlan, city_of, network_plan
from kubekit.api.errors import Conflict
from kubekit.client.client import Client
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import Source, mapped
from kubekit.runtime.watching.cache import Cache

_BY_CITY: Final = "network gate: city"
_BY_CONTEXT: Final = "network gate: context"
_BY_DEPLOYMENT: Final = "network gate: deployment"


class NetworkGate:
    """The networks of the deployments of a cell."""

    def __init__(self, cell: Clusters) -> None:
        self._cell = cell

    def sources(self) -> list[Source[Any]]:
        """The kinds whose changes may open a gate, or give a reason why it stays closed."""
        return [
            mapped(Location, self._cell, self._in_city),
            mapped(NetworkBinding, self._cell, _of_binding),
            mapped(NetworkContext, self._cell, self._using_context),
            mapped(SubnetClaim, self._cell, self._using_claim),
            mapped(Subnet, self._cell, self._using_claim),
        ]

    def plan(
        self, cluster: Cluster, deployment: WorkloadDeployment, instances: Sequence[Instance]
    ) -> NetworkPlan:
        """The state of the deployment's networks, from the caches."""
        locations = _locations(cluster).by(_BY_CITY, deployment.spec.city_code)
        own = _key(deployment.metadata.namespace, deployment.metadata.name)
        bindings = _bindings(cluster).by(_BY_DEPLOYMENT, own)
        contexts = list(_contexts(cluster, bindings))
        claims = [claim for context in contexts for claim in _claims_of(cluster, context)]
        objects = NetworkObjects(
            locations=locations,
            bindings=bindings,
            contexts=contexts,
            claims=claims,
            subnets=list(_subnets(cluster, claims)),
        )
        return network_plan(deployment, instances, objects)

    async def apply(self, client: Client, plan: NetworkPlan) -> None:
        """Create missing bindings and claims, delete unused bindings. The deployment was read live.

        An object that another writer created or deleted first is left as it is.
        """
        for binding in plan.bindings:
            await live.create(client, binding)
        for claim in plan.claims:
            if await _has_context(client, claim):
                await live.create(client, claim)
        for unused in plan.unused:
            with suppress(Conflict):  # gone, and another binding has the name
                await live.delete(client, unused)

    def _in_city(self, cluster: ClusterName, location: Location) -> Iterator[Request]:
        """The deployments of a Location's city: those without a Location have no binding yet."""
        for deployment in _deployments(self._cell.get(cluster)).by(_BY_CITY, city_of(location)):
            yield Request(cluster, deployment.metadata.namespace, deployment.metadata.name)

    def _using_context(self, cluster: ClusterName, context: NetworkContext) -> Iterator[Request]:
        yield from self._using(cluster, context.metadata.namespace, context.metadata.name)

    def _using_claim(self, cluster: ClusterName, claim: SubnetClaim | Subnet) -> Iterator[Request]:
        yield from self._using(cluster, claim.metadata.namespace, claim.spec.network_context.name)

    def _using(self, cluster: ClusterName, namespace: str, context: str) -> Iterator[Request]:
        """The deployments that are bound to a context."""
        for binding in _bindings(self._cell.get(cluster)).by(_BY_CONTEXT, _key(namespace, context)):
            yield from _of_binding(cluster, binding)


def _of_binding(cluster: ClusterName, binding: NetworkBinding) -> Iterator[Request]:
    """The deployment that the name of a binding contains. It may wait for an old binding to be gone."""
    parts = names.network_binding_parts(binding.metadata.name)
    if parts:
        yield Request(cluster, binding.metadata.namespace, parts[0])


async def _has_context(client: Client, claim: SubnetClaim) -> bool:
    """Whether the context that owns a claim still exists, read live."""
    name, namespace = claim.spec.network_context.name, claim.metadata.namespace
    context = await client.find(NetworkContext, name, namespace)
    owners = [owner.uid for owner in claim.metadata.owner_references]
    return context is not None and context.metadata.uid in owners and not context.deleting


def _deployments(cluster: Cluster) -> Cache[WorkloadDeployment]:
    cache = cluster.informers.of(WorkloadDeployment).cache
    cache.add_index(_BY_CITY, lambda deployment: filter(None, (deployment.spec.city_code,)))
    return cache


def _locations(cluster: Cluster) -> Cache[Location]:
    cache = cluster.informers.of(Location).cache
    cache.add_index(_BY_CITY, lambda location: filter(None, (city_of(location),)))
    return cache


def _bindings(cluster: Cluster) -> Cache[NetworkBinding]:
    cache = cluster.informers.of(NetworkBinding).cache
    cache.add_index(_BY_DEPLOYMENT, _deployment_of)
    cache.add_index(_BY_CONTEXT, _context_of)
    return cache


def _claims(cluster: Cluster) -> Cache[SubnetClaim]:
    cache = cluster.informers.of(SubnetClaim).cache
    cache.add_index(_BY_CONTEXT, _claimed_context)
    return cache


def _contexts(cluster: Cluster, bindings: Iterable[NetworkBinding]) -> Iterator[NetworkContext]:
    """The contexts of the bindings, each once."""
    cache = cluster.informers.of(NetworkContext).cache
    refs = dict.fromkeys(b.status.network_context_ref for b in bindings)
    for ref in refs:
        context = cache.get(ref.namespace, ref.name) if ref else None
        if context is not None:
            yield context


def _claims_of(cluster: Cluster, context: NetworkContext) -> list[SubnetClaim]:
    meta = context.metadata
    return _claims(cluster).by(_BY_CONTEXT, _key(meta.namespace, meta.name))


def _subnets(cluster: Cluster, claims: Iterable[SubnetClaim]) -> Iterator[Subnet]:
    cache = cluster.informers.of(Subnet).cache
    for claim in claims:
        ref = claim.status.subnet_ref
        subnet = cache.get(claim.metadata.namespace, ref.name) if ref else None
        if subnet is not None:
            yield subnet


def _deployment_of(binding: NetworkBinding) -> Iterator[str]:
    parts = names.network_binding_parts(binding.metadata.name)
    if parts:
        yield _key(binding.metadata.namespace, parts[0])


def _context_of(binding: NetworkBinding) -> Iterator[str]:
    ref = binding.status.network_context_ref
    if ref:
        yield _key(ref.namespace, ref.name)


def _claimed_context(claim: SubnetClaim) -> Iterator[str]:
    yield _key(claim.metadata.namespace, claim.spec.network_context.name)


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"
