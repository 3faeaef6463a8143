"""The admission plugins of a world's planes, beside the rules of the planes themselves.

On every plane a deletion that would orphan what nothing manages is refused. On a project's plane:

    Workload            its defaults are filled in, then it is validated
    Instance            is created by the platform alone
    Network             keeps its range while addresses of it are in use
    ResourceClaim       claims what is registered, for its own project
    LocationBinding     is not deleted by a user while Workloads use it
    ServiceEntitlement  is approved and denied by operators alone
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from compute.api import annotations
from compute.api.compute import Instance, Workload
from compute.api.networking import LocationBinding, Network
from compute.api.quota import ResourceClaim
from compute.api.services import ServiceEntitlement
from compute.app.planes import CORE, PlaneRef
from compute.controllers.management.admission.workload_admission import (
    WorkloadAdmission,
    completed,
    defaults,
)
from compute.decide import city_use
from compute.decide.workload.orphan_deletion import orphan_refusal
from compute.services.network.admission import NetworkAdmission
from compute.services.quota.admission import ClaimAdmission
from kubekit.api import scheme
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.authentication import UserInfo
from kubekit.api.meta import Object
from kubekit.api.structural.nodes import Document
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.plane import MASTERS, AdmissionPlugin, Attempt, LocalClient, Plane, User
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import cluster_name

_KindKey = tuple[str, str]  # the API group and the plural


class AdmissionCaches:
    """The core and the projects as the admission plugins see them, with caches of their own."""

    def __init__(self, environment: ExecutionEnvironment) -> None:
        self._core = Clusters("core", environment)
        self._projects = Clusters("project", environment)

    def plugins(self) -> "WorldAdmission":
        """The plugins that read these caches."""
        return WorldAdmission(
            WorkloadAdmission(self._projects, self._core),
            NetworkAdmission(self._projects),
            ClaimAdmission(self._core),
        )

    async def start(self, core: Client) -> None:
        """Engage the core, and wait until its caches are complete."""
        cluster = await self._core.engage(cluster_name(CORE.name), core)
        await cluster.informers.wait_synced()

    async def engage(self, project: str, connect: Callable[[], Client]) -> None:
        """Engage the plane of a project, unless it is engaged already."""
        name = cluster_name(project)
        if self._projects.find(name) is None:
            await self._projects.engage(name, connect())

    async def disengage(self, project: str) -> None:
        await self._projects.disengage(cluster_name(project))

    async def close(self) -> None:
        await self._projects.close()
        await self._core.close()


class WorldAdmission:
    """Adds the admission plugins to each plane that opens."""

    def __init__(
        self, workloads: WorkloadAdmission, networks: NetworkAdmission, claims: ClaimAdmission
    ) -> None:
        self._workloads = workloads
        self._networks = networks
        self._claims = claims

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        admission = plane.registry.admission
        admission.validating.append(_refuse_orphans)
        if ref.role == "project":
            admission.mutating.append(_by_kind({_key(Workload): _complete}))
            admission.validating.append(_by_kind(self._plugins(ref.name, LocalClient(plane))))

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        return

    def _plugins(self, project: str, client: Client) -> Mapping[_KindKey, AdmissionPlugin]:
        return {
            _key(Workload): partial(self._review_workload, project),
            _key(Instance): _check_creator,
            _key(Network): partial(self._review_network, project),
            _key(ResourceClaim): partial(self._review_claim, project),
            _key(LocationBinding): partial(_protect_binding, client),
            _key(ServiceEntitlement): _check_approval,
        }

    async def _review_workload(self, project: str, attempt: Attempt) -> None:
        warnings = await self._workloads.review(
            attempt.verb, attempt.document, attempt.old, _info(attempt.user), project
        )
        attempt.warnings.extend(warnings)

    def _review_network(self, project: str, attempt: Attempt) -> Awaitable[None] | None:
        if attempt.document is None or attempt.old is None:
            return None
        new, old = (scheme.decode_as(Network, each) for each in (attempt.document, attempt.old))
        return self._networks.review(new, old, project)

    def _review_claim(self, project: str, attempt: Attempt) -> None:
        if attempt.document is not None:
            old = scheme.decode_as(ResourceClaim, attempt.old) if attempt.old else None
            self._claims.review(scheme.decode_as(ResourceClaim, attempt.document), project, old)


def _by_kind(plugins: Mapping[_KindKey, AdmissionPlugin]) -> AdmissionPlugin:
    """A plugin that calls the plugin of the kind that is written. Subresources are not checked."""

    def admit(attempt: Attempt) -> Awaitable[None] | None:
        resource = attempt.kind.resource
        plugin = plugins.get((resource.group, resource.plural))
        return None if plugin is None or attempt.subresource else plugin(attempt)

    return admit


def _refuse_orphans(attempt: Attempt) -> None:
    if attempt.old is None or not isinstance(attempt.options, DeleteOptions):
        return
    refusal = orphan_refusal(
        attempt.kind.resource, attempt.old["metadata"], attempt.options.propagation
    )
    if refusal is not None:
        raise refusal


def _complete(attempt: Attempt) -> None:
    """Fill in the defaults of a Workload. Mutating webhooks run before, and see it without them."""
    missing = defaults(attempt.verb, attempt.document, attempt.old)
    if missing and attempt.document is not None:
        attempt.document = completed(attempt.document, missing)
        attempt.changed = True


def _check_creator(attempt: Attempt) -> None:
    """Refuse an Instance that a user creates. No cell would run it."""
    if attempt.verb == "create" and not attempt.by_plane:
        raise Forbidden(
            f'instances.compute.datumapis.com "{attempt.name}" is forbidden: only the platform '
            "creates Instances, and no cell would run this one; create a Workload instead"
        )


def _check_approval(attempt: Attempt) -> None:
    """Refuse an entitlement that a user of the project approves or denies."""
    if attempt.document is None or attempt.by_plane or MASTERS in attempt.user.groups:
        return
    if _approval(attempt.document) != _approval(attempt.old or {}):
        raise Forbidden(
            f'serviceentitlements.services.miloapis.com "{attempt.name}" is forbidden: '
            "only the operators of the platform approve or deny a request"
        )


def _approval(entitlement: Document) -> tuple[object, ...]:
    known = entitlement.get("metadata", {}).get("annotations") or {}
    return tuple(known.get(key) for key in (annotations.APPROVAL, annotations.APPROVAL_MESSAGE))


async def _protect_binding(client: Client, attempt: Attempt) -> None:
    """Refuse to withdraw a city that Workloads use.

    The platform may withdraw it: what runs there is drained after a grace period.
    """
    if attempt.old is None or attempt.by_plane:
        return
    before = scheme.decode_as(LocationBinding, attempt.old)
    after = scheme.decode_as(LocationBinding, attempt.document) if attempt.document else None
    bindings = (await client.every(LocationBinding)).items
    workloads = (await client.every(Workload)).items
    if refusal := city_use.refusal(before, after, bindings, workloads):
        raise refusal


def _key(kind: type[Object]) -> _KindKey:
    return kind.RESOURCE.group, kind.RESOURCE.plural


def _info(user: User) -> UserInfo:
    return UserInfo(username=user.name, groups=user.groups, uid=user.uid, extra=dict(user.extra))
