"""Locations: each cell has its Location, and each project a LocationBinding for each city."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Location, LocationBinding
from compute.api.permissions import READ, WATCH, WRITE, allow
from compute.api.reasons import Reason
from compute.api.resource_manager import Project
from compute.decide.conditions import put
from compute.decide.ranking import Candidate
from compute.services.offers import CLASS, Offer, city_of, location, offers
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped

_HERE: Final = Candidate("", Reason.READY, "The cell serves the city", "True")

PERMISSIONS: Final = (
    *allow("hub", READ, Member),
    *allow("cell", (*READ, *WRITE), Location),
    *allow("cell", ("patch",), Location, subresource="status"),
    *allow("cell", WATCH, Namespace),
    *allow("project", (*READ, *WRITE), LocationBinding),
    *allow("project", ("patch",), LocationBinding, subresource="status"),
    *allow("project", WATCH, Namespace),
    *allow("core", READ, Project),
)


class Locations:
    """Keeps a Location in each cell, for the city that the hub's Cluster names."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._planes = planes
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        """A request names the cell as its cluster."""
        cell, hub = self._planes.cells.get(request.cluster), self._planes.hub.sole()
        member = hub.informers.of(Member).cache.get("", request.cluster)
        stored = cell.informers.of(Location).cache.list()
        name = location(member).metadata.name if member and city_of(member) else ""
        if any(_is_stale(each, name) for each in stored) or name not in _names(stored):
            # Something is to be created or deleted: read the hub live.
            member = await hub.client.find(Member, request.cluster)
        if member is not None:
            await self._ensure(cell, member, stored)
        return DONE

    async def _ensure(self, cell: Cluster, member: Member, stored: list[Location]) -> None:
        """Create the Location of the cell's city, and delete that of a city that it served before."""
        wanted = location(member) if city_of(member) else None
        name = wanted.metadata.name if wanted else ""
        for each in stored:
            if _is_stale(each, name):
                await cell.client.delete(each)
        if wanted is not None:
            known = next((each for each in stored if each.metadata.name == name), None)
            known = known or await cell.client.create(wanted)
            await self._update(cell, known, wanted)

    async def _update(self, cell: Cluster, known: Location, wanted: Location) -> None:
        known = await cell.client.patch(known, msgspec.structs.replace(known, spec=wanted.spec))
        now = self._environment.now()
        updates = [_HERE.condition(ConditionType.READY, known.metadata.generation, now)]
        conditions = put(known.status.conditions, updates, now)
        await cell.client.patch_status(known, with_status(known, conditions=conditions))


class Offers:
    """Keeps a LocationBinding for each city in each project."""

    def __init__(self, planes: ServicePlanes, environment: ExecutionEnvironment) -> None:
        self._planes = planes
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        """A request names the project as its cluster."""
        plane, hub = self._planes.projects.get(request.cluster), self._planes.hub.sole()
        cached = plane.informers.of(LocationBinding).cache.list()
        stored = {each.metadata.name: each for each in cached if _is_ours(each)}
        wanted = offers(hub.informers.of(Member).cache.list())
        if wanted.keys() != stored.keys():
            # Something is to be created or deleted: read the hub live.
            wanted = offers((await hub.client.every(Member)).items)
            if not await self._planes.has_project(plane.name):
                return DONE
        for name, binding in stored.items():
            if name not in wanted:
                await plane.client.delete(binding)
        for name, offer in wanted.items():
            binding = stored.get(name) or await plane.client.create(offer.binding)
            await self._update(plane, binding, offer)
        return DONE

    async def _update(self, plane: Cluster, known: LocationBinding, offer: Offer) -> None:
        wanted = msgspec.structs.replace(known, spec=offer.binding.spec)
        known = await plane.client.patch(known, wanted)
        now, generation = self._environment.now(), known.metadata.generation
        updates = [offer.available.condition(ConditionType.AVAILABLE, generation, now)]
        conditions = put(known.status.conditions, updates, now)
        await plane.client.patch_status(known, with_status(known, conditions=conditions))


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """The controllers of locations."""
    environment = factory.environment
    in_cells = [
        mapped(Member, planes.hub, _cell),
        mapped(Namespace, planes.cells, _itself_once),
        mapped(Location, planes.cells, _itself),
    ]
    in_projects = [
        mapped(Member, planes.hub, _projects(planes)),
        mapped(Namespace, planes.projects, _itself_once),
        mapped(LocationBinding, planes.projects, _itself),
        mapped(Project, planes.core, _project),
    ]
    return [
        factory.controller("locations", Locations(planes, environment), planes.cells, in_cells),
        factory.controller(
            "city-offers", Offers(planes, environment), planes.projects, in_projects
        ),
    ]


def _is_ours(obj: Location | LocationBinding) -> bool:
    """Whether this service created it: users may add locations that they manage themselves."""
    return obj.spec.location_class_name == CLASS


def _is_stale(known: Location, name: str) -> bool:
    return _is_ours(known) and known.metadata.name != name


def _names(stored: Iterable[Location]) -> list[str]:
    return [each.metadata.name for each in stored]


def _projects(planes: ServicePlanes) -> Callable[[ClusterName, Object], Iterable[Request]]:
    return lambda _, __: [_of(project.name) for project in planes.projects]


def _project(_: ClusterName, project: Project) -> Iterable[Request]:
    return (_of(ClusterName(project.metadata.name)),)


def _cell(_: ClusterName, member: Member) -> Iterable[Request]:
    return (_of(ClusterName(member.metadata.name)),)


def _itself(cluster: ClusterName, _: Object) -> Iterable[Request]:
    return (_of(cluster),)


def _itself_once(cluster: ClusterName, namespace: Namespace) -> Iterable[Request]:
    """A new plane has several namespaces. The event of one of them is enough."""
    return (_of(cluster),) if namespace.metadata.name == "default" else ()


def _of(cluster: ClusterName) -> Request:
    return Request(cluster, "", "locations")
