"""Claims that outlived what they were made for, found and given back.

An Instance gives its claim back as it goes, or leaves it to the next in its slot. What remains is a
slot that was closed before the next came, a finalizer taken off by hand, a project that was away
for too long: rare, and each would hold quota for ever. So every claim of this cell that has no
Instance is looked at, when either changes; at rest nothing is.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason
from compute.controllers.cell import project_identities
from compute.controllers.cell.instance import quota_metrics
from compute.controllers.cell.instance.quota_gate import GivenBack
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide import quota
from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object
from kubekit.client.options import DeleteOptions, ListOptions
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "claim-controller"

_log: Final = logging.getLogger(__name__)
_BY_DEPLOYMENT: Final = "the deployment of its slot"
_SETTINGS: Final = ControllerSettings(workers=1, longest_backoff=60.0)
# A slot is empty for a moment only. Nothing tells of one that is closed while it is.
_EMPTY_SLOT: Final = timedelta(seconds=15)


def controllers(
    planes: CellPlanes, settings: CellSettings, factory: ControllerFactory, given_back: GivenBack
) -> list[Controller]:
    """What finds forgotten claims, in the projects that were reached and in those that were not."""
    forgotten = ForgottenClaims(planes, settings, factory, given_back)
    visits = Visits(planes, settings)
    return [
        factory.controller(
            NAME,
            forgotten,
            planes.projects,
            [
                own(ResourceClaim, planes.projects),
                mapped(Instance, planes.cell, forgotten.of_instance),
                mapped(WorkloadDeployment, planes.cell, forgotten.of_deployment),
            ],
            _SETTINGS,
        ),
        factory.controller(
            f"{NAME}-visits", visits, planes.cell, [own(Namespace, planes.cell)], _SETTINGS
        ),
    ]


class ForgottenClaims:
    """Gives back a claim that no Instance has and no slot awaits."""

    def __init__(
        self,
        planes: CellPlanes,
        settings: CellSettings,
        factory: ControllerFactory,
        given_back: GivenBack,
    ) -> None:
        self._planes = planes
        self._name = settings.name
        self._given_back = given_back
        self._recorder = factory.recorder(NAME)
        self._figures = quota_metrics.figures(factory.metrics.registry)

    def of_instance(self, cluster: ClusterName, instance: Instance) -> Iterable[Request]:
        """An Instance that has gone asks for its claim."""
        cell, meta = self._planes.cell.get(cluster), instance.metadata
        whose = project_identities.identity(cell, meta.namespace)
        if whose is not None and not _has(cell, Instance, meta.namespace, meta.name):
            yield Request(
                project_identities.project(whose), whose.namespace, names.claim(meta.name)
            )

    def of_deployment(
        self, cluster: ClusterName, deployment: WorkloadDeployment
    ) -> Iterable[Request]:
        """A deployment that has gone asks for the claims that were left to its slots."""
        meta = deployment.metadata
        if _has(self._planes.cell.get(cluster), WorkloadDeployment, meta.namespace, meta.name):
            return
        for project in self._planes.projects:
            kept = project.informers.of(ResourceClaim).cache
            kept.add_index(_BY_DEPLOYMENT, _deployment)
            for claim in kept.by(_BY_DEPLOYMENT, f"{meta.namespace}/{meta.name}"):
                yield Request(project.name, claim.metadata.namespace, claim.metadata.name)

    async def reconcile(self, request: Request) -> Result:
        """Look at one claim: first at what the caches say, and before it goes at what is so."""
        project, cell = self._planes.projects.get(request.cluster), self._planes.cell.sole()
        cache = project.informers.of(ResourceClaim).cache
        claim = cache.get(request.namespace, request.name)
        if claim is None:
            self._given_back.pop((project.name, request.namespace, request.name), None)
            return DONE
        slot = _slot(claim)
        if slot is None or _has(cell, Instance, *slot):
            return DONE
        if not self._is_leaked(claim, None, _cached_deployment(cell, *slot)):
            ours = claim.metadata.labels.get(labels.SOURCE_CLUSTER) == self._name
            return Result(requeue_after=_EMPTY_SLOT if ours and not claim.deleting else None)
        return await self._returned(project, cell, claim)

    async def _returned(self, project: Cluster, cell: Cluster, claim: ResourceClaim) -> Result:
        # The claim first: an Instance that is made after it was read is then seen.
        meta = claim.metadata
        live = await project.client.find(ResourceClaim, meta.name, meta.namespace)
        slot = _slot(live) if live else None
        if live is None or slot is None:
            return DONE
        instance = await cell.client.find(Instance, slot[1], slot[0])
        deployment = await _live_deployment(cell, *slot)
        if not self._is_leaked(live, instance, deployment):
            return Result(requeue_after=_EMPTY_SLOT)
        self._given_back[project.name, meta.namespace, meta.name] = live.metadata.uid
        unchanged = DeleteOptions(resource_version=live.metadata.resource_version)
        with suppress(NotFound):
            await project.client.delete(live, unchanged)
            self._tell(project, live, "/".join(slot))
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

    def _tell(self, project: Cluster, claim: ResourceClaim, slot: str) -> None:
        self._figures.reclaimed += 1
        note = f"Given back: nothing in {self._name} needs it, and there is no instance {slot}"
        reason = Reason.QUOTA_CLAIM_RELEASED
        self._recorder.event(project.client, claim, "Normal", reason, note, "ReleaseQuota")
        about = {"cluster": project.name, "object": claim.metadata.name, "slot": slot}
        _log.info("forgotten claim given back", extra=about)


class Visits:
    """Looks once, for each namespace, whether its project holds claims that this cell made.

    A project is reached when an Instance needs it. One that no Instance needs any more would never
    be, nor would what was forgotten there. Namespaces are in every cell, whether anything of theirs
    runs there or not, so a project without claims is let go again.
    """

    def __init__(self, planes: CellPlanes, settings: CellSettings) -> None:
        self._planes = planes
        self._ours = ListOptions(label_selector=f"{labels.SOURCE_CLUSTER}={settings.name}", limit=1)

    async def reconcile(self, request: Request) -> Result:
        """Visit the project of one namespace, unless it was reached before."""
        whose = project_identities.identity(self._planes.cell.get(request.cluster), request.name)
        name = project_identities.project(whose) if whose else None
        if name is None or self._planes.projects.find(name) is not None:
            return DONE  # claims in what was reached are told of without being asked for
        try:
            project = await self._planes.reach(name)
        except NotFound:
            return DONE
        claims = await project.client.list(ResourceClaim, options=self._ours)
        if not claims.items:
            await self._planes.projects.disengage(name)
        return DONE


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


def _has(cell: Cluster, kind: type[Object], namespace: str, name: str) -> bool:
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
