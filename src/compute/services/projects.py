"""Projects: each has a plane of its own until everything in it is gone.

The content of a deleted project is removed first, then its plane, and the Project last.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from compute.api import finalizers, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.karmada import MemberCluster as Member
from compute.api.networking import Subnet
from compute.api.permissions import READ, WATCH, allow, events
from compute.api.reasons import NeighbourReason, Reason
from compute.api.resource_manager import Project
from compute.decide.conditions import find, is_true, put
from compute.decide.project_removal import COMPLETE, STARTED, Removal
from compute.decide.ranking import Candidate
from compute.services.planes import ServicePlanes
from compute.services.project_cleanup import WATCHED, Cleanup
from kubekit.api.meta import Object, with_status
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling.commit import add_finalizer, remove_finalizer
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import Source, mapped, own

_NAME: Final = "project-planes"
_READY: Final = Candidate("", Reason.READY, "Its plane answers", "True")
_PROVISIONING: Final = Candidate("", Reason.PROVISIONING, "Its plane is being made")

PERMISSIONS: Final = (
    *allow("core", (*READ, "patch"), Project),
    *allow("core", ("patch",), Project, subresource="status"),
    *events("core"),
    *allow("hub", READ, Member),
    *allow("project", (*WATCH, "delete"), *WATCHED),
    *allow("project", ("list",), Instance, Subnet),
)


class PlaneKeeper(Protocol):
    """Creates and removes the planes of projects. Both calls are idempotent."""

    async def ensure(self, project: str) -> None: ...

    async def remove(self, project: str) -> None: ...


class Projects:
    """Creates the plane of each project, and removes it with the project."""

    def __init__(
        self,
        planes: ServicePlanes,
        keeper: PlaneKeeper,
        environment: ExecutionEnvironment,
        recorder: EventRecorder,
    ) -> None:
        self._planes = planes
        self._keeper = keeper
        self._environment = environment
        self._recorder = recorder
        self._cleanup = Cleanup(planes, environment)
        # Projects that are being deleted. Every change in their planes requeues them.
        self._leaving: dict[str, None] = {}

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
        """A change in a plane requeues its Project only while the project is being removed."""
        core = next(iter(self._planes.core), None)
        leaving = core is not None and cluster in self._leaving
        return (Request(core.name, "", cluster),) if core and leaving else ()

    def of_cell(self, _: ClusterName, __: Member) -> Iterable[Request]:
        """A silent or removed cell is not waited for, so every project being removed is requeued."""
        for core in self._planes.core:
            yield from (Request(core.name, "", name) for name in self._leaving)

    async def _provide(self, core: Cluster, project: Project) -> Result:
        invalid = _name_fault(project.metadata.name)
        if invalid:
            await self._report(core, project, {ConditionType.READY: invalid})
            return DONE
        project = await add_finalizer(core.client, project, finalizers.PROJECT)
        try:
            await self._keeper.ensure(project.metadata.name)
        except Exception:
            await self._report(core, project, {ConditionType.READY: _PROVISIONING})
            raise
        await self._report(core, project, {ConditionType.READY: _READY})
        return DONE

    async def _remove(self, core: Cluster, project: Project) -> Result:
        name = project.metadata.name
        if finalizers.PROJECT not in project.metadata.finalizers:
            return DONE
        self._leaving[name] = None
        # A project that was never ready has nothing in its plane: it was never engaged.
        if _was_ready(project):
            # An earlier process may have removed the plane and stopped before it released the project.
            await self._keeper.ensure(name)
            project, removal = await self._clean_up(core, project)
            now = self._environment.now()
            if not removal.is_over(now):
                return Result(requeue_after=removal.requeue_after(now))
            await self._complete(core, project, removal)
        await self._keeper.remove(name)
        await remove_finalizer(core.client, project, finalizers.PROJECT)
        return DONE

    async def _clean_up(self, core: Cluster, project: Project) -> tuple[Project, Removal]:
        """Remove what can be removed from the plane now, and report what is left."""
        plane = self._planes.projects.get(cluster_name(project.metadata.name))
        if not _is_cleaned_up(project):
            project = await self._report_cleanup(core, project, STARTED)
        removal = await self._cleanup.advance(plane, project)
        now = self._environment.now()
        if not removal.is_over(now):
            project = await self._report_cleanup(core, project, removal.report(now))
        return project, removal

    async def _complete(self, core: Cluster, project: Project, removal: Removal) -> None:
        await self._report_cleanup(core, project, COMPLETE)
        reason = NeighbourReason.CLEANUP_COMPLETE
        self._recorder.event(core.client, project, "Normal", reason, removal.note(), "Cleanup")

    async def _report_cleanup(self, core: Cluster, project: Project, cleanup: Candidate) -> Project:
        """Report the progress of the removal. The project is not Ready for the same reason."""
        not_ready = Candidate("", cleanup.reason, cleanup.message)
        updates: dict[str, Candidate] = {
            NeighbourCondition.RESOURCE_CLEANUP: cleanup,
            ConditionType.READY: not_ready,
        }
        return await self._report(core, project, updates)

    async def _report(
        self, core: Cluster, project: Project, verdicts: Mapping[str, Candidate]
    ) -> Project:
        now, generation = self._environment.now(), project.metadata.generation
        updates = [verdict.condition(kind, generation, now) for kind, verdict in verdicts.items()]
        conditions = put(project.status.conditions, updates, now)
        return await core.client.patch_status(project, with_status(project, conditions=conditions))


def controllers(
    planes: ServicePlanes, keeper: PlaneKeeper, factory: ControllerFactory
) -> list[Controller]:
    """The controller of projects."""
    projects = Projects(planes, keeper, factory.environment, factory.recorder(_NAME))
    to: Callable[[ClusterName, Any], Iterable[Request]] = projects.content_of
    sources: list[Source[Any]] = [own(Project, planes.core)]
    sources += [mapped(kind, planes.projects, to) for kind in WATCHED]
    sources.append(mapped(Member, planes.hub, projects.of_cell))
    return [factory.controller(_NAME, projects, planes.core, sources)]


def _name_fault(name: str) -> Candidate | None:
    """Why no plane can be made for a project of this name; None if one can."""
    try:
        names.encode_cluster(names.cluster(name))
    except ValueError as error:
        message = f"No plane can have this name: {error}. Create it under another name"
        return Candidate("", NeighbourReason.PROJECT_NAME_CONFLICT, message)
    return None


def _was_ready(project: Project) -> bool:
    """Whether its plane was ever in use. A deleted project is not Ready."""
    return is_true(project.status.conditions, ConditionType.READY) or _is_cleaned_up(project)


def _is_cleaned_up(project: Project) -> bool:
    return find(project.status.conditions, NeighbourCondition.RESOURCE_CLEANUP) is not None
