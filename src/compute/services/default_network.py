"""The default network of a new project.

It is created once: not again after it was deleted, and not if a network of that name exists.
"""

from collections.abc import Iterable
from typing import Final

from compute.api import annotations
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.api.permissions import READ, allow
from compute.api.resource_manager import Project
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling.commit import merge_maps
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "default"  # of the namespace and of the network in it
_MADE: Final = "made"

PERMISSIONS: Final = (
    *allow("project", (*READ, "patch"), Namespace),
    *allow("project", ("create",), Network),
    *allow("core", READ, Project),
)


class DefaultNetworks:
    """Creates the network default in the namespace default of each project."""

    def __init__(self, planes: ServicePlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        plane = self._planes.projects.get(request.cluster)
        namespace = plane.informers.of(Namespace).cache.get("", request.name)
        if namespace is None or request.name != NAME or _is_done(namespace):
            return DONE
        if not await self._planes.has_project(plane.name):  # a network would delay its removal
            return DONE
        present = await plane.client.get(Namespace, NAME)
        if not present.deleting and not _is_done(present):
            await _create_network(plane, present)
        return DONE


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller of default networks."""
    sources = [own(Namespace, planes.projects), mapped(Project, planes.core, _first_namespace)]
    return [
        factory.controller("project-furnishing", DefaultNetworks(planes), planes.projects, sources)
    ]


def _first_namespace(_: ClusterName, project: Project) -> Iterable[Request]:
    return (Request(ClusterName(project.metadata.name), "", NAME),)


async def _create_network(plane: Cluster, namespace: Namespace) -> None:
    network = Network(
        metadata=ObjectMeta(name=NAME, namespace=NAME),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    await live.create(plane.client, network)
    marked = merge_maps(namespace.metadata.annotations, {annotations.DEFAULT_NETWORK: _MADE})
    await plane.client.patch(namespace, with_metadata(namespace, annotations=marked))


def _is_done(namespace: Namespace) -> bool:
    return annotations.DEFAULT_NETWORK in namespace.metadata.annotations
