"""Wishes for a network at a location. The first one makes the network's context there.

Whether the Network exists is asked of the project only then: those who come later find the context,
and need nobody outside of the cell.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from compute.api.networking import Network, NetworkBinding, NetworkContext, NetworkContextRef
from compute.api.reasons import NeighbourReason, Reason
from compute.decide.conditions import find, put
from compute.services.network import deletions, joins, network_conditions
from compute.services.network.contexts import context
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import DONE, ClusterName, NotEngaged, Request, Result
from kubekit.runtime.sources import Source, mapped, own


class NetworkBindings:
    """Gives each binding its context, and says whether that can be used."""

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
        found = cell.informers.of(NetworkContext).cache.get(request.namespace, name)
        if found is None or found.deleting:
            await self._make(cell, binding)
        elif account := self._too_late(binding, found):
            await self._refuse(cell, binding, Reason.NETWORK_TERMINATING, account)
        else:
            await self._report(cell, binding, found)
        return DONE

    def _too_late(self, binding: NetworkBinding, at: NetworkContext) -> str:
        """Why a binding is not attached to a context that is there; empty where it is, or may be."""
        if _is_attached(binding):
            return ""
        network = joins.network_of(at, at.spec.network.name)
        return deletions.account(self._planes.projects, network)

    async def _report(self, cell: Cluster, binding: NetworkBinding, at: NetworkContext) -> None:
        """Say of the binding what its context says of itself."""
        meta = at.metadata
        reference = NetworkContextRef(name=meta.name, namespace=meta.namespace)
        status = msgspec.structs.replace(binding.status, network_context_ref=reference)
        binding_now = msgspec.structs.replace(binding, status=status)
        await self._say(cell, binding, binding_now, _of_state(at, binding.metadata.generation))

    async def _make(self, cell: Cluster, binding: NetworkBinding) -> None:
        """Make the context, or say why there is none."""
        home = await joins.home(cell, binding.metadata.namespace)
        if home is None:
            why = "The labels of the cell's namespace do not say which project it belongs to"
            await self._refuse(cell, binding, NeighbourReason.PROJECT_UNRESOLVED, why)
            return
        asked = binding.spec.network
        place = joins.network_named(home, asked.name)
        if asked.namespace not in {"", home.namespace, binding.metadata.namespace}:
            why = f"The network {asked.name} is of the namespace {asked.namespace}; only networks of {home.namespace} can be used there"
            await self._refuse(cell, binding, Reason.NETWORK_NOT_FOUND, why)
            return
        network = await self._network(cell, binding, place)
        if network is None:
            why = f"The project {place.cluster} has no network {asked.name} in the namespace {place.namespace}"
            await self._refuse(cell, binding, Reason.NETWORK_NOT_FOUND, why)
            return
        account = deletions.account_of(network)
        if account and not _is_attached(binding):
            await self._refuse(cell, binding, Reason.NETWORK_TERMINATING, account)
            return
        meta = binding.metadata
        live = await cell.client.find(NetworkBinding, meta.name, meta.namespace)
        if live is not None and live.metadata.uid == meta.uid and not live.deleting:
            await cell.client.create(context(binding, home))

    async def _network(
        self, cell: Cluster, binding: NetworkBinding, place: Request
    ) -> Network | None:
        """The Network, read live. A project that is not there may come yet."""
        project = self._planes.projects.find(place.cluster)
        if project is None:
            why = f"The project {place.cluster} is not known to the network service"
            await self._refuse(cell, binding, NeighbourReason.PROJECT_UNRESOLVED, why)
            raise NotEngaged(place.cluster)
        return await project.client.find(Network, place.name, place.namespace)

    async def _refuse(self, cell: Cluster, binding: NetworkBinding, reason: str, why: str) -> None:
        status = msgspec.structs.replace(binding.status, network_context_ref=None)
        bare = msgspec.structs.replace(binding, status=status)
        news = network_conditions.refused(
            (network_conditions.READY,), reason, why, binding.metadata.generation
        )
        await self._say(cell, binding, bare, news)

    async def _say(
        self,
        cell: Cluster,
        binding: NetworkBinding,
        wanted: NetworkBinding,
        news: tuple[Condition, ...],
    ) -> None:
        conditions = put(wanted.status.conditions, news, self._environment.now())
        status = msgspec.structs.replace(wanted.status, conditions=conditions)
        await cell.client.patch_status(binding, msgspec.structs.replace(wanted, status=status))

    def _of_context(self, cluster: ClusterName, at: NetworkContext) -> Iterable[Request]:
        meta = at.metadata
        found = joins.bindings_to(self._planes.cells.get(cluster), meta.namespace, meta.name)
        return [_request(cluster, binding) for binding in found]

    def _of_namespace(self, cluster: ClusterName, namespace: Namespace) -> Iterable[Request]:
        cell = self._planes.cells.get(cluster)
        keys = cell.informers.of(NetworkBinding).cache.keys(namespace.metadata.name)
        return [Request(cluster, *key) for key in keys]

    def _of_network(self, cluster: ClusterName, network: Network) -> Iterable[Request]:
        """Whoever may have waited for it: those that have a context are told by that."""
        meta = network.metadata
        place = Request(cluster, meta.namespace, meta.name)
        for cell in self._planes.cells:
            for namespace in joins.homes(cell, place):
                for binding in joins.bindings_of(cell, namespace, meta.name):
                    if binding.status.network_context_ref is None:
                        yield _request(cell.name, binding)


def _request(cluster: ClusterName, binding: NetworkBinding) -> Request:
    return Request(cluster, binding.metadata.namespace, binding.metadata.name)


def _is_attached(binding: NetworkBinding) -> bool:
    """Whether a binding has had its context: it keeps it while the network is being deleted."""
    return binding.status.network_context_ref is not None


def _of_state(at: NetworkContext, generation: int) -> tuple[Condition, ...]:
    ready = find(at.status.conditions, network_conditions.READY)
    if ready is not None and ready.status == "True":
        if ready.reason == Reason.NETWORK_TERMINATING:
            return (network_conditions.usable(ready.message, generation),)
        reason = NeighbourReason.NETWORK_CONTEXT_READY
        return (
            network_conditions.said(
                network_conditions.READY, "True", reason, "The network can be used", generation
            ),
        )
    if ready is not None and ready.reason == Reason.NETWORK_FAILED_TO_CREATE:
        return network_conditions.refused(
            (network_conditions.READY,), ready.reason, ready.message, generation
        )
    why = f"The network is being set up at {at.spec.location.name}"
    reason = NeighbourReason.NETWORK_CONTEXT_NOT_READY
    return network_conditions.refused((network_conditions.READY,), reason, why, generation)
