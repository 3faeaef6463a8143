"""The presence of a network in a cell: there while somebody is bound to it, and no longer.

With the context go, by their owner references, the claim for addresses and its Subnet. So it must
not go while an Instance has such an address, even if its binding was deleted by hand.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance
from compute.api.networking import (
    Network,
    NetworkBinding,
    NetworkContext,
    NetworkContextSpec,
    SubnetClaim,
)
from compute.api.reasons import Reason
from compute.decide.conditions import find, is_true, put
from compute.decide.federation import ProjectNamespace
from compute.services.network import deletions, joins, network_conditions
from compute.services.network.faults import faults, is_ours
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Condition, LocalRef, ObjectMeta
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

# An Instance that outlives its deployment's binding is not watched from here.
_WHILE_USED: Final = Result(requeue_after=timedelta(seconds=30))


def context(binding: NetworkBinding, home: ProjectNamespace) -> NetworkContext:
    """The context that a binding needs. Its labels say whose network it is."""
    return NetworkContext(
        metadata=ObjectMeta(
            name=joins.context_name(binding),
            namespace=binding.metadata.namespace,
            labels={
                labels.UPSTREAM_CLUSTER: names.encode_cluster(home.project),
                labels.UPSTREAM_NAMESPACE: home.namespace,
            },
        ),
        spec=NetworkContextSpec(
            location=binding.spec.location, network=LocalRef(name=binding.spec.network.name)
        ),
    )


class Contexts:
    """Sets up each context, and removes it when nobody is bound to it any more."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._cells = planes.cells
        self._projects = planes.projects
        self._environment = environment

    def sources(self) -> list[Source[Any]]:
        return [
            own(NetworkContext, self._cells),
            mapped(NetworkBinding, self._cells, _of_binding),
            mapped(SubnetClaim, self._cells, _of_claim),
            mapped(ConfigMap, self._cells, self._of_faults),
            mapped(Network, self._projects, self._of_network),
        ]

    async def reconcile(self, request: Request) -> Result:
        cell = self._cells.get(request.cluster)
        found = cell.informers.of(NetworkContext).cache.get(request.namespace, request.name)
        if found is None or found.deleting:
            return DONE
        if not joins.bindings_to(cell, request.namespace, request.name):
            return await self._unbound(cell, found)
        network = joins.network_of(found, found.spec.network.name)
        account = deletions.account(self._projects, network)
        news = _conditions(found, _fault(cell, found), _refusal(cell, found), account)
        conditions = put(found.status.conditions, news, self._environment.now())
        status = msgspec.structs.replace(found.status, conditions=conditions)
        await cell.client.patch_status(found, msgspec.structs.replace(found, status=status))
        return DONE

    async def _unbound(self, cell: Cluster, found: NetworkContext) -> Result:
        """Remove a context, if it is as unused as the cache says."""
        namespace = found.metadata.namespace
        bindings = await cell.client.every(NetworkBinding, namespace)
        if any(joins.context_name(each) == found.metadata.name for each in bindings.items):
            return DONE  # the cache will hear of it, and ask again
        if await _is_used(cell, found):
            return _WHILE_USED
        await cell.client.delete(found)
        return DONE

    def _of_faults(self, cluster: ClusterName, settings: ConfigMap) -> Iterable[Request]:
        if not is_ours(settings):
            return ()
        keys = self._cells.get(cluster).informers.of(NetworkContext).cache.keys()
        return [Request(cluster, *key) for key in keys]

    def _of_network(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        """The contexts of a Network that is being deleted: they say so too."""
        meta = network.metadata
        place = Request(cluster, meta.namespace, meta.name)
        for cell in self._cells if network.deleting else ():
            for at in joins.contexts_of(cell, place):
                yield Request(cell.name, at.metadata.namespace, at.metadata.name)


def _of_binding(cluster: ClusterName, binding: NetworkBinding) -> Iterable[Request]:
    yield Request(cluster, binding.metadata.namespace, joins.context_name(binding))


def _of_claim(cluster: ClusterName, claim: SubnetClaim) -> Iterable[Request]:
    yield Request(cluster, claim.metadata.namespace, claim.spec.network_context.name)


def _fault(cell: Cluster, found: NetworkContext) -> str:
    """What is to fail here on request; empty when nothing is."""
    network, place = found.spec.network.name, found.spec.location.name
    failing = faults(cell).fail(network)
    return f"The network {network} could not be set up at {place}" if failing else ""


def _refusal(cell: Cluster, found: NetworkContext) -> str:
    """Why nobody gets addresses here; empty while somebody has some, or may yet get them."""
    claims = joins.claims_at(cell, found)
    if any(is_true(claim.status.conditions, network_conditions.READY) for claim in claims):
        return ""
    said = (find(claim.status.conditions, network_conditions.ALLOCATED) for claim in claims)
    return next((each.message for each in said if each and each.status == "False"), "")


async def _is_used(cell: Cluster, found: NetworkContext) -> bool:
    """Whether an Instance may have an address there."""
    network = found.spec.network.name
    instances = await cell.client.every(Instance, found.metadata.namespace)
    return any(
        interface.network.name == network
        for instance in instances.items
        if instance.status.network_interfaces
        for interface in instance.spec.network_interfaces
    )


def _conditions(
    found: NetworkContext, failed: str, refused: str, account: str
) -> tuple[Condition, ...]:
    """What a context says of itself that could not be set up, or gets no addresses."""
    generation, reason = found.metadata.generation, Reason.NETWORK_FAILED_TO_CREATE
    if failed:
        return network_conditions.refused(
            (network_conditions.PROGRAMMED, network_conditions.READY), reason, failed, generation
        )
    programmed = network_conditions.said(
        network_conditions.PROGRAMMED, "True", Reason.PROGRAMMED, "It is set up", generation
    )
    if refused:
        return (
            programmed,
            *network_conditions.refused((network_conditions.READY,), reason, refused, generation),
        )
    return (programmed, network_conditions.usable(account, generation))
