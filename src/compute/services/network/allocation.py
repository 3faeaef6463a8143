"""Allocation of addresses of a Network to claims, so that no two ever overlap.

Only reconcile passes of a Network allocate, and these run one at a time. If two processes run such a
pass at once, the resource version of the Network decides. A pass reads the Network, then its ledger.
It writes a new entry, which blocks the range. The entry counts only after a counter on the Network was
raised in the version that was read first. Of two processes that read the same ledger, only one can
raise it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from compute.api.networking import Network, Subnet, SubnetClaim, SubnetStatus
from compute.api.reasons import NeighbourReason, Reason
from compute.decide.conditions import put
from compute.decide.networking.addresses import (
    AddressRequest,
    Occupied,
    Prefix,
    Unsupported,
    allocated,
    network_range,
)
from compute.services.network import network_conditions, subnet_ledger
from compute.services.network.subnet_ledger import SubnetHolder
from kubekit.api.errors import ApiError
from kubekit.api.meta import with_metadata, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reconciling import commit

Refusal = Unsupported | Occupied


@dataclass(slots=True)
class AllocationResult:
    """The result of a pass: the refused claims, and the errors of unreachable cells."""

    refusals: dict[SubnetHolder, Refusal] = field(default_factory=dict)
    errors: list[Exception] = field(default_factory=list)


@dataclass(slots=True)
class Allocation:
    """One pass over the ledger of one Network, both read live."""

    project: Cluster
    network: Network
    entries: dict[str, Subnet]
    environment: ExecutionEnvironment

    async def serve(
        self, wanted: Mapping[SubnetHolder, tuple[Cluster, SubnetClaim]], outcome: AllocationResult
    ) -> None:
        """Allocate addresses to these claims. An unreachable cell does not delay the others."""
        for holder in sorted(wanted):
            cell, cached = wanted[holder]
            try:
                claim = await live.current(cell.client, cached)
                subnet = await cell.client.find(Subnet, holder.claim, holder.namespace)
            except (ApiError, OSError) as error:
                outcome.errors.append(error)
                continue
            if claim is None:
                continue
            refusal = await self._allocate(cell, claim, subnet)
            if refusal is not None:
                outcome.refusals[holder] = refusal
                await self._refuse(cell, claim, refusal)

    async def _allocate(
        self, cell: Cluster, claim: SubnetClaim, subnet: Subnet | None
    ) -> Refusal | None:
        """Allocate addresses to a claim; the refusal, if that is not possible."""
        name = subnet_ledger.entry_name(cell.name, claim.metadata.name)
        present = self.entries.get(name)
        if present is not None and subnet_ledger.is_allocated(present):
            return None
        taken = subnet_ledger.prefixes(each for key, each in self.entries.items() if key != name)
        if present is not None and _overlaps(present, taken):
            await self.project.client.delete(present)
            del self.entries[name]
            present = None
        if present is None:
            prefix = self._chosen(claim, subnet, taken)
            if isinstance(prefix, Refusal):
                return prefix
            fresh = subnet_ledger.entry(self.network, cell.name, claim, prefix)
            present = self.entries[name] = await self.project.client.create(fresh)
        self.entries[name] = await self._committed(present)
        return None

    def _chosen(
        self, claim: SubnetClaim, subnet: Subnet | None, taken: list[Prefix]
    ) -> Prefix | Refusal:
        """A free prefix; for an existing Subnet without an entry, the one that it has."""
        within = network_range(self.network, claim.spec.ip_family)
        if isinstance(within, Unsupported):
            return within
        wanted = claim.spec if subnet is None else subnet.spec
        return allocated(within, AddressRequest(wanted.start_address, wanted.prefix_length), taken)

    async def _committed(self, entry: Subnet) -> Subnet:
        """Allocate the entry. A process that read the ledger without it cannot allocate the same range."""
        meta = self.network.metadata
        count = meta.annotations.get(subnet_ledger.ALLOCATIONS, "")
        number = int(count) + 1 if count.isdecimal() else 1
        counted = commit.merge_maps(meta.annotations, {subnet_ledger.ALLOCATIONS: str(number)})
        wanted = with_metadata(self.network, annotations=counted)
        self.network = await self.project.client.patch(self.network, wanted)
        status = _status(entry, self.environment)
        return await self.project.client.patch_status(
            entry, msgspec.structs.replace(entry, status=status)
        )

    async def _refuse(self, cell: Cluster, claim: SubnetClaim, refusal: Refusal) -> None:
        kinds, generation = (
            (network_conditions.ALLOCATED, network_conditions.READY),
            claim.metadata.generation,
        )
        updates = network_conditions.refused(kinds, reason(refusal), refusal.why, generation)
        conditions = put(claim.status.conditions, updates, self.environment.now())
        await cell.client.patch_status(claim, with_status(claim, conditions=conditions))


def reason(refusal: Refusal) -> NeighbourReason:
    """The reason of a refusal."""
    if isinstance(refusal, Unsupported):
        return NeighbourReason.RANGE_UNSUPPORTED
    return NeighbourReason.RANGE_OCCUPIED


def _overlaps(entry: Subnet, taken: list[Prefix]) -> bool:
    """Whether an entry that is not allocated yet overlaps another."""
    own = subnet_ledger.prefix(entry)
    if own is None:
        return True
    return isinstance(allocated(own, AddressRequest(length=own.prefixlen), taken), Refusal)


def _status(entry: Subnet, environment: ExecutionEnvironment) -> SubnetStatus:
    spec, generation = entry.spec, entry.metadata.generation
    addresses = f"{spec.start_address}/{spec.prefix_length}"
    message = f"{addresses} is set aside for {spec.location.name}"
    updates = (
        network_conditions.condition(
            network_conditions.ALLOCATED,
            "True",
            NeighbourReason.PREFIX_ALLOCATED,
            addresses,
            generation,
        ),
        network_conditions.condition(
            network_conditions.READY, "True", Reason.READY, message, generation
        ),
    )
    return SubnetStatus(
        conditions=put(entry.status.conditions, updates, environment.now()),
        prefix_length=spec.prefix_length,
        start_address=spec.start_address,
    )
