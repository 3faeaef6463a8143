"""The federator: a project's deployments go to the hub, and what the hub knows of them comes back.

A request names a deployment of a project. Before the first write on the hub the project's
deployment notes where that is and is held by a finalizer, in one write: whatever happens later, it
can be found and taken back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compute.api import karmada, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.reasons import Reason
from compute.controllers.management.apply_writes import save
from compute.controllers.management.federator import teardown_check
from compute.controllers.management.federator.deployment_link import Link
from compute.controllers.management.federator.status_reports import Reports, placement, readiness
from compute.controllers.management.federator.withdrawal import Withdrawal
from compute.controllers.management.fleet_metrics import PROJECT_TO_HUB, fleet_metrics
from compute.controllers.management.hub.origins import engaged_as, from_hub, original_of
from compute.controllers.management.hub.policies import ensure_policy
from compute.controllers.management.live_reads import known
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import presence, turning
from compute.decide.federation import (
    Refused,
    deployment_due,
    hub_deployment,
    hub_namespace,
    identity,
    namespace_due,
    prepared,
)
from compute.decide.writes import Create
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import Source, mapped, own

NAME: Final = "federator"
_CELL: Final = "cell"
_NOWHERE: Final = ""


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that joins the projects to the hub."""
    federator, sources = Federator(planes, factory), _sources(planes)
    return [factory.controller(NAME, federator, planes.projects, sources, ACROSS_PLANES)]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the hub should hold of a deployment."""

    room: Namespace
    copy: WorkloadDeployment


class Federator:
    """Keeps one deployment of a project and its copy on the hub in step."""

    def __init__(self, planes: ManagementPlanes, factory: ControllerFactory) -> None:
        self._planes = planes
        self._recorder = factory.recorder(NAME)
        self._environment = factory.environment
        self._metrics = fleet_metrics(factory.metrics.registry)
        self._reports = Reports(factory.environment, self._recorder, self._metrics)
        self._withdrawal = Withdrawal(self._recorder)

    async def reconcile(self, request: Request) -> Result:
        """Send it, take it back, or clear up after it."""
        project = self._planes.projects.get(request.cluster)
        link = Link(request, project, self._planes.hub.sole())
        cache = project.informers.of(WorkloadDeployment).cache
        deployment = cache.get(request.namespace, request.name)
        if deployment is None:
            await self._withdrawal.clear(link)
        elif deployment.deleting:
            return await self._withdrawal.finish(link, deployment)
        else:
            namespace = await known(project, Namespace, request.namespace)
            if namespace is not None:
                await self._federate(link, deployment, namespace)
        return DONE

    async def _federate(
        self, link: Link, deployment: WorkloadDeployment, namespace: Namespace
    ) -> None:
        wanted = _wanted(link, deployment, namespace)
        if isinstance(wanted, Refused):
            await self._reports.refuse(link, deployment, wanted.why)
        elif (copy := _settled(link, deployment, wanted)) is not None:
            await self._keep(link, deployment, wanted, copy)
        else:
            await self._settle(link)

    async def _settle(self, link: Link) -> None:
        """Begin, or begin anew: what is written on the hub follows from what the project holds now.

        The hub's copy is looked at first, so that it cannot be newer than what it is brought to:
        another federator, which hears of changes sooner, may be at work too.
        """
        client = link.project.client
        namespace = await client.find(Namespace, link.namespace)
        copy = await _present(link, namespace) if namespace else None
        deployment = await client.find(WorkloadDeployment, link.name, link.namespace)
        if namespace is None or deployment is None or deployment.deleting:
            return  # the change that says so is on its way
        wanted = _wanted(link, deployment, namespace)
        if isinstance(wanted, Refused):
            return
        due = prepared(deployment, wanted.room.metadata.name)
        if due:
            deployment = await save(client, due)
        await self._keep(link, deployment, wanted, copy)

    async def _keep(
        self,
        link: Link,
        deployment: WorkloadDeployment,
        wanted: _Wanted,
        copy: WorkloadDeployment | None,
    ) -> None:
        await self._withdrawal.clear_elsewhere(link, wanted.room.metadata.name)
        if not await _is_housed(link, wanted.room):
            return  # made anew once it is gone
        copy = await self._sent(link, deployment, wanted.copy, copy)
        await self._reports.carry(link, deployment, copy)

    async def _sent(
        self,
        link: Link,
        deployment: WorkloadDeployment,
        wanted: WorkloadDeployment,
        existing: WorkloadDeployment | None,
    ) -> WorkloadDeployment:
        """The hub's copy, made or brought up to date."""
        due = deployment_due(existing, wanted)
        if due is None:
            return existing or wanted
        client = link.hub.client
        copy = await save(client, due)
        if existing is None or _city(existing) != _city(copy):
            await ensure_policy(client, copy)
        if isinstance(due, Create) and not deployment.status.observed_generation:
            made = deployment.metadata.creation_timestamp
            self._metrics.passed(PROJECT_TO_HUB, made, self._environment.now())
        if isinstance(due, Create):
            note = f"{link.name} is on the hub, to be run in {wanted.spec.city_code}"
            self._recorder.event(
                link.project.client, deployment, "Normal", Reason.FEDERATED, note, "Federate"
            )
        return copy


def _wanted(link: Link, deployment: WorkloadDeployment, namespace: Namespace) -> _Wanted | Refused:
    try:
        room = hub_namespace(link.project_name, namespace)
    except ValueError as error:  # the project's name fits into no label
        return Refused(str(error))
    copy = hub_deployment(deployment, link.project_name, room.metadata.name)
    return copy if isinstance(copy, Refused) else _Wanted(room, copy)


def _settled(
    link: Link, deployment: WorkloadDeployment, wanted: _Wanted
) -> WorkloadDeployment | None:
    """The hub's copy where nothing has to be written: it is held, noted, and sent, as far as we know."""
    room = wanted.room.metadata.name
    informers = link.hub.informers
    copy = informers.of(WorkloadDeployment).cache.get(room, link.name)
    begun = prepared(deployment, room) is None and ("", room) in informers.of(Namespace).cache
    due = copy is None or not begun or deployment_due(copy, wanted.copy)
    return None if due else copy


async def _present(link: Link, namespace: Namespace) -> WorkloadDeployment | None:
    """What the hub has under the name of the deployment."""
    room = names.hub_namespace(namespace.metadata.uid)
    cached = link.hub.informers.of(WorkloadDeployment).cache.get(room, link.name)
    return cached or await link.hub.client.find(WorkloadDeployment, link.name, room)


async def _is_housed(link: Link, wanted: Namespace) -> bool:
    """Whether the hub namespace is there to stay, made or mended if need be."""
    client, name = link.hub.client, wanted.metadata.name
    room = link.hub.informers.of(Namespace).cache.get("", name)
    if room is None or namespace_due(room, wanted):
        room = await client.find(Namespace, name)
    due = namespace_due(room, wanted)
    if due:
        room = await save(client, due)
    return room is not None and not room.deleting


def _city(copy: WorkloadDeployment) -> str | None:
    return copy.metadata.labels.get(labels.TOPOLOGY_CITY_CODE)


def _sources(planes: ManagementPlanes) -> Sequence[Source[Any]]:
    def room(hub: Cluster, changed: Namespace) -> Iterable[Request]:
        return _of_room(hub, changed, planes)

    return [
        own(WorkloadDeployment, planes.projects),
        mapped(WorkloadDeployment, planes.hub, from_hub(planes.hub, _of_copy)),
        mapped(Namespace, planes.hub, from_hub(planes.hub, room)),
        turning(ResourceBinding, planes.hub, from_hub(planes.hub, _of_binding), placement),
        turning(Work, planes.hub, from_hub(planes.hub, teardown_check.of_work), presence),
        turning(karmada.MemberCluster, planes.hub, from_hub(planes.hub, _of_cell), readiness),
    ]


def _of_copy(hub: Cluster, copy: Object) -> Iterable[Request]:
    original = original_of(hub, copy)
    return () if original is None else (original,)


def _of_room(hub: Cluster, room: Namespace, planes: ManagementPlanes) -> Iterable[Request]:
    """Everything that is, or should be, in a hub namespace."""
    told = identity(room)
    if told is None:
        return ()
    project = planes.projects.find(engaged_as(told))
    sent = hub.informers.of(WorkloadDeployment).cache.keys(room.metadata.name)
    meant = project.informers.of(WorkloadDeployment).cache.keys(told.namespace) if project else []
    found = dict.fromkeys(name for _, name in (*sent, *meant))
    return [Request(engaged_as(told), told.namespace, name) for name in found]


def _of_binding(hub: Cluster, binding: ResourceBinding) -> Iterable[Request]:
    resource = binding.spec.resource
    if resource.kind != WorkloadDeployment.RESOURCE.kind:
        return ()
    cache = hub.informers.of(WorkloadDeployment).cache
    copy = cache.get(resource.namespace, resource.name)
    return teardown_check.of_binding(hub, binding) if copy is None else _of_copy(hub, copy)


def _of_cell(hub: Cluster, cell: karmada.MemberCluster) -> Iterable[Request]:
    """The deployments bound to a cell, those that it has yet to release, and those without one."""
    cache = hub.informers.of(ResourceBinding).cache
    cache.add_index(_CELL, _cells)
    for binding in (*cache.by(_CELL, cell.metadata.name), *cache.by(_CELL, _NOWHERE)):
        yield from _of_binding(hub, binding)
    yield from teardown_check.of_silence(hub, cell.metadata.name)


def _cells(binding: ResourceBinding) -> Iterable[str]:
    return [cluster.name for cluster in binding.spec.clusters] or [_NOWHERE]
