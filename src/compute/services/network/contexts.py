"""NetworkContexts: a network in a cell, which exists as long as it has bindings.

The context owns the claim for addresses and its Subnet. So it must not be deleted while an Instance
has such an address, even if its binding was deleted by hand.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

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
from kubekit.api.meta import Condition, LocalRef, ObjectMeta, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

# The context's sources do not watch Instances, so a context that is still used is checked again.
_WHILE_USED: Final = Result(requeue_after=timedelta(seconds=30))


def new_context(binding: NetworkBinding, project: ProjectNamespace) -> NetworkContext:
    """The context that a binding needs. Its labels name the project of the network."""
    return NetworkContext(
        metadata=ObjectMeta(
            name=joins.context_name(binding),
            namespace=binding.metadata.namespace,
            labels={
                labels.UPSTREAM_CLUSTER: names.encode_cluster(project.project),
                labels.UPSTREAM_NAMESPACE: project.namespace,
            },
        ),
        spec=NetworkContextSpec(
            location=binding.spec.location, network=LocalRef(name=binding.spec.network.name)
        ),
    )


class Contexts:
    """Sets up each context, and removes it when it has no more bindings."""

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
        context = cell.informers.of(NetworkContext).cache.get(request.namespace, request.name)
        if context is None or context.deleting:
            return DONE
        if not joins.bindings_to(cell, request.namespace, request.name):
            return await self._unbound(cell, context)
        network = joins.network_of(context, context.spec.network.name)
        terminating = deletions.terminating(self._projects, network)
        updates = _conditions(context, _fault(cell, context), _refusal(cell, context), terminating)
        conditions = put(context.status.conditions, updates, self._environment.now())
        await cell.client.patch_status(context, with_status(context, conditions=conditions))
        return DONE

    async def _unbound(self, cell: Cluster, context: NetworkContext) -> Result:
        """Delete a context if live reads confirm that it is unused."""
        namespace = context.metadata.namespace
        bindings = await cell.client.every(NetworkBinding, namespace)
        if any(joins.context_name(each) == context.metadata.name for each in bindings.items):
            return DONE  # its watch event requeues the request
        if await _is_used(cell, context):
            return _WHILE_USED
        await cell.client.delete(context)
        return DONE

    def _of_faults(self, cluster: ClusterName, settings: ConfigMap) -> Iterable[Request]:
        if not is_ours(settings):
            return ()
        keys = self._cells.get(cluster).informers.of(NetworkContext).cache.keys()
        return [Request(cluster, *key) for key in keys]

    def _of_network(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        """The contexts of a Network that is being deleted, to report that."""
        meta = network.metadata
        key = Request(cluster, meta.namespace, meta.name)
        for cell in self._cells if network.deleting else ():
            for context in joins.contexts_of(cell, key):
                yield Request(cell.name, context.metadata.namespace, context.metadata.name)


def _of_binding(cluster: ClusterName, binding: NetworkBinding) -> Iterable[Request]:
    yield Request(cluster, binding.metadata.namespace, joins.context_name(binding))


def _of_claim(cluster: ClusterName, claim: SubnetClaim) -> Iterable[Request]:
    yield Request(cluster, claim.metadata.namespace, claim.spec.network_context.name)


def _fault(cell: Cluster, context: NetworkContext) -> str:
    """The message of a simulated failure; empty if there is none."""
    network, location = context.spec.network.name, context.spec.location.name
    failing = faults(cell).fail(network)
    return f"The network {network} could not be set up at {location}" if failing else ""


def _refusal(cell: Cluster, context: NetworkContext) -> str:
    """Why no claim gets addresses here; empty if one has some, or may still get them."""
    claims = joins.claims_at(cell, context)
    if any(is_true(claim.status.conditions, network_conditions.READY) for claim in claims):
        return ""
    allocated = (find(claim.status.conditions, network_conditions.ALLOCATED) for claim in claims)
    return next((each.message for each in allocated if each and each.status == "False"), "")


async def _is_used(cell: Cluster, context: NetworkContext) -> bool:
    """Whether an Instance may have an address there."""
    network = context.spec.network.name
    instances = await cell.client.every(Instance, context.metadata.namespace)
    return any(
        interface.network.name == network
        for instance in instances.items
        if instance.status.network_interfaces
        for interface in instance.spec.network_interfaces
    )


def _conditions(
    context: NetworkContext, failed: str, refused: str, terminating: str
) -> tuple[Condition, ...]:
    """The conditions of a context. The messages are empty where there is no failure or refusal."""
    generation, reason = context.metadata.generation, Reason.NETWORK_FAILED_TO_CREATE
    if failed:
        return network_conditions.refused(
            (network_conditions.PROGRAMMED, network_conditions.READY), reason, failed, generation
        )
    programmed = network_conditions.condition(
        network_conditions.PROGRAMMED, "True", Reason.PROGRAMMED, "It is set up", generation
    )
    if refused:
        return (
            programmed,
            *network_conditions.refused((network_conditions.READY,), reason, refused, generation),
        )
    return (programmed, network_conditions.usable(terminating, generation))
