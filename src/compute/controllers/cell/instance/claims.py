"""Find and release leaked claims: those that have no Instance any more.

A deleted Instance releases its claim, or leaves it to the next Instance of its slot. A claim leaks if
the slot is removed before the next Instance is created, if a finalizer is removed by hand, or if the
project is unreachable for too long. That is rare, but each would hold quota indefinitely. So every
claim of this cell without an Instance is reconciled when either changes. Only the claim of an empty
slot is polled: no watch event reports a slot that is removed while it is empty.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.permissions import READ, WATCH, allow, events
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.controllers.cell import project_identities
from compute.controllers.cell.instance.quota_gate import ReleasedClaims
from compute.controllers.cell.instance.quota_metrics import quota_metrics
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import quota
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.client.options import ListOptions
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "claim-controller"

_log: Final = logging.getLogger(__name__)
_BY_DEPLOYMENT: Final = "the deployment of its slot"
_SETTINGS: Final = ControllerSettings(workers=1, longest_backoff=60.0)
# A slot is empty for a moment only. No watch event reports a slot that is removed while it is empty.
_EMPTY_SLOT: Final = timedelta(seconds=15)
_CLAIM_LEFT: Final = Result(requeue_after=timedelta(seconds=30))

PERMISSIONS: Final = (
    *allow("cell", READ, Instance, WorkloadDeployment),
    *allow("cell", WATCH, Namespace),
    *allow("project", (*READ, "delete"), ResourceClaim),
    *events("project"),
)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory, released: ReleasedClaims
) -> list[Controller]:
    """The controllers that find leaked claims, in projects that are engaged and in those that are not."""
    leaked = LeakedClaims(planes, settings, factory, released)
    visits = ProjectVisits(planes, settings)
    return [
        factory.controller(
            NAME,
            leaked,
            planes.projects,
            [
                own(ResourceClaim, planes.projects),
                mapped(Instance, planes.cell, leaked.of_instance),
                mapped(WorkloadDeployment, planes.cell, leaked.of_deployment),
            ],
            _SETTINGS,
        ),
        factory.controller(
            f"{NAME}-visits", visits, planes.cell, [own(Namespace, planes.cell)], _SETTINGS
        ),
    ]


class LeakedClaims:
    """Releases a claim that has no Instance and no slot."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        factory: ControllerFactory,
        released: ReleasedClaims,
    ) -> None:
        self._planes = planes
        self._name = settings.name
        self._released = released
        self._recorder = factory.recorder(NAME)
        self._metrics = quota_metrics(factory.metrics.registry)

    def of_instance(self, cluster: ClusterName, instance: Instance) -> Iterable[Request]:
        """An Instance that is gone requeues its claim."""
        cell, meta = self._planes.cell.get(cluster), instance.metadata
        origin = project_identities.identity(self._planes, cell, meta.namespace)
        if origin is not None and not _in_cache(cell, Instance, meta.namespace, meta.name):
            yield Request(
                project_identities.project(origin), origin.namespace, names.claim(meta.name)
            )

    def of_deployment(
        self, cluster: ClusterName, deployment: WorkloadDeployment
    ) -> Iterable[Request]:
        """A deployment that is gone requeues the claims of its slots."""
        meta = deployment.metadata
        if _in_cache(self._planes.cell.get(cluster), WorkloadDeployment, meta.namespace, meta.name):
            return
        for project in self._planes.projects:
            cache = project.informers.of(ResourceClaim).cache
            cache.add_index(_BY_DEPLOYMENT, _deployment)
            for claim in cache.by(_BY_DEPLOYMENT, f"{meta.namespace}/{meta.name}"):
                yield Request(project.name, claim.metadata.namespace, claim.metadata.name)

    async def reconcile(self, request: Request) -> Result:
        """Release one claim if the caches show that it leaked and live reads confirm it."""
        project, cell = self._planes.projects.get(request.cluster), self._planes.cell.sole()
        cache = project.informers.of(ResourceClaim).cache
        claim = cache.get(request.namespace, request.name)
        if claim is None:
            self._released.pop((project.name, request.namespace, request.name), None)
            return DONE
        slot = _slot(claim)
        if slot is None or _in_cache(cell, Instance, *slot):
            return DONE
        if not self._is_leaked(claim, None, _cached_deployment(cell, *slot)):
            ours = claim.metadata.labels.get(labels.SOURCE_CLUSTER) == self._name
            return Result(requeue_after=_EMPTY_SLOT if ours and not claim.deleting else None)
        return await self._release_if_leaked(project, cell, claim)

    async def _release_if_leaked(
        self, project: Cluster, cell: Cluster, claim: ResourceClaim
    ) -> Result:
        # The claim is read first: an Instance that is created later is then seen.
        meta = claim.metadata
        current = await project.client.find(ResourceClaim, meta.name, meta.namespace)
        slot = _slot(current) if current else None
        if current is None or slot is None:
            return DONE
        instance = await cell.client.find(Instance, slot[1], slot[0])
        deployment = await _live_deployment(cell, *slot)
        if not self._is_leaked(current, instance, deployment):
            return Result(requeue_after=_EMPTY_SLOT)
        self._released[project.name, meta.namespace, meta.name] = current.metadata.uid
        if await live.delete_as_read(project.client, current):
            self._report(project, current, "/".join(slot))
        return DONE

    def _is_leaked(
        self,
        claim: ResourceClaim,
        instance: Instance | None,
        deployment: WorkloadDeployment | None,
    ) -> bool:
        instances = (instance,) if instance else ()
        deployments = (deployment,) if deployment else ()
        return bool(quota.leaked((claim,), instances, deployments, source_cluster=self._name))

    def _report(self, project: Cluster, claim: ResourceClaim, slot: str) -> None:
        self._metrics.reclaimed += 1
        note = f"Released: nothing in {self._name} needs it, and there is no instance {slot}"
        reason = Reason.QUOTA_CLAIM_RELEASED
        self._recorder.event(project.client, claim, "Normal", reason, note, "ReleaseQuota")
        about = {"cluster": project.name, "object": claim.metadata.name, "slot": slot}
        _log.info("leaked claim released", extra=about)


class ProjectVisits:
    """Checks once, for each namespace, whether its project has claims of this cell.

    A project is engaged when an Instance needs it. Without this check a claim would leak in a
    project that no Instance needs any more. A cell has the namespaces of all projects, even
    of those without Instances in it, so a project without claims is disengaged again.

    So is a project whose last namespace here is gone: its plane may be gone too.
    """

    def __init__(self, planes: CellPlanes, settings: CellSettings) -> None:
        self._planes = planes
        self._ours = ListOptions(label_selector=f"{labels.SOURCE_CLUSTER}={settings.name}", limit=1)

    async def reconcile(self, request: Request) -> Result:
        """Check the project of one namespace, unless it is engaged."""
        cell = self._planes.cell.get(request.cluster)
        if ("", request.name) not in cell.informers.of(Namespace).cache:
            return await self._leave(cell)
        origin = project_identities.identity(self._planes, cell, request.name)
        name = project_identities.project(origin) if origin else None
        if name is None or self._planes.projects.find(name) is not None:
            return DONE  # the claims of an engaged project are watched
        try:
            project = await self._planes.reach(name)
        except NotFound:
            return DONE
        if not await self._has_claims(project):
            await self._planes.projects.disengage(name)
        return DONE

    async def _leave(self, cell: Cluster) -> Result:
        """Disengage the projects of which the cell has no namespace and no claim any more."""
        result = DONE
        for project in _without_namespaces(self._planes, cell):
            try:
                left = await self._has_claims(project)
            except (NotFound, Forbidden):  # its plane is gone, or of another tenant by now
                left = False
            if left:
                result = _CLAIM_LEFT
            else:
                await self._planes.projects.disengage(project.name)
        return result

    async def _has_claims(self, project: Cluster) -> bool:
        return bool((await project.client.list(ResourceClaim, options=self._ours)).items)


def _without_namespaces(planes: CellPlanes, cell: Cluster) -> list[Cluster]:
    """The engaged projects that no namespace of the cell is of."""
    spaces = cell.informers.of(Namespace).cache.keys()
    origins = [project_identities.identity(planes, cell, name) for _, name in spaces]
    needed = {project_identities.project(origin) for origin in origins if origin}
    return [project for project in planes.projects if project.name not in needed]


def _slot(claim: ResourceClaim) -> tuple[str, str] | None:
    """Namespace and name of the Instance that a claim is for."""
    namespace = claim.metadata.labels.get(labels.INSTANCE_NAMESPACE)
    name = names.claim_instance(claim.metadata.name)
    return (namespace, name) if namespace and name else None


def _deployment(claim: ResourceClaim) -> Iterable[str]:
    slot = _slot(claim)
    parts = names.instance_parts(slot[1]) if slot else None
    if slot and parts:
        yield f"{slot[0]}/{parts[0]}"


def _in_cache(cell: Cluster, kind: type[Object], namespace: str, name: str) -> bool:
    return (namespace, name) in cell.informers.of(kind).cache


def _cached_deployment(cell: Cluster, namespace: str, instance: str) -> WorkloadDeployment | None:
    parts = names.instance_parts(instance)
    cache = cell.informers.of(WorkloadDeployment).cache
    return cache.get(namespace, parts[0]) if parts else None


async def _live_deployment(
    cell: Cluster, namespace: str, instance: str
) -> WorkloadDeployment | None:
    parts = names.instance_parts(instance)
    return await cell.client.find(WorkloadDeployment, parts[0], namespace) if parts else None
