"""Networks of a project: their conditions, the allocation of their addresses, and their removal.

A deleted Network is released when no Workload names it and its addresses have been released. Until
then its conditions show what uses it. Addresses are released once claim and Subnet are gone from the
cell. An unreachable cell keeps its addresses, since its instances keep running.
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
from kubekit.api.errors import ApiError
from kubekit.api.meta import Condition
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
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
            return DONE  # the garbage collector deletes its ledger
        outcome, members = AllocationResult(), await self._members()
        wanted = _wanted(members, request)
        await self._release(project, network, wanted, outcome)
        use = reports.use_of(project, network, members)
        if not network.deleting:
            network = await commit.add_finalizer(project.client, network, finalizers.NETWORK)
        elif use.is_over and await _remove_finalizer_if_unused(project, network):
            return DONE
        network = await self._allocate(project, network, wanted, outcome)
        await self._report(project, network, reports.conditions(network, use, outcome))
        for error in outcome.errors[:1]:
            raise error
        return DONE

    async def _members(self) -> list[Cluster]:
        """The cells that are members of the hub. A cell whose Cluster was deleted counts as gone."""
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
        """Allocate addresses for every claim without them. Returns the Network as it was written last."""
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
        # First the Network, then its ledger: see `allocation`.
        fresh = await live.same(project.client, network)
        if fresh is None:
            return network
        entries_now = await subnet_ledger.live(project.client, fresh)
        allocation = Allocation(project, fresh, entries_now, self._environment)
        await allocation.serve(unserved, outcome)
        return allocation.network

    async def _release(
        self, project: Cluster, network: Network, wanted: Wanted, outcome: AllocationResult
    ) -> None:
        """Delete the ledger entries of claims that are gone."""
        for entry in subnet_ledger.cached(project, network):
            holder = subnet_ledger.holder(entry)
            if holder in wanted or entry.deleting:
                continue
            try:
                gone = await self._is_gone(holder)
            except (ApiError, OSError) as error:
                outcome.errors.append(error)
                continue
            if gone:
                await live.delete(project.client, entry)

    async def _is_gone(self, holder: SubnetHolder) -> bool:
        """Whether a claim is gone, read live. It counts as gone if its cell is no longer a member."""
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
        self, project: Cluster, network: Network, updates: tuple[Condition, ...]
    ) -> None:
        before = network.status.conditions
        conditions = put(before, updates, self._environment.now())
        wanted = msgspec.structs.replace(network, status=NetworkStatus(conditions=conditions))
        await project.client.patch_status(network, wanted)
        for action, new in reports.warnings(before, conditions):
            self._recorder.event(
                project.client, network, "Warning", new.reason, new.message, action
            )

    def _of_workload(self, cluster: ClusterName, workload: Workload) -> Iterable[Request]:
        """The networks being deleted that a Workload names, or named until now."""
        networks = self._planes.projects.get(cluster).informers.of(Network).cache
        for key in network_use.of_workload(workload):
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
        """The networks with addresses in a cell that leaves, or with claims in a cell that joins."""
        name = member.metadata.name
        for project, entry in joins.entries_for(self._planes.projects, name):
            yield from _of_entry(project.name, entry)
        cell = self._planes.cells.find(cluster_name(name))
        for context in cell.informers.of(NetworkContext).cache.list() if cell else ():
            yield from _of_context(name, context)


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


def _of_context(_: str, context: NetworkContext) -> Iterable[Request]:
    network = joins.network_of(context, context.spec.network.name)
    return () if network is None else (network,)


async def _remove_finalizer_if_unused(project: Cluster, network: Network) -> bool:
    """Remove the finalizer if live reads confirm that the Network is unused. Returns whether they do."""
    workloads = (await project.client.every(Workload)).items
    if network_use.users(network, workloads) or await subnet_ledger.live(project.client, network):
        return False
    await commit.remove_finalizer(project.client, network, finalizers.NETWORK)
    return True
