"""Clusters by `Project` objects: each project that is ready has a plane of its own.

A manager inside of Milo's own cluster finds the planes by `ProjectControlPlane` objects instead.

A project stays engaged until its object is gone. While it is being deleted its plane must still be
emptied, and a plane that is not ready for a while keeps its content. So a process that starts while
a project is cleaned up engages the project, although it is not Ready.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.infrastructure import CONTROL_PLANE_READY, ProjectControlPlane
from compute.api.permissions import READ, allow
from compute.api.resource_manager import GROUP, VERSION, Project
from compute.decide.conditions import find, is_true
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.connection import Connection
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import own

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
    ) -> None:
        self.kind = by.kind
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
        if project is None or self._uids.get(name, uid) != uid:  # gone, or replaced by another
            await self._projects.disengage(name)
            self._uids.pop(name, None)
        if project is not None and self._projects.find(name) is None and self._has_plane(project):
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
            if self._has_plane(project)
            and self._projects.find(cluster_name(project.metadata.name)) is None
        ]


def projects_controller(
    projects: ProjectReconciler, core: Clusters, environment: ExecutionEnvironment, metrics: Metrics
) -> Controller:
    """The controller of a `ProjectReconciler`. It belongs on every replica."""
    return Controller(
        "projects",
        projects,
        core,
        [own(projects.kind, core)],
        environment,
        metrics,
        ControllerSettings(workers=1),
    )


def project_connection(core: Connection, project: str) -> Connection:
    """The connection to a project's plane: a path of the server that stores the projects."""
    path = f"/apis/{GROUP}/{VERSION}/projects/{project}/control-plane"
    return replace(core, server=core.server + path)
