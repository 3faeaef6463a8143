"""The first entitlement of a new project: compute, where requests are approved automatically.

It is created once: not again after it was deleted, and not if the project has one of another name,
which may be denied. Where an operator approves requests, a project makes its own.
"""

from collections.abc import Callable, Iterable
from typing import Final

from compute.api import annotations, labels
from compute.api.permissions import READ, allow
from compute.api.resource_manager import Project
from compute.api.services import NAME, ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.decide import entitlement as rules
from compute.services.entitlements import SETTINGS
from compute.services.planes import PLATFORM, ServicePlanes
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling.commit import merge_maps
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

_NAMESPACE: Final = "default"  # that records that it was created
_MADE: Final = "made"

PERMISSIONS: Final = (
    *allow("project", (*READ, "patch"), Namespace),
    *allow("project", ("list", "create"), ServiceEntitlement),
    *allow("core", READ, ConfigMap, Project),
)


class FirstEntitlements:
    """Creates the entitlement to compute of each new project."""

    def __init__(self, planes: ServicePlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        plane = self._planes.projects.get(request.cluster)
        namespace = plane.informers.of(Namespace).cache.get("", request.name)
        if namespace is None or request.name != _NAMESPACE or _is_done(namespace):
            return DONE
        if not await self._is_automatic() or not await self._planes.has_project(plane.name):
            return DONE
        present = await plane.client.get(Namespace, _NAMESPACE)
        if not present.deleting and not _is_done(present):
            await _create(plane, present)
        return DONE

    async def _is_automatic(self) -> bool:
        stored = await live.find(self._planes.core.sole(), ConfigMap, SETTINGS, PLATFORM)
        settings, _ = rules.read_settings(stored.data if stored else {}, None)
        return settings.automatic and labels.COMPUTE_SERVICE in settings.services


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller of first entitlements."""
    sources = [
        own(Namespace, planes.projects),
        mapped(Project, planes.core, _first_namespace),
        mapped(ConfigMap, planes.core, _if_settings(planes)),
    ]
    reconciler = FirstEntitlements(planes)
    return [factory.controller("first-entitlements", reconciler, planes.projects, sources)]


def _if_settings(
    planes: ServicePlanes,
) -> Callable[[ClusterName, ConfigMap], Iterable[Request]]:
    def to(_: ClusterName, stored: ConfigMap) -> Iterable[Request]:
        if (stored.metadata.namespace, stored.metadata.name) == (PLATFORM, SETTINGS):
            yield from (Request(project.name, "", _NAMESPACE) for project in planes.projects)

    return to


def _first_namespace(_: ClusterName, project: Project) -> Iterable[Request]:
    return (Request(ClusterName(project.metadata.name), "", _NAMESPACE),)


async def _create(plane: Cluster, namespace: Namespace) -> None:
    compute = ServiceEntitlementSpec(service_ref=ServiceRef(name=labels.COMPUTE_SERVICE))
    known = (await plane.client.every(ServiceEntitlement)).items
    if not any(each.spec.service_ref == compute.service_ref for each in known):
        fresh = ServiceEntitlement(metadata=ObjectMeta(name=NAME), spec=compute)
        await live.create(plane.client, fresh)
    marked = merge_maps(namespace.metadata.annotations, {annotations.FIRST_ENTITLEMENT: _MADE})
    await plane.client.patch(namespace, with_metadata(namespace, annotations=marked))


def _is_done(namespace: Namespace) -> bool:
    return annotations.FIRST_ENTITLEMENT in namespace.metadata.annotations
