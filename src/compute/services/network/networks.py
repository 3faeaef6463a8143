"""Networks of a project: whether they can be used, who has their addresses, and their end.

A Network goes when no Workload names it and its addresses have been given back; until then it says
what uses it. Addresses are taken back once claim and Subnet are gone from the cell: a cell that does
not answer keeps them, for its machines go on.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from compute.api import finalizers
from compute.api.compute import Workload
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Network, NetworkContext, NetworkStatus, Subnet, SubnetClaim
from compute.decide.conditions import put
from compute.decide.networking import network_use
from compute.services.network import joins, reports, subnet_ledger
from compute.services.network.allocation import Allocation, AllocationResult
from compute.services.network.subnet_ledger import SubnetHolder
from compute.services.planes import ServicePlanes
from kubekit.api.errors import ApiError, NotFound
from kubekit.api.meta import Condition
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped, own

Wanted = dict[SubnetHolder, tuple[Cluster, SubnetClaim]]


class Networks:
    """Keeps each Network and its ledger."""

    def __init__(
        self, planes: ServicePlanes, environment: ExecutionEnvironment, recorder: EventRecorder
    ) -> None:
        self._planes = planes
        self._environment = environment
        self._recorder = recorder

    def sources(self) -> list[Source[Any]]:
        cells, projects = self._planes.cells, self._planes.projects
        return [
            own(Network, projects),
            mapped(Subnet, projects, _of_entry),
            mapped(NetworkContext, cells, _of_context),
            mapped(Workload, projects, self._of_workload),
            mapped(SubnetClaim, cells, self._of_claim),
            mapped(Subnet, cells, self._of_subnet),
            mapped(Member, self._planes.hub, self._of_member),
        ]

    async def reconcile(self, request: Request) -> Result:
        project = self._planes.projects.get(request.cluster)
        network = project.informers.of(Network).cache.get(request.namespace, request.name)
        if network is None:
            return DONE  # its ledger goes with it
        outcome, members = AllocationResult(), await self._members()
        wanted = _wanted(members, request)
        await self._take_back(project, network, wanted, outcome)
        use = reports.use_of(project, network, members)
        if not network.deleting:
            network = await commit.add_finalizer(project.client, network, finalizers.NETWORK)
        elif use.is_over and await _ended(project, network):
            return DONE
        network = await self._allocate(project, network, wanted, outcome)
        await self._report(project, network, reports.conditions(network, use, outcome))
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
        self, project: Cluster, network: Network, wanted: Wanted, outcome: AllocationResult
    ) -> Network:
        """The Network, after every claim without addresses was given some."""
        entries = {
            subnet_ledger.holder(each): each for each in subnet_ledger.cached(project, network)
        }
        for entry in entries.values():
            spec = subnet_ledger.spec(entry)
            await project.client.patch(entry, msgspec.structs.replace(entry, spec=spec))
        unserved = {
            holder: claim
            for holder, claim in wanted.items()
            if holder not in entries or not subnet_ledger.is_allocated(entries[holder])
        }
        if not unserved:
            return network
        meta = network.metadata
        # First the Network, then its ledger: see `allocation`.
        live = await project.client.find(Network, meta.name, meta.namespace)
        if live is None or live.metadata.uid != meta.uid:
            return network
        kept = await subnet_ledger.live(project.client, live)
        allocation = Allocation(project, live, kept, self._environment)
        await allocation.serve(unserved, outcome)
        return allocation.network

    async def _take_back(
        self, project: Cluster, network: Network, wanted: Wanted, outcome: AllocationResult
    ) -> None:
        """Strike out of the ledger whoever has gone."""
        for entry in subnet_ledger.cached(project, network):
            holder = subnet_ledger.holder(entry)
            if holder in wanted or entry.deleting:
                continue
            try:
                gone = await self._is_gone(holder)
            except (ApiError, OSError) as error:
                outcome.trouble.append(error)
                continue
            if gone:
                await _delete(project, entry)

    async def _is_gone(self, holder: SubnetHolder) -> bool:
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

    async def _report(
        self, project: Cluster, network: Network, news: tuple[Condition, ...]
    ) -> None:
        before = network.status.conditions
        conditions = put(before, news, self._environment.now())
        wanted = msgspec.structs.replace(network, status=NetworkStatus(conditions=conditions))
        await project.client.patch_status(network, wanted)
        for action, new in reports.warnings(before, conditions):
            self._recorder.event(
                project.client, network, "Warning", new.reason, new.message, action
            )

    def _of_workload(self, cluster: ClusterName, workload: Workload) -> Iterable[Request]:
        """The networks being deleted that a Workload names, or named until now."""
        networks = self._planes.projects.get(cluster).informers.of(Network).cache
        for key in network_use.named(workload.spec.template, workload.metadata.namespace):
            network = networks.get(*key)
            if network is not None and network.deleting:
                yield Request(cluster, *key)

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
        SubnetHolder(cell.name, claim.metadata.namespace, claim.metadata.name): (cell, claim)
        for cell in cells
        for claim in joins.claims_of(cell, network)
    }


def _of_entry(cluster: ClusterName, entry: Subnet) -> Iterable[Request]:
    if name := joins.owner(entry):
        yield Request(cluster, entry.metadata.namespace, name)


def _of_context(_: str, at: NetworkContext) -> Iterable[Request]:
    network = joins.network_of(at, at.spec.network.name)
    return () if network is None else (network,)


async def _ended(project: Cluster, network: Network) -> bool:
    """Whether a Network was as unused as the caches say, and its finalizer was removed."""
    workloads = (await project.client.every(Workload)).items
    if network_use.users(network, workloads) or await subnet_ledger.live(project.client, network):
        return False
    await commit.remove_finalizer(project.client, network, finalizers.NETWORK)
    return True


async def _delete(project: Cluster, entry: Subnet) -> None:
    try:
        await project.client.delete(entry)
    except NotFound:  # somebody else did
        return
