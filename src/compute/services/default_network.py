"""What a new plane of a project starts with: a network called default.

It is made once. Who deletes it, or has one under that name already, is not given another.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import msgspec

from compute.api import annotations
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.api.resource_manager import Project
from compute.services.planes import ServicePlanes
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reconciling.commit import merge_maps
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own

NAME: Final = "default"  # of the namespace and of the network in it
_MADE: Final = "made"


class DefaultNetworks:
    """Puts the first network into the namespace default of each project."""

    def __init__(self, planes: ServicePlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        plane = self._planes.projects.get(request.cluster)
        namespace = plane.informers.of(Namespace).cache.get("", request.name)
        if namespace is None or request.name != NAME or _is_done(namespace):
            return DONE
        if not await self._stays(plane):
            return DONE
        live = await plane.client.get(Namespace, NAME)
        if not live.deleting and not _is_done(live):
            await _furnish(plane, live)
        return DONE

    async def _stays(self, plane: Cluster) -> bool:
        """Whether the project is there to stay: in one that goes, a network would be in the way."""
        project = await self._planes.core.sole().client.find(Project, plane.name)
        return project is not None and not project.deleting


def controllers(planes: ServicePlanes, factory: ControllerFactory) -> list[Controller]:
    """The controller that furnishes new planes."""
    sources = [own(Namespace, planes.projects), mapped(Project, planes.core, _first_namespace)]
    return [
        factory.controller("project-furnishing", DefaultNetworks(planes), planes.projects, sources)
    ]


def _first_namespace(_: ClusterName, project: Project) -> Iterable[Request]:
    return (Request(ClusterName(project.metadata.name), "", NAME),)


async def _furnish(plane: Cluster, namespace: Namespace) -> None:
    network = Network(
        metadata=ObjectMeta(name=NAME, namespace=NAME),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    with suppress(AlreadyExists):
        await plane.client.create(network)
    marks = merge_maps(namespace.metadata.annotations, {annotations.DEFAULT_NETWORK: _MADE})
    metadata = msgspec.structs.replace(namespace.metadata, annotations=marks)
    await plane.client.patch(namespace, msgspec.structs.replace(namespace, metadata=metadata))


def _is_done(namespace: Namespace) -> bool:
    return annotations.DEFAULT_NETWORK in namespace.metadata.annotations
