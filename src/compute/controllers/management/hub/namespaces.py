"""The hub's namespaces: their policies, and their end.

A hub namespace goes when the project's namespace it stands for, or the whole project, is gone, and
nothing is left in it. The engine then takes it from the cells as well. What is in there and has
lost its original is removed first.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.resource_manager import Project
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.hub import policies
from compute.controllers.management.hub.origins import engaged_as, from_hub
from compute.controllers.management.live_reads import certain
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import presence, turning
from compute.decide.federation import (
    ProjectNamespace,
    identity,
    orphaned_copies,
    orphaned_deployments,
)
from compute.decide.writes import Delete
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

NAME: Final = "hub-namespaces"
_PROJECT: Final = "project"
_log: Final = logging.getLogger(__name__)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controllers that look after the hub's namespaces and after the policies in them."""
    rooms, sources = HubNamespaces(planes), _sources(planes)
    made = factory.controller(NAME, rooms, planes.hub, sources, ACROSS_PLANES)
    return [made, *policies.controllers(planes, factory)]


class HubNamespaces:
    """Removes hub namespaces that stand for nothing any more."""

    def __init__(self, planes: ManagementPlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        """Leave it as it is, unless its original is certain to be gone."""
        hub = self._planes.hub.get(request.cluster)
        room = hub.informers.of(Namespace).cache.get("", request.name)
        if room is None or room.deleting or not _may_be_left(self._planes, room):
            return DONE
        live = await hub.client.find(Namespace, request.name)
        told = identity(live) if live else None
        if live is None or live.deleting or told is None:
            return DONE
        if await self._is_gone(told, request.name) and await _is_cleared(hub, request.name):
            about = {"namespace": request.name, "project": told.project}
            _log.info("hub namespace removed", extra=about)
            await remove(hub.client, Delete(live))
        return DONE

    async def _is_gone(self, told: ProjectNamespace, room: str) -> bool:
        """Whether the project's namespace, or the project, is certain to be no more."""
        project = self._planes.projects.find(engaged_as(told))
        if project is not None:
            namespace = await certain(project, Namespace, told.namespace)
            return namespace is None or names.hub_namespace(namespace.metadata.uid) != room
        core = self._planes.core
        return core is not None and await certain(core.sole(), Project, engaged_as(told)) is None


async def _is_cleared(hub: Cluster, room: str) -> bool:
    """Whether nothing is left in a namespace, after asking for the removal of what is."""
    deployments = await hub.client.every(WorkloadDeployment, room)
    for orphan in orphaned_deployments(deployments.items, ()):
        await remove(hub.client, orphan)
    copies = await hub.client.every(Instance, room)
    for copy in orphaned_copies(copies.items, deployments.items):
        await remove(hub.client, copy)
    lists = (deployments, copies)
    return not any(listed.items or listed.unreadable for listed in lists)


def _may_be_left(planes: ManagementPlanes, room: Namespace) -> bool:
    """Whether the caches do not show the original of a hub namespace. They may be behind."""
    told = identity(room)
    if told is None or names.hub_namespace_uid(room.metadata.name) is None:
        return False
    project = planes.projects.find(engaged_as(told))
    if project is None or _is_untold(planes, engaged_as(told)):
        return planes.core is not None
    uid = project.informers.of(Namespace).cache.uid_of("", told.namespace)
    return uid is None or names.hub_namespace(uid) != room.metadata.name


def _is_untold(planes: ManagementPlanes, project: ClusterName) -> bool:
    """Whether core tells of no such project.

    It may be engaged for a moment longer, and its cache shows what was there before its plane went.
    """
    return any(("", project) not in core.informers.of(Project).cache for core in planes.core or ())


def _sources(planes: ManagementPlanes) -> Sequence[Source[Any]]:
    def content(hub: Cluster, held: Object) -> Iterable[Request]:
        """What comes and goes in a namespace matters only once that may be left."""
        room = hub.informers.of(Namespace).cache.get("", held.metadata.namespace)
        if room is not None and _may_be_left(planes, room):
            yield Request(hub.name, "", room.metadata.name)

    def original(project: ClusterName, namespace: Namespace) -> Iterable[Request]:
        return _rooms(planes, project, namespace.metadata.name)

    def project(_: ClusterName, gone: Project) -> Iterable[Request]:
        return _rooms(planes, gone.metadata.name)

    sources = [
        own(Namespace, planes.hub),
        turning(WorkloadDeployment, planes.hub, from_hub(planes.hub, content), presence),
        turning(Instance, planes.hub, from_hub(planes.hub, content), presence),
        mapped(Namespace, planes.projects, original),
    ]
    if planes.core is not None:
        sources.append(turning(Project, planes.core, project, presence))
    return sources


def _rooms(planes: ManagementPlanes, project: str, namespace: str = "") -> Iterable[Request]:
    """The hub namespaces that stand for a project, or for one namespace of it."""
    for hub in planes.hub:
        cache = hub.informers.of(Namespace).cache
        cache.add_index(_PROJECT, _project_of)
        for room in cache.by(_PROJECT, f"{project}/{namespace}" if namespace else project):
            yield Request(hub.name, "", room.metadata.name)


def _project_of(room: Namespace) -> Iterable[str]:
    told = identity(room)
    return (engaged_as(told), f"{engaged_as(told)}/{told.namespace}") if told else ()
