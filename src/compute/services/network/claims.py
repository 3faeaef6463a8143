"""Claims for addresses, in a cell: each gets the Subnet that its project's ledger has for it.

An existing Subnet does not need the project: its state is reported while the project is unreachable.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from compute.api.networking import (
    NetworkContext,
    Subnet,
    SubnetClaim,
    SubnetClaimStatus,
    SubnetStatus,
)
from compute.decide.conditions import put
from compute.services.network import joins, network_conditions, subnet_ledger
from compute.services.planes import ServicePlanes
from kubekit.api.meta import LocalRef, ObjectMeta
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped, own


class Claims:
    """Makes the Subnet of each claim from its entry in the ledger."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._planes = planes
        self._environment = environment

    def sources(self) -> list[Source[Any]]:
        cells = self._planes.cells
        return [
            own(SubnetClaim, cells),
            mapped(Subnet, cells, _of_subnet),
            mapped(NetworkContext, cells, self._of_context),
            mapped(Subnet, self._planes.projects, _of_entry),
        ]

    async def reconcile(self, request: Request) -> Result:
        cell = self._planes.cells.get(request.cluster)
        claim = cell.informers.of(SubnetClaim).cache.get(request.namespace, request.name)
        if claim is None or claim.deleting:
            return DONE
        subnet = cell.informers.of(Subnet).cache.get(request.namespace, request.name)
        network = joins.network_of_claim(cell, claim)
        if subnet is None and network is not None:
            subnet = await self._create_subnet(cell, claim, network)
        if subnet is None or subnet.deleting:
            return DONE
        subnet = await self._corrected(cell, subnet, network)
        await self._report(cell, claim, await self._programmed(cell, subnet))
        return DONE

    async def _create_subnet(
        self, cell: Cluster, claim: SubnetClaim, network: Request
    ) -> Subnet | None:
        """Create the Subnet as the ledger has it; None while the ledger has none."""
        project = self._planes.projects.get(network.cluster)
        name = subnet_ledger.entry_name(cell.name, claim.metadata.name)
        entry = await project.client.find(Subnet, name, network.namespace)
        meta = claim.metadata
        if entry is None or entry.deleting or not _is_for(entry, cell, claim):
            return None
        present = await live.current(cell.client, claim)
        context = await cell.client.find(
            NetworkContext, entry.spec.network_context.name, meta.namespace
        )
        if present is None or context is None or context.deleting:
            return None
        return await cell.client.create(
            Subnet(
                metadata=ObjectMeta(
                    name=meta.name,
                    namespace=meta.namespace,
                    owner_references=(context.reference(controller=True),),
                ),
                spec=subnet_ledger.spec(entry),
            )
        )

    async def _corrected(self, cell: Cluster, subnet: Subnet, network: Request | None) -> Subnet:
        """The Subnet with the addresses of the ledger, which undoes a manual change."""
        project = self._planes.projects.find(network.cluster) if network else None
        if project is None or network is None:
            return subnet
        name = subnet_ledger.entry_name(cell.name, subnet.metadata.name)
        entry = project.informers.of(Subnet).cache.get(network.namespace, name)
        if entry is None or not subnet_ledger.is_allocated(entry):
            return subnet
        wanted = msgspec.structs.replace(subnet, spec=subnet_ledger.spec(entry))
        return await cell.client.patch(subnet, wanted)

    async def _programmed(self, cell: Cluster, subnet: Subnet) -> Subnet:
        """The Subnet with its conditions and addresses in its status."""
        spec, generation = subnet.spec, subnet.metadata.generation
        updates = network_conditions.subnet_ready(
            f"{spec.start_address}/{spec.prefix_length}", generation
        )
        status = SubnetStatus(
            conditions=put(subnet.status.conditions, updates, self._environment.now()),
            prefix_length=spec.prefix_length,
            start_address=spec.start_address,
        )
        wanted = msgspec.structs.replace(subnet, status=status)
        return await cell.client.patch_status(subnet, wanted)

    async def _report(self, cell: Cluster, claim: SubnetClaim, subnet: Subnet) -> None:
        spec, generation = subnet.spec, claim.metadata.generation
        updates = network_conditions.claim_ready(
            f"{spec.start_address}/{spec.prefix_length}", generation
        )
        status = SubnetClaimStatus(
            conditions=put(claim.status.conditions, updates, self._environment.now()),
            prefix_length=spec.prefix_length,
            start_address=spec.start_address,
            subnet_ref=LocalRef(name=subnet.metadata.name),
        )
        await cell.client.patch_status(claim, msgspec.structs.replace(claim, status=status))

    def _of_context(self, cluster: ClusterName, context: NetworkContext) -> Iterable[Request]:
        network = joins.network_of(context, context.spec.network.name)
        claims = joins.claims_of(self._planes.cells.get(cluster), network) if network else ()
        return [Request(cluster, c.metadata.namespace, c.metadata.name) for c in claims]


def _of_subnet(cluster: ClusterName, subnet: Subnet) -> Iterable[Request]:
    yield Request(cluster, subnet.metadata.namespace, subnet.metadata.name)


def _of_entry(_: ClusterName, entry: Subnet) -> Iterable[Request]:
    if subnet_ledger.is_ours(entry):
        holder = subnet_ledger.holder(entry)
        yield Request(cluster_name(holder.cell), holder.namespace, holder.claim)


def _is_for(entry: Subnet, cell: Cluster, claim: SubnetClaim) -> bool:
    """Whether an entry is allocated to this claim."""
    meta = claim.metadata
    wanted = subnet_ledger.SubnetHolder(cell.name, meta.namespace, meta.name)
    return subnet_ledger.is_allocated(entry) and subnet_ledger.holder(entry) == wanted
