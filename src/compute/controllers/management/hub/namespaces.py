"""The hub's namespaces: their policies, and their deletion.

A hub namespace stands for one namespace of a project. It is deleted when it is empty and the project's
namespace, or the whole project, is gone. The engine then deletes it in the cells as well. Objects in
it whose original is gone are deleted first.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.permissions import READ, WATCH, allow
from compute.api.resource_manager import Project
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.hub import copies, moves, policies
from compute.controllers.management.hub.origins import engaged_as, from_hub
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change, presence
from compute.decide.federation import (
    ProjectNamespace,
    identity,
    orphaned_copies,
    orphaned_deployments,
)
from compute.decide.writes import Delete
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

NAME: Final = "hub-namespaces"
_PROJECT: Final = "project"
_log: Final = logging.getLogger(__name__)

PERMISSIONS: Final = (
    *allow("hub", (*READ, "delete"), Namespace),
    *allow("hub", (*WATCH, "delete"), WorkloadDeployment, Instance),
    *allow("project", READ, Namespace),
    *allow("core", READ, Project),
)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controllers of the hub's namespaces, and of the policies, moves and copies in them."""
    reconciler, sources = HubNamespaces(planes), _sources(planes)
    controller = factory.controller(NAME, reconciler, planes.hub, sources, ACROSS_PLANES)
    return [
        controller,
        *policies.controllers(planes, factory),
        *moves.controllers(planes, factory),
        *copies.controllers(planes, factory),
    ]


class HubNamespaces:
    """Deletes hub namespaces whose original is gone."""

    def __init__(self, planes: ManagementPlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        """Delete the hub namespace if its original is certain to be gone and it is empty."""
        hub = self._planes.hub.get(request.cluster)
        cached = hub.informers.of(Namespace).cache.get("", request.name)
        if cached is None or cached.deleting or not _may_be_orphaned(self._planes, cached):
            return DONE
        hub_namespace = await live.find(hub, Namespace, request.name)
        origin = identity(hub_namespace) if hub_namespace else None
        if hub_namespace is None or hub_namespace.deleting or origin is None:
            return DONE
        if await self._is_gone(origin, request.name) and await _is_cleared(hub, request.name):
            about = {"namespace": request.name, "project": origin.project}
            _log.info("hub namespace removed", extra=about)
            await remove(hub.client, Delete(hub_namespace))
        return DONE

    async def _is_gone(self, origin: ProjectNamespace, hub_namespace: str) -> bool:
        """Whether the project's namespace, or the project, is certain to be gone."""
        project = self._planes.projects.find(engaged_as(origin))
        if project is not None:
            namespace = await live.certain(project, Namespace, origin.namespace)
            return namespace is None or names.hub_namespace(namespace.metadata.uid) != hub_namespace
        core = self._planes.core
        if core is None:
            return False
        return await live.certain(core.sole(), Project, engaged_as(origin)) is None


async def _is_cleared(hub: Cluster, hub_namespace: str) -> bool:
    """Delete the orphans in a namespace. Return whether it was empty before."""
    deployments = await hub.client.every(WorkloadDeployment, hub_namespace)
    for orphan in orphaned_deployments(deployments.items, ()):
        await remove(hub.client, orphan)
    instances = await hub.client.every(Instance, hub_namespace)
    for copy in orphaned_copies(instances.items, deployments.items):
        await remove(hub.client, copy)
    lists = (deployments, instances)
    return not any(listed.items or listed.unreadable for listed in lists)


def _may_be_orphaned(planes: ManagementPlanes, hub_namespace: Namespace) -> bool:
    """Whether the caches lack the original of a hub namespace. They may lag."""
    name, origin = hub_namespace.metadata.name, identity(hub_namespace)
    if origin is None or names.hub_namespace_uid(name) is None:
        return False
    project = planes.projects.find(engaged_as(origin))
    if project is None or _is_unknown(planes, engaged_as(origin)):
        return planes.core is not None
    uid = project.informers.of(Namespace).cache.uid_of("", origin.namespace)
    return uid is None or names.hub_namespace(uid) != name


def _is_unknown(planes: ManagementPlanes, project: ClusterName) -> bool:
    """Whether core has no such project.

    Its plane may be engaged for a moment longer, with a cache that still has its objects.
    """
    return any(("", project) not in core.informers.of(Project).cache for core in planes.core or ())


def _sources(planes: ManagementPlanes) -> Sequence[Source[Any]]:
    def content(hub: Cluster, obj: Object) -> Iterable[Request]:
        """A namespace that may be orphaned is requeued as its objects come and go."""
        hub_namespace = hub.informers.of(Namespace).cache.get("", obj.metadata.namespace)
        if hub_namespace is not None and _may_be_orphaned(planes, hub_namespace):
            yield Request(hub.name, "", hub_namespace.metadata.name)

    def original(project: ClusterName, namespace: Namespace) -> Iterable[Request]:
        return _hub_namespaces(planes, project, namespace.metadata.name)

    def project(_: ClusterName, changed: Project) -> Iterable[Request]:
        return _hub_namespaces(planes, changed.metadata.name)

    sources = [
        own(Namespace, planes.hub),
        mapped_on_change(WorkloadDeployment, planes.hub, from_hub(planes.hub, content), presence),
        mapped_on_change(Instance, planes.hub, from_hub(planes.hub, content), presence),
        mapped(Namespace, planes.projects, original),
    ]
    if planes.core is not None:
        sources.append(mapped_on_change(Project, planes.core, project, presence))
    return sources


def _hub_namespaces(
    planes: ManagementPlanes, project: str, namespace: str = ""
) -> Iterable[Request]:
    """The hub namespaces that stand for a project, or for one namespace of it."""
    for hub in planes.hub:
        cache = hub.informers.of(Namespace).cache
        cache.add_index(_PROJECT, _project_keys)
        key = f"{project}/{namespace}" if namespace else project
        for hub_namespace in cache.by(_PROJECT, key):
            yield Request(hub.name, "", hub_namespace.metadata.name)


def _project_keys(hub_namespace: Namespace) -> Iterable[str]:
    origin = identity(hub_namespace)
    if origin is not None:
        project = engaged_as(origin)
        yield from (project, f"{project}/{origin.namespace}")
