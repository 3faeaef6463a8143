"""Deployments that the engine moves to another cell: their copies are assigned to that cell.

A request names a deployment of the hub. The copies of the former cell show that a deployment has moved;
so does a binding that changes while this process runs. Claims are read only then: they are in the project,
and no cache has them.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final, NamedTuple

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada_work import ResourceBinding
from compute.api.permissions import READ, WATCH, allow
from compute.api.quota import ResourceClaim
from compute.controllers.management.apply_writes import remove, save
from compute.controllers.management.hub.origins import from_hub, original_of
from compute.controllers.management.planes import ACROSS_PLANES, ManagementPlanes
from compute.controllers.management.predicates import mapped_on_change
from compute.decide import joins
from compute.decide.federation import chosen_cell, is_of_other, move_step
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result

NAME: Final = "hub-moves"
PERMISSIONS: Final = (
    *allow("hub", READ, ResourceBinding),
    *allow("hub", WATCH, WorkloadDeployment),
    *allow("hub", (*WATCH, "patch"), Instance),
    *allow("project", ("list", "delete"), ResourceClaim),
)
_LATER: Final = Result(requeue_after=timedelta(seconds=30))  # its project may not be engaged yet
_BY_DEPLOYMENT: Final = "moves: deployment"


def controllers(planes: ManagementPlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that follows the moves of deployments."""
    sources = [
        mapped_on_change(ResourceBinding, planes.hub, _of_binding, chosen_cell),
        mapped_on_change(Instance, planes.hub, from_hub(planes.hub, _of_copy), _writer),
    ]
    moves = HubMoves(planes)
    return [factory.controller(NAME, moves, planes.hub, sources, ACROSS_PLANES)]


class HubMoves:
    """Assigns the copies of one deployment to its cell, and releases the claims of the former one."""

    def __init__(self, planes: ManagementPlanes) -> None:
        self._planes = planes
        self._cells: dict[Request, str] = {}  # of each deployment, once nothing is left to do
        self._since: dict[Request, float] = {}  # when each move was seen first

    async def reconcile(self, request: Request) -> Result:
        """Read the caches; if they show a move, read live and take the next step of it."""
        hub = self._planes.hub.get(request.cluster)
        path = request.namespace, request.name
        if path not in hub.informers.of(WorkloadDeployment).cache:
            return self._end(request, None)
        cell = chosen_cell(_cached_binding(hub, *path))
        if cell is None:
            return DONE  # it may be about to move; the former cell is remembered
        moved = self._cells.get(request, cell) != cell
        if not (moved or any(is_of_other(copy, cell) for copy in _copies(hub, request))):
            return self._end(request, cell)
        return await self._follow(hub, request)

    async def _follow(self, hub: Cluster, request: Request) -> Result:
        name = names.resource_binding(request.name, WorkloadDeployment.RESOURCE.kind)
        cell = chosen_cell(await hub.client.find(ResourceBinding, name, request.namespace))
        if cell is None:
            return DONE  # a watch event will requeue it
        of_deployment = ListOptions(label_selector=f"{labels.DEPLOYMENT_NAME}={request.name}")
        project = self._project_of(hub, request)
        if project is None:
            return _LATER
        # Claims first: one that is released meanwhile only delays its copy.
        claims = await _claims(project, request, cell)
        copies = await hub.client.every(Instance, request.namespace, of_deployment)
        step = move_step(copies.items, claims, cell, self._waited(request))
        for update in step.copies:
            await save(hub.client, update)
        for release in step.claims:
            await remove(project.client, release)
        if step.wait is not None:
            return Result(requeue_after=step.wait)
        return self._end(request, cell)

    def _project_of(self, hub: Cluster, request: Request) -> "_Project | None":
        original = original_of(hub, _copy_named(request))
        project = self._planes.projects.find(original.cluster) if original else None
        return _Project(project.client, original.namespace) if original and project else None

    def _waited(self, request: Request) -> timedelta:
        now = asyncio.get_running_loop().time()
        return timedelta(seconds=now - self._since.setdefault(request, now))

    def _end(self, request: Request, cell: str | None) -> Result:
        """Remember the cell of a deployment for which nothing is left to do; None if it is gone."""
        self._since.pop(request, None)
        if cell is None:
            self._cells.pop(request, None)
        else:
            self._cells[request] = cell
        return DONE


class _Project(NamedTuple):
    """The project of a deployment, and the namespace in it."""

    client: Client
    namespace: str


async def _claims(project: _Project, request: Request, cell: str) -> list[ResourceClaim]:
    """The claims of other cells for Instances of a deployment, read live."""
    selector = f"{labels.INSTANCE_NAMESPACE}={request.namespace},{labels.SOURCE_CLUSTER}!={cell}"
    options = ListOptions(label_selector=selector)
    claims = await project.client.every(ResourceClaim, project.namespace, options)
    return [each for each in claims.items if _deployment_of(each) == request.name]


def _cached_binding(hub: Cluster, namespace: str, deployment: str) -> ResourceBinding | None:
    name = names.resource_binding(deployment, WorkloadDeployment.RESOURCE.kind)
    return hub.informers.of(ResourceBinding).cache.get(namespace, name)


def _copies(hub: Cluster, request: Request) -> list[Instance]:
    cache = hub.informers.of(Instance).cache
    cache.add_index(_BY_DEPLOYMENT, _deployment_key)
    return cache.by(_BY_DEPLOYMENT, f"{request.namespace}/{request.name}")


def _of_binding(hub: ClusterName, binding: ResourceBinding) -> Iterable[Request]:
    bound = binding.spec.resource
    if bound.kind == WorkloadDeployment.RESOURCE.kind:
        yield Request(hub, bound.namespace, bound.name)


def _of_copy(hub: Cluster, copy: Instance) -> Iterable[Request]:
    """The deployment of a copy that another cell wrote than the one that has the deployment."""
    meta, name = copy.metadata, joins.deployment_name(copy)
    cell = chosen_cell(_cached_binding(hub, meta.namespace, name))
    if cell is not None and is_of_other(copy, cell):
        yield Request(hub.name, meta.namespace, name)


def _writer(copy: Instance) -> str | None:
    return copy.metadata.labels.get(labels.SOURCE_CLUSTER)


def _deployment_key(copy: Instance) -> Iterable[str]:
    yield f"{copy.metadata.namespace}/{joins.deployment_name(copy)}"


def _copy_named(request: Request) -> Object:
    resource = WorkloadDeployment.RESOURCE
    metadata = ObjectMeta(name=request.name, namespace=request.namespace)
    return Object(api_version=resource.api_version, kind=resource.kind, metadata=metadata)


def _deployment_of(claim: ResourceClaim) -> str | None:
    """The deployment of the slot that a claim is for."""
    instance = names.claim_instance(claim.metadata.name)
    parts = names.instance_parts(instance) if instance else None
    return parts[0] if parts else None
