"""The federator: a project's deployments are copied to the hub, and their status comes back.

A request names a deployment of a project. Before the first write on the hub the project's
deployment gets a finalizer and an annotation with the hub namespace, in one write. So the copy can
always be found and deleted later.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compute.api import karmada, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.permissions import READ, WATCH, WRITE, allow, events
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.controllers.management.apply_writes import save
from compute.controllers.management.federator import teardown_check
from compute.controllers.management.federator.deployment_link import DeploymentLink
from compute.controllers.management.federator.status_reports import (
    StatusReporter,
    placement,
    readiness,
)
from compute.controllers.management.federator.withdrawal import Withdrawal
from compute.controllers.management.fleet_metrics import PROJECT_TO_HUB, fleet_metrics
from compute.controllers.management.hub.origins import engaged_as, from_hub, original_of
from compute.controllers.management.hub.policies import ensure_policy
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change, presence
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
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

NAME: Final = "federator"
_CELL: Final = "cell"
_UNPLACED: Final = ""

PERMISSIONS: Final = (
    *allow("project", (*READ, "patch"), WorkloadDeployment),
    *allow("project", ("patch",), WorkloadDeployment, subresource="status"),
    *allow("project", READ, Namespace),
    *allow("project", WATCH, Instance),
    *allow("project", ("get",), ResourceClaim),
    *events("project"),
    *allow("hub", (*READ, "create", "patch"), Namespace),
    *allow("hub", (*READ, *WRITE), WorkloadDeployment),
    *allow("hub", ("get", "create", "patch"), karmada.PropagationPolicy),
    *allow("hub", READ, Work, karmada.MemberCluster),
    *allow("hub", WATCH, Instance, ResourceBinding),
    *allow("hub", ("get",), Lease),
)


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that connects the projects to the hub."""
    federator, sources = Federator(planes, factory), _sources(planes)
    return [factory.controller(NAME, federator, planes.projects, sources, ACROSS_PLANES)]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The namespace and the copy that the hub should have for a deployment."""

    namespace: Namespace
    copy: WorkloadDeployment


class Federator:
    """Keeps one deployment of a project and its copy on the hub in sync."""

    def __init__(self, planes: ManagementPlanes, factory: ControllerFactory) -> None:
        self._planes = planes
        self._recorder = factory.recorder(NAME)
        self._environment = factory.environment
        self._metrics = fleet_metrics(factory.metrics.registry)
        self._reports = StatusReporter(factory.environment, self._recorder, self._metrics)
        self._withdrawal = Withdrawal(self._recorder)

    async def reconcile(self, request: Request) -> Result:
        """Write the copy of a deployment, delete it, or delete an orphaned copy."""
        project = self._planes.projects.get(request.cluster)
        link = DeploymentLink(request, project, self._planes.hub.sole())
        cache = project.informers.of(WorkloadDeployment).cache
        deployment = cache.get(request.namespace, request.name)
        if deployment is None:
            await self._withdrawal.clear(link)
        elif deployment.deleting:
            return await self._withdrawal.finish(link, deployment)
        else:
            namespace = await live.cached(project, Namespace, request.namespace)
            if namespace is not None:
                await self._federate(link, deployment, namespace)
        return DONE

    async def _federate(
        self, link: DeploymentLink, deployment: WorkloadDeployment, namespace: Namespace
    ) -> None:
        wanted = _wanted(link, deployment, namespace)
        if isinstance(wanted, Refused):
            await self._reports.refuse(link, deployment, wanted.why)
        elif (copy := _copy_if_current(link, deployment, wanted)) is not None:
            await self._sync(link, deployment, wanted, copy)
        else:
            try:
                await self._write_copy(link, deployment, live.cached)
            except AlreadyExists:  # the caches of the hub lack the copy
                await self._write_copy(link, deployment, live.find)

    async def _write_copy(
        self, link: DeploymentLink, cached: WorkloadDeployment, read: live.Read
    ) -> None:
        """Write the copy from the project's deployment and namespace, read live.

        The hub's copy is read first, so it cannot be newer than the deployment that it is compared
        with. Another federator with a newer cache may run at the same time. A write in the version of
        the cache is as good as a live read of the deployment.
        """
        client = link.project.client
        namespace = await client.find(Namespace, link.namespace)
        if namespace is None:
            return  # a watch event will requeue it
        hub_namespace_name = names.hub_namespace(namespace.metadata.uid)
        copy = await read(link.hub, WorkloadDeployment, link.name, hub_namespace_name)
        due = prepared(cached, hub_namespace_name)
        deployment = (
            await save(client, due)
            if due
            else await client.find(WorkloadDeployment, link.name, link.namespace)
        )
        if deployment is None or deployment.deleting:
            return
        wanted = _wanted(link, deployment, namespace)
        if not isinstance(wanted, Refused):
            await self._sync(link, deployment, wanted, copy)

    async def _sync(
        self,
        link: DeploymentLink,
        deployment: WorkloadDeployment,
        wanted: _Wanted,
        copy: WorkloadDeployment | None,
    ) -> None:
        await self._withdrawal.clear_elsewhere(link, wanted.namespace.metadata.name)
        if not await _ensure_namespace(link, wanted.namespace):
            return  # an earlier one is deleting; its watch event requeues this
        copy = await self._saved(link, deployment, wanted.copy, copy)
        await self._reports.propagate(link, deployment, copy)

    async def _saved(
        self,
        link: DeploymentLink,
        deployment: WorkloadDeployment,
        wanted: WorkloadDeployment,
        existing: WorkloadDeployment | None,
    ) -> WorkloadDeployment:
        """The hub's copy, created or updated."""
        due = deployment_due(existing, wanted)
        if due is None:
            return existing or wanted
        copy = await save(link.hub.client, due)
        if isinstance(due, Create):
            self._report_sent(link, deployment)
        if existing is None or _city(existing) != _city(copy):
            await ensure_policy(link.hub, copy)
        return copy

    def _report_sent(self, link: DeploymentLink, deployment: WorkloadDeployment) -> None:
        """Count how long a new deployment took to reach the hub, and write the event."""
        if not deployment.status.observed_generation:
            created = deployment.metadata.creation_timestamp
            self._metrics.record_hop(PROJECT_TO_HUB, created, self._environment.now())
        note = f"{link.name} is on the hub, to be run in {deployment.spec.city_code}"
        self._recorder.event(
            link.project.client, deployment, "Normal", Reason.FEDERATED, note, "Federate"
        )


def _wanted(
    link: DeploymentLink, deployment: WorkloadDeployment, namespace: Namespace
) -> _Wanted | Refused:
    try:
        wanted = hub_namespace(link.project_name, namespace)
    except ValueError as error:  # the project's name fits into no label
        return Refused(str(error))
    copy = hub_deployment(deployment, link.project_name, wanted.metadata.name)
    return copy if isinstance(copy, Refused) else _Wanted(wanted, copy)


def _copy_if_current(
    link: DeploymentLink, deployment: WorkloadDeployment, wanted: _Wanted
) -> WorkloadDeployment | None:
    """The hub's copy if nothing has to be written, according to the caches."""
    namespace = wanted.namespace.metadata.name
    informers = link.hub.informers
    copy = informers.of(WorkloadDeployment).cache.get(namespace, link.name)
    exists = ("", namespace) in informers.of(Namespace).cache
    if copy is None or not exists or prepared(deployment, namespace):
        return None
    return None if deployment_due(copy, wanted.copy) else copy


async def _ensure_namespace(link: DeploymentLink, wanted: Namespace) -> bool:
    """Create or repair the hub namespace; False while an earlier one is deleting."""
    client, name = link.hub.client, wanted.metadata.name
    existing = link.hub.informers.of(Namespace).cache.get("", name)
    if existing is None:
        existing = await live.create(client, wanted)  # another deployment may do so as well
    if existing is None or namespace_due(existing, wanted):
        existing = await client.find(Namespace, name)
        due = namespace_due(existing, wanted)
        existing = await save(client, due) if due else existing
    return existing is not None and not existing.deleting


def _city(copy: WorkloadDeployment) -> str | None:
    return copy.metadata.labels.get(labels.TOPOLOGY_CITY_CODE)


def _sources(planes: ManagementPlanes) -> Sequence[Source[Any]]:
    def content(hub: Cluster, changed: Namespace) -> Iterable[Request]:
        return _of_namespace(hub, changed, planes)

    def to_deleted(name: ClusterName, projection: Instance) -> Iterable[Request]:
        project = planes.projects.find(name)
        return () if project is None else teardown_check.of_projection(project, projection)

    return [
        own(WorkloadDeployment, planes.projects),
        mapped(WorkloadDeployment, planes.hub, from_hub(planes.hub, _of_copy)),
        mapped(Namespace, planes.hub, from_hub(planes.hub, content)),
        mapped_on_change(ResourceBinding, planes.hub, from_hub(planes.hub, _of_binding), placement),
        mapped_on_change(Work, planes.hub, from_hub(planes.hub, teardown_check.of_work), presence),
        mapped_on_change(
            Instance, planes.hub, from_hub(planes.hub, teardown_check.of_instance), presence
        ),
        mapped_on_change(Instance, planes.projects, to_deleted, presence),
        mapped_on_change(
            karmada.MemberCluster, planes.hub, from_hub(planes.hub, _of_cell), readiness
        ),
    ]


def _of_copy(hub: Cluster, copy: Object) -> Iterable[Request]:
    original = original_of(hub, copy)
    return () if original is None else (original,)


def _of_namespace(
    hub: Cluster, hub_namespace: Namespace, planes: ManagementPlanes
) -> Iterable[Request]:
    """Every deployment that is, or should be, in a hub namespace."""
    origin = identity(hub_namespace)
    if origin is None:
        return ()
    project, namespace = planes.projects.find(engaged_as(origin)), origin.namespace
    copies = hub.informers.of(WorkloadDeployment).cache.keys(hub_namespace.metadata.name)
    originals = project.informers.of(WorkloadDeployment).cache.keys(namespace) if project else []
    deployments = dict.fromkeys(name for _, name in (*copies, *originals))
    return [Request(engaged_as(origin), namespace, name) for name in deployments]


def _of_binding(hub: Cluster, binding: ResourceBinding) -> Iterable[Request]:
    resource = binding.spec.resource
    if resource.kind != WorkloadDeployment.RESOURCE.kind:
        return ()
    cache = hub.informers.of(WorkloadDeployment).cache
    copy = cache.get(resource.namespace, resource.name)
    return teardown_check.of_binding(hub, binding) if copy is None else _of_copy(hub, copy)


def _of_cell(hub: Cluster, cell: karmada.MemberCluster) -> Iterable[Request]:
    """The deployments bound to a cell, those it has yet to release, and those without a cell."""
    cache = hub.informers.of(ResourceBinding).cache
    cache.add_index(_CELL, _cells)
    for binding in (*cache.by(_CELL, cell.metadata.name), *cache.by(_CELL, _UNPLACED)):
        yield from _of_binding(hub, binding)
    yield from teardown_check.of_cell(hub, cell.metadata.name)


def _cells(binding: ResourceBinding) -> Iterable[str]:
    return [cluster.name for cluster in binding.spec.clusters] or [_UNPLACED]
