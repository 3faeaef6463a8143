"""Clusters by `Project` objects: each project that is ready has a plane of its own.

A manager inside of Milo's own cluster finds the planes by `ProjectControlPlane` objects instead.

A project stays engaged until its object is gone. While it is being deleted its plane must still be
emptied, and a plane that is not ready for a while keeps its content. So a process that starts while
a project is cleaned up engages the project, although it is not Ready.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.infrastructure import CONTROL_PLANE_READY, ProjectControlPlane
from compute.api.permissions import READ, allow
from compute.api.resource_manager import GROUP, VERSION, Project
from compute.api.services import ServiceConsumer
from compute.controllers.management.consumers import ServiceConsumers
from compute.decide.conditions import find, is_true
from compute.decide.consumption import Consumption
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.connection import Connection
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import mapped, own

Connect = Callable[[str], Client]
"""Makes the client of a project's plane, by the name of the project."""

PERMISSIONS: Final = allow("core", READ, Project, ProjectControlPlane)


@dataclass(frozen=True, slots=True)
class ProjectKind:
    """A kind whose objects stand for projects, and whether the plane of one can be used."""

    kind: type[Object]
    has_plane: Callable[[Any], bool]


def _has_plane(project: Project) -> bool:
    """Whether its plane can be used: it is Ready, or is being emptied and not empty yet."""
    conditions = project.status.conditions
    cleanup = find(conditions, NeighbourCondition.RESOURCE_CLEANUP)
    being_emptied = project.deleting and cleanup is not None and cleanup.status != "True"
    return being_emptied or is_true(conditions, ConditionType.READY)


def _answers(plane: ProjectControlPlane) -> bool:
    return is_true(plane.status.conditions, CONTROL_PLANE_READY)


_DISENGAGED: Final = (Consumption.REVOKED, Consumption.NONE)
PROJECTS: Final = ProjectKind(Project, _has_plane)
CONTROL_PLANES: Final = ProjectKind(ProjectControlPlane, _answers)


class ProjectReconciler:
    """Engages the plane of each project, and disengages it when the project is gone.

    Unlike other reconcilers it runs in every process: a replica that does not lead answers admission
    reviews too, and needs the project's plane for them.
    """

    def __init__(
        self,
        core: Clusters,
        projects: Clusters,
        connect: Connect,
        by: ProjectKind = PROJECTS,
        consumers: ServiceConsumers | None = None,
    ) -> None:
        self.kind = by.kind
        self.consumers = consumers
        self._has_plane = by.has_plane
        self._core = core
        self._projects = projects
        self._connect = connect
        self._uids: dict[ClusterName, str] = {}  # of the projects that are engaged

    async def reconcile(self, request: Request) -> Result:
        core = self._core.get(request.cluster)
        name = cluster_name(request.name)
        project = await core.client.find(self.kind, request.name, request.namespace)
        uid = project.metadata.uid if project else ""
        is_replaced = project is None or self._uids.get(name, uid) != uid
        if is_replaced or self._verdict(request.name) in _DISENGAGED:
            await self._projects.disengage(name)
            self._uids.pop(name, None)
        if project is not None and self._projects.find(name) is None and self._is_due(project):
            await self._projects.engage(name, self._connect(request.name))
            self._uids[name] = uid
        return DONE

    def discovery_problems(self) -> list[str]:
        """Why it is not known yet which projects there are."""
        return [
            f"the list of projects is not complete: {informer.problem or 'not listed yet'}"
            for core in self._core
            if not (informer := core.informers.of(self.kind)).synced
        ]

    def problems(self) -> list[str]:
        """The projects that are ready and not engaged yet."""
        return [
            f"project {project.metadata.name} is ready but not engaged yet"
            for core in self._core
            for project in core.informers.of(self.kind).cache.list()
            if self._is_due(project)
            and self._projects.find(cluster_name(project.metadata.name)) is None
        ]

    def _is_due(self, project: Object) -> bool:
        """Whether a project is to be engaged."""
        is_consumer = self._verdict(project.metadata.name) is Consumption.ACTIVE
        return is_consumer and self._has_plane(project)

    def _verdict(self, project: str) -> Consumption:
        """What is known of its consumption; without records every project is a consumer."""
        consumers = self.consumers
        return Consumption.ACTIVE if consumers is None else consumers.verdict(project)


def projects_controller(
    projects: ProjectReconciler, core: Clusters, environment: ExecutionEnvironment, metrics: Metrics
) -> Controller:
    """The controller of a `ProjectReconciler`. It belongs on every replica."""

    def of_consumer(_: ClusterName, consumer: ServiceConsumer) -> Iterable[Request]:
        name = consumer.spec.consumer_project_ref.name
        for cluster in core:
            keys = cluster.informers.of(projects.kind).cache.keys()
            yield from (Request(cluster.name, *key) for key in keys if key[1] == name)

    sources = [own(projects.kind, core)]
    if projects.consumers is not None:
        sources.append(mapped(ServiceConsumer, projects.consumers.provider, of_consumer))
    return Controller(
        "projects",
        projects,
        core,
        sources,
        environment,
        metrics,
        ControllerSettings(workers=1),
    )


def project_connection(core: Connection, project: str) -> Connection:
    """The connection to a project's plane: a path of the server that stores the projects."""
    path = f"/apis/{GROUP}/{VERSION}/projects/{project}/control-plane"
    return replace(core, server=core.server + path)
