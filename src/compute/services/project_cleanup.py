"""Removing the content of the plane of a deleted project, in the order of its dependencies.

Workloads are deleted first, and with them their deployments, instances and claims in every plane.
Then deployments and claims that no controller deletes any more, and networks last.
"""

from collections.abc import Iterable
from typing import Final

from compute.api import labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Network, Subnet
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from compute.decide.conditions import find
from compute.decide.project_removal import HoldingCell, Removal
from compute.services.planes import ServicePlanes
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.watching.cache import Cache

_ONE: Final = ListOptions(limit=1)
_CREATOR: Final = "the cell that created it"

# The kinds that must be gone before networks are deleted, and the kinds that are watched.
_CONTENT: Final[tuple[type[Object], ...]] = (
    Workload,
    WorkloadDeployment,
    Instance,
    ResourceClaim,
)
WATCHED: Final[tuple[type[Object], ...]] = (
    Workload,
    WorkloadDeployment,
    ResourceClaim,
    Network,
)


class Cleanup:
    """Removes what is in a project's plane."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._planes = planes
        self._environment = environment

    async def advance(self, plane: Cluster, project: Project) -> Removal:
        """Remove what can be removed now, and return what is left and where."""
        started = project.metadata.deletion_timestamp or self._environment.now()
        await _delete_all(plane.client, Workload)
        left = await _remaining(plane.client, _CONTENT)
        if not left:
            await _delete_all(plane.client, Network)
            left = await _remaining(plane.client, (Network,))
            cells = await self._holding_cells(await _address_holders(plane) if left else ())
            return Removal(started, _plurals(left), cells)
        removal = Removal(
            started, _plurals(left), await self._holding_cells(self._claim_holders(plane))
        )
        if Workload not in left:
            await _delete_all(plane.client, WorkloadDeployment)
        if Workload not in left and WorkloadDeployment not in left:
            await self._release_claims(plane, removal)
        return removal

    async def _release_claims(self, plane: Cluster, removal: Removal) -> None:
        """Delete the claims of cells that are not waited for, and claims that no cell created.

        No deployment is left, so a cell that has observed this creates no more claims.
        """
        now = self._environment.now()
        for claim in (await plane.client.every(ResourceClaim)).items:
            name = _creator(claim)
            cell = await self._cell(name) if name else None
            if cell is None or not removal.awaits(cell, now):
                await _delete(plane.client, claim)

    def _claim_holders(self, plane: Cluster) -> list[str]:
        """The cells with quota claims: each of their instances has one until it stops."""
        claims: Cache[ResourceClaim] = plane.informers.of(ResourceClaim).cache
        claims.add_index(_CREATOR, lambda claim: filter(None, (_creator(claim),)))
        members = self._planes.hub.sole().informers.of(Member).cache.list()
        names = [member.metadata.name for member in members]
        return [name for name in names if claims.count(_CREATOR, name)]

    async def _holding_cells(self, names: Iterable[str]) -> list[HoldingCell]:
        cells = [await self._cell(name) for name in sorted(names)]
        return [cell for cell in cells if cell is not None]

    async def _cell(self, name: str) -> HoldingCell | None:
        """A cell, and why it is not Ready; None for a cell whose Cluster was deleted.

        Only a live read shows that a cell is not Ready: it may be back, with running instances.
        """
        hub = self._planes.hub.sole()
        member = hub.informers.of(Member).cache.get("", name)
        if member is None or _unready(member):
            member = await hub.client.find(Member, name)
        return None if member is None else HoldingCell(name, _unready(member))


def _unready(member: Member) -> str:
    """Why a cell is not Ready; empty if it is."""
    ready = find(member.status.conditions, ConditionType.READY)
    if ready is None:
        return "nothing is known of it yet"
    return "" if ready.status == "True" else ready.message or ready.reason


async def _address_holders(plane: Cluster) -> set[str]:
    """The cells that have addresses in networks of the project."""
    subnets = (await plane.client.every(Subnet)).items
    return {_creator(subnet) for subnet in subnets} - {""}


def _creator(obj: Object) -> str:
    return obj.metadata.labels.get(labels.SOURCE_CLUSTER, "")


def _plurals(kinds: Iterable[type[Object]]) -> tuple[str, ...]:
    return tuple(kind.RESOURCE.plural for kind in kinds)


async def _remaining(client: Client, kinds: Iterable[type[Object]]) -> list[type[Object]]:
    """The kinds of which objects are left, read live."""
    pages = [(kind, await client.list(kind, options=_ONE)) for kind in kinds]
    return [kind for kind, page in pages if page.items or page.unreadable]


async def _delete_all(client: Client, kind: type[Object]) -> None:
    for obj in (await client.every(kind)).items:
        await _delete(client, obj)


async def _delete(client: Client, obj: Object) -> None:
    if not obj.deleting:
        await live.delete(client, obj)
