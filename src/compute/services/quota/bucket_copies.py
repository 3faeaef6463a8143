"""Copies of the buckets in the plane of their project, where its users may read them.

The buckets themselves are in the core plane, which is closed to the users of projects. A copy has the
same name, namespace, labels, spec and status. It is changed back when it was changed.
"""

from collections.abc import Iterable

import msgspec

from compute.api.quota import AllowanceBucket
from compute.services.planes import PLATFORM, ServicePlanes
from compute.services.quota import lookups
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped


class BucketCopies:
    """Keeps a copy of each bucket of a project in the project's plane."""

    def __init__(self, planes: ServicePlanes) -> None:
        self._planes = planes

    async def reconcile(self, request: Request) -> Result:
        """A request names the project as its cluster."""
        plane, core = self._planes.projects.get(request.cluster), self._planes.core.sole()
        buckets = {each.metadata.name: each for each in lookups.buckets_of(core, plane.name)}
        copies = {each.metadata.name: each for each in _copies(plane)}
        if not buckets.keys() <= copies.keys() and not await self._planes.has_project(plane.name):
            return DONE
        for name, copy in copies.items():
            if name not in buckets:
                await live.delete(plane.client, copy)
        for name, bucket in buckets.items():
            present = copies.get(name) or await _create(plane, bucket)
            await _update(plane, present, bucket)
        return DONE


def controller(planes: ServicePlanes, factory: ControllerFactory) -> Controller:
    """The controller of the copies."""
    sources = [
        mapped(AllowanceBucket, planes.core, _consumer),
        mapped(AllowanceBucket, planes.projects, _itself),
        mapped(Namespace, planes.projects, _itself_once),
    ]
    return factory.controller("quota-bucket-copies", BucketCopies(planes), planes.projects, sources)


def _copies(plane: Cluster) -> list[AllowanceBucket]:
    stored = plane.informers.of(AllowanceBucket).cache.list()
    return [each for each in stored if each.metadata.namespace == PLATFORM]


async def _create(plane: Cluster, bucket: AllowanceBucket) -> AllowanceBucket:
    if plane.informers.of(Namespace).cache.get("", PLATFORM) is None:
        await live.create(plane.client, Namespace(metadata=ObjectMeta(name=PLATFORM)))
    metadata = ObjectMeta(
        name=bucket.metadata.name, namespace=PLATFORM, labels=bucket.metadata.labels
    )
    return await plane.client.create(AllowanceBucket(metadata=metadata, spec=bucket.spec))


async def _update(plane: Cluster, copy: AllowanceBucket, bucket: AllowanceBucket) -> None:
    metadata = msgspec.structs.replace(copy.metadata, labels=bucket.metadata.labels)
    wanted = msgspec.structs.replace(copy, metadata=metadata, spec=bucket.spec)
    copy = await plane.client.patch(copy, wanted)
    status = msgspec.structs.replace(bucket.status, observed_generation=copy.metadata.generation)
    await plane.client.patch_status(copy, msgspec.structs.replace(copy, status=status))


def _consumer(_: ClusterName, bucket: AllowanceBucket) -> Iterable[Request]:
    return (_of(ClusterName(bucket.spec.consumer_ref.name)),)


def _itself(project: ClusterName, _: Object) -> Iterable[Request]:
    return (_of(project),)


def _itself_once(project: ClusterName, namespace: Namespace) -> Iterable[Request]:
    """A new plane has several namespaces. The event of one of them is enough."""
    return (_of(project),) if namespace.metadata.name == "default" else ()


def _of(project: ClusterName) -> Request:
    return Request(project, "", "buckets")
