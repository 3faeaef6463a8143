"""Projects: each has a plane of its own, from when it is made until everything in it is gone.

A project that is deleted is emptied first, in the order in which things hang together: Workloads,
which take their deployments, instances and claims along through every plane; then what nobody
looks after any more; then networks. Only then its plane goes, and the Project last.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final, Protocol

import msgspec

from compute.api import finalizers, labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.errors import NotFound
from compute.api.karmada import Cluster as Member
from compute.api.meta import Object
from compute.api.networking import Network
from compute.api.quota import ResourceClaim
from compute.api.reasons import NeighbourReason, Reason
from compute.api.resourcemanager import Project
from compute.client.client import Client
from compute.client.options import ListOptions
from compute.decide.conditions import is_true, put
from compute.decide.ranking import Candidate
from compute.environment import Environment
from compute.runtime.clusters import Cluster
from compute.runtime.commit import hold, release
from compute.runtime.controller import Controller
from compute.runtime.kit import Kit
from compute.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from compute.runtime.sources import Source, mapped, own
from compute.services.planes import ServicePlanes

_READY: Final = Candidate("", Reason.READY, "Its plane answers", "True")
_PROVISIONING: Final = Candidate("", Reason.PROVISIONING, "Its plane is being made")
_STARTED: Final = Candidate("", NeighbourReason.CLEANUP_STARTED, "Everything in it is removed")
_COMPLETE: Final = Candidate(
    "", NeighbourReason.CLEANUP_COMPLETE, "Everything in it is gone", "True"
)
_AGAIN: Final = timedelta(seconds=1)  # what is not watched, since there may be very many of it
_ONE: Final = ListOptions(limit=1)

# What must be gone before networks are removed, and what tells us that some of it has gone.
_CONTENT: Final[tuple[type[Object], ...]] = (
    Workload,
    WorkloadDeployment,
    Instance,
    ResourceClaim,
)
_WATCHED: Final[tuple[type[Object], ...]] = (
    Workload,
    WorkloadDeployment,
    ResourceClaim,
    Network,
)


class PlaneKeeper(Protocol):
    """Makes and removes the planes of projects. Both may be asked again at any time."""

    async def ensure(self, project: str) -> None: ...

    async def remove(self, project: str) -> None: ...


class Projects:
    """Gives each project its plane, and takes it away when the project goes."""

    def __init__(
        self, planes: ServicePlanes, keeper: PlaneKeeper, environment: Environment
    ) -> None:
        self._planes = planes
        self._keeper = keeper
        self._environment = environment
        self._leaving: dict[str, None] = {}  # projects of which every change concerns us

    async def reconcile(self, request: Request) -> Result:
        core = self._planes.core.get(request.cluster)
        project = core.informers.of(Project).cache.get("", request.name)
        if project is None:
            self._leaving.pop(request.name, None)
            return DONE
        if project.deleting:
            return await self._remove(core, project)
        return await self._provide(core, project)

    def content_of(self, cluster: ClusterName, _: Object) -> Iterable[Request]:
        """A change in a plane concerns its Project only while that is being emptied."""
        core = next(iter(self._planes.core), None)
        leaving = core is not None and cluster in self._leaving
        return (Request(core.name, "", cluster),) if core and leaving else ()

    def of_cell(self, _: ClusterName, __: Member) -> Iterable[Request]:
        """A cell that is no more gives nothing back: every project that is being emptied may wait."""
        for core in self._planes.core:
            yield from (Request(core.name, "", name) for name in self._leaving)

    async def _provide(self, core: Cluster, project: Project) -> Result:
        wrong = _name_fault(project.metadata.name)
        if wrong:
            await self._say(core, project, ConditionType.READY, wrong)
            return DONE
        project = await hold(core.client, project, finalizers.PROJECT)
        try:
            await self._keeper.ensure(project.metadata.name)
        except Exception:
            await self._say(core, project, ConditionType.READY, _PROVISIONING)
            raise
        await self._say(core, project, ConditionType.READY, _READY)
        return DONE

    async def _remove(self, core: Cluster, project: Project) -> Result:
        name = project.metadata.name
        if finalizers.PROJECT not in project.metadata.finalizers:
            return DONE
        self._leaving[name] = None
        # One that never was ready has nothing in its plane, and nobody was ever told of it.
        if is_true(project.status.conditions, ConditionType.READY):
            # Whoever removed it before may have died before the project could be let go.
            await self._keeper.ensure(name)
            project, left = await self._empty(core, project)
            if left:
                return Result(look_again_after=_AGAIN if left == [Instance] else None)
        await self._keeper.remove(name)
        await release(core.client, project, finalizers.PROJECT)
        return DONE

    async def _empty(self, core: Cluster, project: Project) -> tuple[Project, list[type[Object]]]:
        """Remove what is in the plane, as far as it is its turn, and say what is left."""
        plane = self._planes.projects.get(cluster_name(project.metadata.name))
        if not _cleanup_said(project):
            project = await self._say(core, project, NeighbourCondition.RESOURCE_CLEANUP, _STARTED)
        await _delete_all(plane.client, Workload)
        left = await _left(plane.client, _CONTENT)
        if not left:
            await _delete_all(plane.client, Network)
            left = await _left(plane.client, (Network,))
        elif Workload not in left:
            await _delete_all(plane.client, WorkloadDeployment)
            await self._release_claims(plane, left)
        said = _awaiting(left) if left else _COMPLETE
        project = await self._say(core, project, NeighbourCondition.RESOURCE_CLEANUP, said)
        return project, left

    async def _release_claims(self, plane: Cluster, left: list[type[Object]]) -> None:
        """Take back the claims that no cell will, once no deployment can make another."""
        if WorkloadDeployment in left or ResourceClaim not in left:
            return
        for claim in (await plane.client.every(ResourceClaim)).items:
            cell = claim.metadata.labels.get(labels.SOURCE_CLUSTER)
            if not cell or await self._is_gone(cell):
                await _delete(plane.client, claim)

    async def _is_gone(self, cell: str) -> bool:
        return await self._planes.hub.sole().client.find(Member, cell) is None

    async def _say(self, core: Cluster, project: Project, kind: str, said: Candidate) -> Project:
        now = self._environment.now()
        news = [said.condition(kind, project.metadata.generation, now)]
        conditions = put(project.status.conditions, news, now)
        status = msgspec.structs.replace(project.status, conditions=conditions)
        return await core.client.patch_status(
            project, msgspec.structs.replace(project, status=status)
        )


def controllers(planes: ServicePlanes, keeper: PlaneKeeper, kit: Kit) -> list[Controller]:
    """The controller of projects."""
    projects = Projects(planes, keeper, kit.environment)
    to: Callable[[ClusterName, Any], Iterable[Request]] = projects.content_of
    sources: list[Source[Any]] = [own(Project, planes.core)]
    sources += [mapped(kind, planes.projects, to) for kind in _WATCHED]
    sources.append(mapped(Member, planes.hub, projects.of_cell))
    return [kit.controller("project-planes", projects, planes.core, sources)]


def _name_fault(name: str) -> Candidate | None:
    """Why no plane can be made for a project of this name; None when one can."""
    try:
        names.encode_cluster(names.cluster(name))
    except ValueError as error:
        message = f"No plane can have this name: {error}. Create it under another name"
        return Candidate("", NeighbourReason.PROJECT_NAME_CONFLICT, message)
    return None


def _cleanup_said(project: Project) -> bool:
    said = project.status.conditions
    return any(each.type == NeighbourCondition.RESOURCE_CLEANUP for each in said)


def _awaiting(left: Iterable[type[Object]]) -> Candidate:
    kinds = ", ".join(kind.RESOURCE.plural for kind in left)
    message = f"Waiting until these are gone: {kinds}"
    return Candidate("", NeighbourReason.CLEANUP_AWAITING_COMPLETION, message)


async def _left(client: Client, kinds: Iterable[type[Object]]) -> list[type[Object]]:
    """The kinds of which there is still something, read live."""
    pages = [(kind, await client.list(kind, options=_ONE)) for kind in kinds]
    return [kind for kind, page in pages if page.items or page.unreadable]


async def _delete_all(client: Client, kind: type[Object]) -> None:
    for obj in (await client.every(kind)).items:
        await _delete(client, obj)


async def _delete(client: Client, obj: Object) -> None:
    if obj.deleting:
        return
    try:
        await client.delete(obj)
    except NotFound:
        return
