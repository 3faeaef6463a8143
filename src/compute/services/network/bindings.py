"""NetworkBindings: requests for a network at a location. The first one creates the context there.

The Network is read from the project only for the first one. Later bindings use the context, and need
nothing outside the cell.
"""

from collections.abc import Iterable
from typing import Any

from compute.api.networking import Network, NetworkBinding, NetworkContext, NetworkContextRef
from compute.api.reasons import NeighbourReason, Reason
from compute.decide.conditions import find, put
from compute.services.network import deletions, joins, network_conditions
from compute.services.network.contexts import new_context
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import DONE, ClusterName, NotEngaged, Request, Result
from kubekit.runtime.sources import Source, mapped, own


class NetworkBindings:
    """Creates the context of each binding, and reports whether it can be used."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._planes = planes
        self._environment = environment

    def sources(self) -> list[Source[Any]]:
        cells = self._planes.cells
        return [
            own(NetworkBinding, cells),
            mapped(NetworkContext, cells, self._of_context),
            mapped(Namespace, cells, self._of_namespace),
            mapped(Network, self._planes.projects, self._of_network),
        ]

    async def reconcile(self, request: Request) -> Result:
        cell = self._planes.cells.get(request.cluster)
        binding = cell.informers.of(NetworkBinding).cache.get(request.namespace, request.name)
        if binding is None or binding.deleting:
            return DONE
        name = joins.context_name(binding)
        context = cell.informers.of(NetworkContext).cache.get(request.namespace, name)
        if context is None or context.deleting:
            await self._create_context(cell, binding)
        elif message := self._attach_refusal(binding, context):
            await self._refuse(cell, binding, Reason.NETWORK_TERMINATING, message)
        else:
            await self._report(cell, binding, context)
        return DONE

    def _attach_refusal(self, binding: NetworkBinding, context: NetworkContext) -> str:
        """Why a binding is not attached to an existing context; empty if it is or may be attached."""
        if _is_attached(binding):
            return ""
        network = joins.network_of(context, context.spec.network.name)
        return deletions.terminating(self._planes.projects, network)

    async def _report(
        self, cell: Cluster, binding: NetworkBinding, context: NetworkContext
    ) -> None:
        """Copy the state of the context to the binding."""
        meta = context.metadata
        reference = NetworkContextRef(name=meta.name, namespace=meta.namespace)
        attached = with_status(binding, network_context_ref=reference)
        await self._write(cell, binding, attached, _of_state(context, binding.metadata.generation))

    async def _create_context(self, cell: Cluster, binding: NetworkBinding) -> None:
        """Create the context, or report why there is none."""
        project = await joins.project_namespace(cell, binding.metadata.namespace)
        if project is None:
            why = "The labels of the cell's namespace do not say which project it belongs to"
            await self._refuse(cell, binding, NeighbourReason.PROJECT_UNRESOLVED, why)
            return
        named = binding.spec.network
        key = joins.network_named(project, named.name)
        if named.namespace not in {"", project.namespace, binding.metadata.namespace}:
            why = f"The network {named.name} is of the namespace {named.namespace}; only networks of {project.namespace} can be used there"
            await self._refuse(cell, binding, Reason.NETWORK_NOT_FOUND, why)
            return
        network = await self._network(cell, binding, key)
        if network is None:
            why = f"The project {key.cluster} has no network {named.name} in the namespace {key.namespace}"
            await self._refuse(cell, binding, Reason.NETWORK_NOT_FOUND, why)
            return
        message = deletions.terminating_message(network)
        if message and not _is_attached(binding):
            await self._refuse(cell, binding, Reason.NETWORK_TERMINATING, message)
            return
        if await live.current(cell.client, binding) is not None:
            await cell.client.create(new_context(binding, project))

    async def _network(
        self, cell: Cluster, binding: NetworkBinding, key: Request
    ) -> Network | None:
        """The Network, read live. A project that is not engaged may be engaged later."""
        project = self._planes.projects.find(key.cluster)
        if project is None:
            why = f"The project {key.cluster} is not known to the network service"
            await self._refuse(cell, binding, NeighbourReason.PROJECT_UNRESOLVED, why)
            raise NotEngaged(key.cluster)
        return await project.client.find(Network, key.name, key.namespace)

    async def _refuse(self, cell: Cluster, binding: NetworkBinding, reason: str, why: str) -> None:
        detached = with_status(binding, network_context_ref=None)
        updates = network_conditions.refused(
            (network_conditions.READY,), reason, why, binding.metadata.generation
        )
        await self._write(cell, binding, detached, updates)

    async def _write(
        self,
        cell: Cluster,
        binding: NetworkBinding,
        wanted: NetworkBinding,
        updates: tuple[Condition, ...],
    ) -> None:
        conditions = put(wanted.status.conditions, updates, self._environment.now())
        await cell.client.patch_status(binding, with_status(wanted, conditions=conditions))

    def _of_context(self, cluster: ClusterName, context: NetworkContext) -> Iterable[Request]:
        meta = context.metadata
        bindings = joins.bindings_to(self._planes.cells.get(cluster), meta.namespace, meta.name)
        return [_request(cluster, binding) for binding in bindings]

    def _of_namespace(self, cluster: ClusterName, namespace: Namespace) -> Iterable[Request]:
        cell = self._planes.cells.get(cluster)
        keys = cell.informers.of(NetworkBinding).cache.keys(namespace.metadata.name)
        return [Request(cluster, *key) for key in keys]

    def _of_network(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        """The bindings that may wait for the Network. An attached binding is requeued by its context."""
        meta = network.metadata
        key = Request(cluster, meta.namespace, meta.name)
        for cell in self._planes.cells:
            for namespace in joins.cell_namespaces(cell, key):
                for binding in joins.bindings_of(cell, namespace, meta.name):
                    if binding.status.network_context_ref is None:
                        yield _request(cell.name, binding)


def _request(cluster: ClusterName, binding: NetworkBinding) -> Request:
    return Request(cluster, binding.metadata.namespace, binding.metadata.name)


def _is_attached(binding: NetworkBinding) -> bool:
    """Whether a binding has its context, which it keeps while the network is being deleted."""
    return binding.status.network_context_ref is not None


def _of_state(context: NetworkContext, generation: int) -> tuple[Condition, ...]:
    ready = find(context.status.conditions, network_conditions.READY)
    if ready is not None and ready.status == "True":
        if ready.reason == Reason.NETWORK_TERMINATING:
            return (network_conditions.usable(ready.message, generation),)
        reason = NeighbourReason.NETWORK_CONTEXT_READY
        return (
            network_conditions.condition(
                network_conditions.READY, "True", reason, "The network can be used", generation
            ),
        )
    if ready is not None and ready.reason == Reason.NETWORK_FAILED_TO_CREATE:
        return network_conditions.refused(
            (network_conditions.READY,), ready.reason, ready.message, generation
        )
    why = f"The network is being set up at {context.spec.location.name}"
    reason = NeighbourReason.NETWORK_CONTEXT_NOT_READY
    return network_conditions.refused((network_conditions.READY,), reason, why, generation)
