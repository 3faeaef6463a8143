"""The projector: every Instance that the hub knows of is shown in its project, exactly.

A request names an Instance of a project, shown or not. What is shown is made from one copy on the
hub and from the deployment it belongs to. A copy whose deployment is not there yet waits for it.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import msgspec

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.controllers.management import city_events
from compute.controllers.management.apply_writes import remove, save
from compute.controllers.management.fleet_metrics import CELL_TO_PROJECT, fleet_metrics
from compute.controllers.management.hub.origins import from_hub, instances_of, original_of
from compute.controllers.management.live_reads import certain, known, live
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import presence, turning
from compute.controllers.management.projector.trouble_events import new_troubles
from compute.decide import federation, joins
from compute.decide.conditions import find
from compute.decide.federation import Projected
from compute.decide.workload import story
from compute.decide.writes import Delete, Update, Write
from kubekit.api.kinds.core import Namespace
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "projector"
K = TypeVar("K")
_log: Final = logging.getLogger(__name__)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that shows Instances in their projects."""

    def of_copy(hub: Cluster, copy: Instance) -> Iterable[Request]:
        original = original_of(hub, copy)
        return () if original is None else (original,)

    def of_owner(project: ClusterName, owner: WorkloadDeployment) -> Iterable[Request]:
        place = Request(project, owner.metadata.namespace, owner.metadata.name)
        for hub in planes.hub:
            yield from instances_of(hub, place)

    sources = [
        own(Instance, planes.projects),
        mapped(Instance, planes.hub, from_hub(planes.hub, of_copy)),
        turning(WorkloadDeployment, planes.projects, of_owner, presence),
    ]
    projector = Projector(planes, factory)
    return [factory.controller(NAME, projector, planes.projects, sources, ACROSS_PLANES)]


@dataclass(frozen=True, slots=True)
class _Sight:
    """One Instance, from both sides."""

    copy: Instance | None = None
    shown: Instance | None = None
    owner: WorkloadDeployment | None = None

    def projected(self) -> Projected:
        return federation.project(_some(self.copy), _some(self.shown), _some(self.owner))


class Projector:
    """Makes one projection right."""

    def __init__(self, planes: ManagementPlanes, factory: ControllerFactory) -> None:
        self._planes = planes
        self._recorder = factory.recorder(NAME)
        self._environment = factory.environment
        self._metrics = fleet_metrics(factory.metrics.registry)

    async def reconcile(self, request: Request) -> Result:
        """Look at the caches. What changes because of them is looked at again, live."""
        project = self._planes.projects.get(request.cluster)
        hub = self._planes.hub.sole()
        sight = await _cached(request, project, hub)
        projected = sight.projected()
        if projected.writes:
            sight = await _confirmed(sight, request, project, hub)
            projected = sight.projected()
        if sight.copy is not None and original_of(hub, sight.copy) != request:
            return DONE  # it is of somebody else; what is shown here is not its to change
        for write in projected.writes:
            await self._carry_out(project, write, sight.owner)
        for waits in projected.waiting:
            about = {"request": str(request), "why": waits.why}
            _log.info("an instance is not shown yet", extra=about)
        return DONE

    async def _carry_out(
        self, project: Cluster, write: Write[Instance], owner: WorkloadDeployment | None
    ) -> None:
        if isinstance(write, Delete):
            await remove(project.client, write)
            return
        shown = await save(project.client, write)
        desired = msgspec.structs.replace(shown, status=write.desired.status)
        shown = await project.client.patch_status(shown, desired)
        before = write.existing if isinstance(write, Update) else None
        self._measure(before, shown)
        for trouble in new_troubles(before, shown):
            self._recorder.event(
                project.client, shown, "Warning", trouble.reason, trouble.message, "Project"
            )
            news = story.part_of_city(owner, trouble) if owner else None
            if owner and news:
                city_events.report(self._recorder, project.client, owner, news, "Project")

    def _measure(self, before: Instance | None, shown: Instance) -> None:
        """Count how long a change of Ready took from its cell to here."""
        ready = find(shown.status.conditions, ConditionType.READY)
        known = find(before.status.conditions, ConditionType.READY) if before else None
        if ready is not None and (known is None or known.status != ready.status):
            now = self._environment.now()
            self._metrics.passed(CELL_TO_PROJECT, ready.last_transition_time, now)


async def _cached(request: Request, project: Cluster, hub: Cluster) -> _Sight:
    namespace, name = request.namespace, request.name
    room = await known(project, Namespace, namespace)
    copy = await known(hub, Instance, name, _room(room)) if room else None
    shown = project.informers.of(Instance).cache.get(namespace, name)
    owners = project.informers.of(WorkloadDeployment).cache
    return _Sight(copy, shown, owners.get(namespace, _owner(copy)))


async def _confirmed(sight: _Sight, request: Request, project: Cluster, hub: Cluster) -> _Sight:
    """What is so, as far as something is about to be written because of it.

    For what is only renewed that is the copy alone: a cache that is behind would bring back what
    another projector, which hears of changes sooner, has replaced. A projection that would change
    hands is not only renewed: the deployment that the cache shows may be gone, and followed by
    another of its name.
    """
    if sight.copy is not None and _only_renews(sight):
        meta = sight.copy.metadata
        copy = await live(hub, Instance, meta.name, meta.namespace)
        if copy is not None:
            return replace(sight, copy=copy)
    return await _live(request, project, hub)


def _only_renews(sight: _Sight) -> bool:
    """Whether the projection is there, and stays with the deployment that it belongs to."""
    owner = sight.owner.metadata.uid if sight.owner else ""
    owners = sight.shown.metadata.owner_references if sight.shown else ()
    updates = all(isinstance(write, Update) for write in sight.projected().writes)
    return updates and any(reference.uid == owner for reference in owners)


async def _live(request: Request, project: Cluster, hub: Cluster) -> _Sight:
    namespace, name = request.namespace, request.name
    room = await certain(project, Namespace, namespace)
    if room is None:
        return _Sight()  # everything in it is gone
    copy = await certain(hub, Instance, name, _room(room))
    shown = await project.client.find(Instance, name, namespace)
    owner = _owner(copy)
    found = await certain(project, WorkloadDeployment, owner, namespace) if owner else None
    return _Sight(copy, shown, found)


def _room(namespace: Namespace) -> str:
    return names.hub_namespace(namespace.metadata.uid)


def _owner(copy: Instance | None) -> str:
    return joins.deployment_name(copy) if copy else ""


def _some(one: K | None) -> tuple[K, ...]:
    return () if one is None else (one,)
