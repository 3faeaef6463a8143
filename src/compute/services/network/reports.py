"""The conditions of a Network: whether it can be used, its addresses, and what uses it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.conditions import NeighbourCondition
from compute.api.networking import Network
from compute.api.reasons import NeighbourReason, Reason
from compute.decide.conditions import find
from compute.decide.networking import network_use
from compute.decide.networking.addresses import Prefix, Unsupported, network_range
from compute.services.network import joins, network_conditions, subnet_ledger
from compute.services.network.allocation import AllocationResult, reason
from kubekit.api.meta import Condition
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request

_IPAM: Final = NeighbourCondition.IPAM_ALLOCATED


@dataclass(frozen=True, slots=True)
class Use:
    """What uses a Network: cells that it is present in, addresses that were given out, and, where it
    is being deleted, Workloads that name it.
    """

    workloads: tuple[str, ...]
    cells: tuple[str, ...]
    prefixes: tuple[Prefix, ...]

    @property
    def is_over(self) -> bool:
        return not (self.workloads or self.cells)


def use_of(project: Cluster, network: Network, cells: Iterable[Cluster]) -> Use:
    """What uses a Network, according to the caches."""
    meta = network.metadata
    key = Request(project.name, meta.namespace, meta.name)
    entries = subnet_ledger.cached(project, network)
    present = [str(cell.name) for cell in cells if joins.contexts_of(cell, key)]
    workloads = joins.workloads_of(project, network) if network.deleting else ()
    return Use(
        workloads=network_use.users(network, workloads),
        cells=(*present, *(subnet_ledger.holder(each).cell for each in entries)),
        prefixes=tuple(subnet_ledger.prefixes(entries)),
    )


def conditions(network: Network, use: Use, outcome: AllocationResult) -> tuple[Condition, ...]:
    """The conditions of a Network after a reconcile pass over its ledger."""
    generation = network.metadata.generation
    ranges = [network_range(network, family) for family in network.spec.ip_families]
    unsupported = next((each for each in ranges if isinstance(each, Unsupported)), None)
    if network.deleting:
        message = network_use.terminating(use.workloads, use.cells)
        ready = network_conditions.refused(
            (network_conditions.READY,), Reason.NETWORK_TERMINATING, message, generation
        )
    elif unsupported is not None:
        refusal = NeighbourReason.RANGE_UNSUPPORTED
        ready = network_conditions.refused(
            (network_conditions.READY,), refusal, unsupported.why, generation
        )
    else:
        ready = (network_conditions.usable("", generation),)
    ranges_message = "Addresses come from " + " and ".join(map(str, ranges))
    trouble = next(_troubles(network, use, outcome, unsupported), None)
    if trouble is not None:
        return (*ready, *network_conditions.refused((_IPAM,), *trouble, generation))
    allocated = network_conditions.condition(
        _IPAM, "True", NeighbourReason.PREFIX_ALLOCATED, ranges_message, generation
    )
    return (*ready, allocated)


def warnings(
    before: Sequence[Condition], after: Sequence[Condition]
) -> Iterator[tuple[str, Condition]]:
    """The conditions that need a Warning event, each with the action it is about."""
    old, new = find(before, _IPAM), find(after, _IPAM)
    if new is not None and new.status == "False" and new != old:
        yield "Allocate", new
    old, new = find(before, network_conditions.READY), find(after, network_conditions.READY)
    ends = new is not None and new.reason == Reason.NETWORK_TERMINATING
    if new is not None and ends and (old is None or old.reason != new.reason):
        yield "Delete", new


def _troubles(
    network: Network, use: Use, outcome: AllocationResult, unsupported: Unsupported | None
) -> Iterator[tuple[str, str]]:
    """The problems with the addresses: reasons and messages, the most severe first."""
    if unsupported is not None:
        yield NeighbourReason.RANGE_UNSUPPORTED, unsupported.why
    strays = network_use.strays(network, use.prefixes)
    if strays:
        why = f"In use, and in no range of the network: {', '.join(map(str, strays))}"
        yield NeighbourReason.RANGE_IN_USE, f"{why}; put the old range back"
    for holder, refused in sorted(outcome.refusals.items(), key=lambda each: each[0]):
        yield reason(refused), f"No addresses for {holder.cell}: {refused.why}"
