"""Networks of a project: whether they can be used, who has their addresses, and their end.

A Network goes when nobody has addresses of it any more. Addresses are taken back once claim and
Subnet are gone from the cell: a cell that does not answer keeps them, for its machines go on.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from compute.api import finalizers
from compute.api.conditions import NeighbourCondition
from compute.api.errors import ApiError, NotFound
from compute.api.karmada import Cluster as Member
from compute.api.meta import Condition
from compute.api.networking import Network, NetworkContext, NetworkStatus, Subnet, SubnetClaim
from compute.api.reasons import NeighbourReason, Reason
from compute.decide.addresses import Unsupported, network_range
from compute.decide.conditions import find, put
from compute.environment import Environment
from compute.runtime import commit
from compute.runtime.clusters import Cluster
from compute.runtime.events import Recorder
from compute.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from compute.runtime.sources import Source, mapped, own
from compute.services.network import joins, ledger, words
from compute.services.network.allocation import Allocation, Outcome, reason
from compute.services.network.ledger import Holder
from compute.services.planes import ServicePlanes

Wanted = dict[Holder, tuple[Cluster, SubnetClaim]]


class Networks:
    """Keeps each Network and its ledger."""

    def __init__(self, planes: ServicePlanes, environment: Environment, recorder: Recorder) -> None:
        self._planes = planes
        self._environment = environment
        self._recorder = recorder

    def sources(self) -> list[Source[Any]]:
        cells, projects = self._planes.cells, self._planes.projects
        return [
            own(Network, projects),
            mapped(Subnet, projects, _of_entry),
            mapped(NetworkContext, cells, _of_context),
            mapped(SubnetClaim, cells, self._of_claim),
            mapped(Subnet, cells, self._of_subnet),
            mapped(Member, self._planes.hub, self._of_member),
        ]

    async def reconcile(self, request: Request) -> Result:
        project = self._planes.projects.get(request.cluster)
        network = project.informers.of(Network).cache.get(request.namespace, request.name)
        if network is None:
            return DONE  # its ledger goes with it
        outcome, members = Outcome(), await self._members()
        await self._take_back(project, network, _wanted(members, request), outcome)
        if network.deleting:
            if not any(joins.contexts_of(cell, request) for cell in members):
                await _end(project, network)
        else:
            network = await commit.hold(project.client, network, finalizers.NETWORK)
            wanted = _wanted(members, request)
            network = await self._allocate(project, network, wanted, outcome)
            await self._report(project, network, outcome)
        for error in outcome.trouble[:1]:
            raise error
        return DONE

    async def _members(self) -> list[Cluster]:
        """The cells that the hub knows. One that it was told to forget is gone, with all in it."""
        hub = self._planes.hub.sole()
        known = hub.informers.of(Member).cache
        return [
            cell
            for cell in self._planes.cells
            if ("", cell.name) in known or await hub.client.find(Member, cell.name)
        ]

    async def _allocate(
        self, project: Cluster, network: Network, wanted: Wanted, outcome: Outcome
    ) -> Network:
        """The Network, after every claim without addresses was given some."""
        entries = {ledger.holder(each): each for each in _cached_ledger(project, network)}
        for entry in entries.values():
            spec = ledger.spec(entry)
            await project.client.patch(entry, msgspec.structs.replace(entry, spec=spec))
        unserved = {
            holder: claim
            for holder, claim in wanted.items()
            if holder not in entries or not ledger.is_allocated(entries[holder])
        }
        if not unserved:
            return network
        meta = network.metadata
        # First the Network, then its ledger: see `allocation`.
        live = await project.client.find(Network, meta.name, meta.namespace)
        if live is None or live.metadata.uid != meta.uid or live.deleting:
            return network
        kept = await _ledger(project, live)
        allocation = Allocation(project, live, kept, self._environment)
        await allocation.serve(unserved, outcome)
        return allocation.network

    async def _take_back(
        self, project: Cluster, network: Network, wanted: Wanted, outcome: Outcome
    ) -> None:
        """Strike out of the ledger whoever has gone."""
        for entry in _cached_ledger(project, network):
            holder = ledger.holder(entry)
            if holder in wanted or entry.deleting:
                continue
            try:
                gone = await self._is_gone(holder)
            except (ApiError, OSError) as error:
                outcome.trouble.append(error)
                continue
            if gone:
                await _delete(project, entry)

    async def _is_gone(self, holder: Holder) -> bool:
        """Whether a holder is gone for certain; with his whole cell, if the hub knows it no more."""
        if await self._planes.hub.sole().client.find(Member, holder.cell) is None:
            return True
        cell = self._planes.cells.find(cluster_name(holder.cell))
        if cell is None:
            return False
        name, namespace = holder.claim, holder.namespace
        return (
            await cell.client.find(SubnetClaim, name, namespace) is None
            and await cell.client.find(Subnet, name, namespace) is None
        )

    async def _report(self, project: Cluster, network: Network, outcome: Outcome) -> None:
        news = _conditions(network, outcome)
        conditions = put(network.status.conditions, news, self._environment.now())
        wanted = msgspec.structs.replace(network, status=NetworkStatus(conditions=conditions))
        await project.client.patch_status(network, wanted)
        kind = NeighbourCondition.IPAM_ALLOCATED
        old, new = find(network.status.conditions, kind), find(conditions, kind)
        if new is not None and new.status == "False" and new != old:
            self._recorder.event(
                project.client, network, "Warning", new.reason, new.message, "Allocate"
            )

    def _of_claim(self, cluster: ClusterName, claim: SubnetClaim) -> Iterable[Request]:
        network = joins.network_of_claim(self._planes.cells.get(cluster), claim)
        if network is not None:
            yield network
        meta = claim.metadata
        yield from self._holding(cluster, meta.namespace, meta.name)

    def _of_subnet(self, cluster: ClusterName, subnet: Subnet) -> Iterable[Request]:
        meta = subnet.metadata
        return self._holding(cluster, meta.namespace, meta.name)

    def _holding(self, cell: ClusterName, namespace: str, claim: str) -> Iterator[Request]:
        held = joins.entries_held(self._planes.projects, cell, namespace, claim)
        for project, entry in held:
            yield from _of_entry(project.name, entry)

    def _of_member(self, _: ClusterName, member: Member) -> Iterable[Request]:
        """Whoever has addresses in a cell that leaves, or waits for some in one that comes."""
        name = member.metadata.name
        for project, entry in joins.entries_for(self._planes.projects, name):
            yield from _of_entry(project.name, entry)
        cell = self._planes.cells.find(cluster_name(name))
        for at in cell.informers.of(NetworkContext).cache.list() if cell else ():
            yield from _of_context(name, at)


def _wanted(cells: Iterable[Cluster], network: Request) -> Wanted:
    """The claims on a Network that these cells know."""
    return {
        Holder(cell.name, claim.metadata.namespace, claim.metadata.name): (cell, claim)
        for cell in cells
        for claim in joins.claims_of(cell, network)
    }


def _of_entry(cluster: ClusterName, entry: Subnet) -> Iterable[Request]:
    if name := joins.owner(entry):
        yield Request(cluster, entry.metadata.namespace, name)


def _of_context(_: str, at: NetworkContext) -> Iterable[Request]:
    network = joins.network_of(at, at.spec.network.name)
    return () if network is None else (network,)


def _cached_ledger(project: Cluster, network: Network) -> list[Subnet]:
    return [each for each in joins.entries_of(project, network) if ledger.is_ours(each)]


async def _ledger(project: Cluster, network: Network) -> dict[str, Subnet]:
    """The entries of a Network by name, as they are now."""
    subnets = await project.client.every(Subnet, network.metadata.namespace)
    return {each.metadata.name: each for each in subnets.items if ledger.is_of(network, each)}


async def _end(project: Cluster, network: Network) -> None:
    """Let a Network go that nobody is present in, once nobody has addresses of it."""
    if not await _ledger(project, network):
        await commit.release(project.client, network, finalizers.NETWORK)


async def _delete(project: Cluster, entry: Subnet) -> None:
    try:
        await project.client.delete(entry)
    except NotFound:  # somebody else did
        return


def _conditions(network: Network, outcome: Outcome) -> tuple[Condition, ...]:
    generation, ipam = network.metadata.generation, NeighbourCondition.IPAM_ALLOCATED
    ranges = [network_range(network, family) for family in network.spec.ip_families]
    for unsupported in (each for each in ranges if isinstance(each, Unsupported)):
        refusal = NeighbourReason.RANGE_UNSUPPORTED
        return words.refused((words.READY, ipam), refusal, unsupported.why, generation)
    ready = words.said(words.READY, "True", Reason.READY, "The network can be used", generation)
    for holder, refused in sorted(outcome.refusals.items(), key=lambda each: each[0]):
        why = f"No addresses for {holder.cell}: {refused.why}"
        return (ready, *words.refused((ipam,), reason(refused), why, generation))
    told = "Addresses come from " + " and ".join(map(str, ranges))
    allocated = words.said(ipam, "True", NeighbourReason.PREFIX_ALLOCATED, told, generation)
    return (ready, allocated)
