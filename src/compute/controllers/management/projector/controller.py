"""The projector: every Instance that has a copy on the hub gets a projection in its project.

A request names an Instance of a project, which may not exist. Its projection is built from the copy
on the hub and from the deployment it belongs to. Until that deployment exists there is no
projection.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import msgspec

from compute.api import annotations, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.permissions import READ, WATCH, WRITE, allow, events
from compute.api.reasons import Trait, has
from compute.controllers.management import city_events
from compute.controllers.management.apply_writes import remove, save
from compute.controllers.management.fleet_metrics import CELL_TO_PROJECT, fleet_metrics
from compute.controllers.management.hub.origins import from_hub, instances_of, original_of
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change, presence
from compute.decide import federation, joins
from compute.decide.conditions import find
from compute.decide.federation import Projected
from compute.decide.workload import workload_events
from compute.decide.writes import Delete, Update, Write
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "projector"
K = TypeVar("K")
_log: Final = logging.getLogger(__name__)
_REPORTED_CONDITIONS: Final = (ConditionType.READY, ConditionType.QUOTA_GRANTED)
_TROUBLES: Final = (Trait.WARNS, Trait.LACK_OF_BUDGET)

PERMISSIONS: Final = (
    *allow("project", (*READ, *WRITE), Instance),
    *allow("project", ("patch",), Instance, subresource="status"),
    *allow("project", READ, WorkloadDeployment, Namespace),
    *events("project"),
    *allow("hub", READ, Instance),
    *allow("hub", WATCH, Namespace),
)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller of the projections of Instances."""

    def of_copy(hub: Cluster, copy: Instance) -> Iterable[Request]:
        original = original_of(hub, copy)
        return () if original is None else (original,)

    def of_owner(project: ClusterName, owner: WorkloadDeployment) -> Iterable[Request]:
        original = Request(project, owner.metadata.namespace, owner.metadata.name)
        for hub in planes.hub:
            yield from instances_of(hub, original)

    sources = [
        own(Instance, planes.projects),
        mapped(Instance, planes.hub, from_hub(planes.hub, of_copy)),
        mapped_on_change(WorkloadDeployment, planes.projects, of_owner, presence),
    ]
    projector = Projector(planes, factory)
    return [factory.controller(NAME, projector, planes.projects, sources, ACROSS_PLANES)]


@dataclass(frozen=True, slots=True)
class _View:
    """An Instance on the hub and in its project, and the deployment it belongs to."""

    copy: Instance | None = None
    projection: Instance | None = None
    owner: WorkloadDeployment | None = None

    def projected(self) -> Projected:
        return federation.project(
            _as_tuple(self.copy), _as_tuple(self.projection), _as_tuple(self.owner)
        )


class Projector:
    """Keeps one projection up to date."""

    def __init__(self, planes: ManagementPlanes, factory: ControllerFactory) -> None:
        self._planes = planes
        self._recorder = factory.recorder(NAME)
        self._environment = factory.environment
        self._metrics = fleet_metrics(factory.metrics.registry)

    async def reconcile(self, request: Request) -> Result:
        """Read the caches; if they show that a write is due, read live and apply it."""
        project = self._planes.projects.get(request.cluster)
        hub = self._planes.hub.sole()
        view = await _cached(request, project, hub)
        if view.projected().writes:
            view = await _read_live(view, request, project, hub)
        try:
            await self._apply_all(request, project, hub, view)
        except AlreadyExists:  # the cache lacks the projection
            view = await _read_all_live(request, project, hub)
            await self._apply_all(request, project, hub, view)
        return DONE

    async def _apply_all(
        self, request: Request, project: Cluster, hub: Cluster, view: _View
    ) -> None:
        if view.copy is not None and original_of(hub, view.copy) != request:
            return  # it is a copy of another Instance
        projected = view.projected()
        for write in projected.writes:
            await self._apply(project, write, view.owner)
        for waiting in projected.waiting:
            about = {"request": str(request), "why": waiting.why}
            _log.info("an instance is not projected yet", extra=about)

    async def _apply(
        self, project: Cluster, write: Write[Instance], owner: WorkloadDeployment | None
    ) -> None:
        if isinstance(write, Delete):
            await remove(project.client, write)
            return
        projection = await save(project.client, write)
        desired = msgspec.structs.replace(projection, status=write.desired.status)
        projection = await project.client.patch_status(projection, desired)
        before = write.existing if isinstance(write, Update) else None
        self._measure(before, projection)
        for trouble in _new_troubles(before, projection):
            self._recorder.event(
                project.client, projection, "Warning", trouble.reason, trouble.message, "Project"
            )
            event = workload_events.part_of_city(owner, trouble) if owner else None
            if owner and event:
                city_events.report(self._recorder, project.client, owner, event, "Project")

    def _measure(self, before: Instance | None, projection: Instance) -> None:
        """Count how long a change of Ready took from its cell to the project."""
        ready = find(projection.status.conditions, ConditionType.READY)
        old = find(before.status.conditions, ConditionType.READY) if before else None
        if ready is not None and (old is None or old.status != ready.status):
            now = self._environment.now()
            self._metrics.record_hop(CELL_TO_PROJECT, ready.last_transition_time, now)


async def _cached(request: Request, project: Cluster, hub: Cluster) -> _View:
    namespace, name = request.namespace, request.name
    project_namespace = await live.cached(project, Namespace, namespace)
    copy = (
        await live.cached(hub, Instance, name, _hub_namespace_of(project_namespace))
        if project_namespace
        else None
    )
    projection = project.informers.of(Instance).cache.get(namespace, name)
    owners = project.informers.of(WorkloadDeployment).cache
    return _View(copy, projection, owners.get(namespace, _owner_name(copy)))


async def _read_live(view: _View, request: Request, project: Cluster, hub: Cluster) -> _View:
    """What a write depends on, read live.

    An update depends on the copy alone: a cache that lags would restore what another projector has
    replaced. A creation or a change of owner also depends on the deployment: the cached one may be
    gone, and replaced by another of its name. The namespace need not be read where the deployment
    names the same namespace of the hub.
    """
    hub_namespace = _hub_namespace_of_cached(project, request.namespace)
    if view.copy is not None and _only_updates(view):
        copy = await live.find(hub, Instance, request.name, hub_namespace)
        if copy is not None:
            return replace(view, copy=copy)
    elif view.copy is not None and view.projection is None:
        name = _owner_name(view.copy)
        owner = await live.find(project, WorkloadDeployment, name, request.namespace)
        copy = await live.find(hub, Instance, request.name, hub_namespace)
        if copy is not None and _owner_name(copy) == name and _is_sent_to(owner, hub_namespace):
            return replace(view, copy=copy, owner=owner)
    elif view.copy is None and _is_sent_to(_cached_owner(view.projection, project), hub_namespace):
        copy = await live.certain(hub, Instance, request.name, hub_namespace)
        if copy is None:
            return view
    return await _read_all_live(request, project, hub)


def _cached_owner(projection: Instance | None, project: Cluster) -> WorkloadDeployment | None:
    """The deployment that owns a projection, from the cache."""
    if projection is None:
        return None
    meta = projection.metadata
    cache = project.informers.of(WorkloadDeployment).cache
    owner = cache.get(meta.namespace, joins.deployment_name(projection))
    owners = [reference.uid for reference in meta.owner_references]
    return owner if owner is not None and owner.metadata.uid in owners else None


def _is_sent_to(owner: WorkloadDeployment | None, hub_namespace: str) -> bool:
    """Whether the copies of a deployment are in this namespace of the hub."""
    noted = owner.metadata.annotations.get(annotations.FEDERATION_NAMESPACE) if owner else None
    return noted == hub_namespace


def _only_updates(view: _View) -> bool:
    """Whether the projection exists and keeps its owner."""
    owner = view.owner.metadata.uid if view.owner else ""
    owners = view.projection.metadata.owner_references if view.projection else ()
    updates = all(isinstance(write, Update) for write in view.projected().writes)
    return updates and any(reference.uid == owner for reference in owners)


async def _read_all_live(request: Request, project: Cluster, hub: Cluster) -> _View:
    namespace, name = request.namespace, request.name
    project_namespace = await live.certain(project, Namespace, namespace)
    if project_namespace is None:
        return _View()  # everything in it is gone
    copy = await live.certain(hub, Instance, name, _hub_namespace_of(project_namespace))
    projection = await live.find(project, Instance, name, namespace)
    owner_name = _owner_name(copy)
    if not owner_name:
        return _View(copy, projection)
    return _View(
        copy, projection, await live.certain(project, WorkloadDeployment, owner_name, namespace)
    )


def _hub_namespace_of_cached(project: Cluster, namespace: str) -> str:
    cached = project.informers.of(Namespace).cache.get("", namespace)
    return _hub_namespace_of(cached) if cached is not None else ""


def _hub_namespace_of(namespace: Namespace) -> str:
    return names.hub_namespace(namespace.metadata.uid)


def _owner_name(copy: Instance | None) -> str:
    return joins.deployment_name(copy) if copy else ""


def _as_tuple(obj: K | None) -> tuple[K, ...]:
    return () if obj is None else (obj,)


def _new_troubles(before: Instance | None, after: Instance) -> Iterable[Condition]:
    """The conditions that report a trouble which the Instance did not have before.

    Two conditions may have the same reason: it is reported once.
    """
    known = {condition.reason for condition in _troubles(before)} if before else set()
    new = {c.reason: c for c in reversed(_troubles(after)) if c.reason not in known}
    return [new[reason] for reason in sorted(new)]


def _troubles(instance: Instance) -> list[Condition]:
    conditions = (find(instance.status.conditions, kind) for kind in _REPORTED_CONDITIONS)
    return [c for c in conditions if c and c.status != "True" and _is_trouble(c.reason)]


def _is_trouble(reason: str) -> bool:
    return any(has(reason, trait) for trait in _TROUBLES)
