"""Copies of the buckets in the plane of their project, where its users may read them.

The buckets themselves are in the core plane, which is closed to the users of projects. A copy has the
same name, namespace, labels, spec and status. It is changed back when it was changed.

A bucket is copied at most once a second, so many changes share one write. Caches only tell that there
may be a difference: what is written follows from the bucket and the copy as they are then. A process
that observes one of them late would otherwise undo what another one has copied.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Final
from weakref import WeakKeyDictionary

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

_PACE: Final = timedelta(seconds=1)


class BucketCopies:
    """Keeps a copy of each bucket of a project in the project's plane."""

    def __init__(self, planes: ServicePlanes) -> None:
        self._planes = planes
        # From when on a bucket may be copied again, by plane and name, while the plane is engaged.
        self._next: WeakKeyDictionary[Cluster, dict[str, float]] = WeakKeyDictionary()

    async def reconcile(self, request: Request) -> Result:
        """A request names the project as its cluster, and the bucket."""
        plane, core = self._planes.projects.get(request.cluster), self._planes.core.sole()
        if _is_copied(_cached(plane, request), _of(plane, _cached(core, request))):
            return DONE
        now, times = asyncio.get_running_loop().time(), self._next.setdefault(plane, {})
        early = times.get(request.name, now) - now
        if early > 0:
            return Result(requeue_after=timedelta(seconds=early))
        times[request.name] = now + _PACE.total_seconds()  # even if it fails
        await self._copy(plane, core, request.name)
        return DONE

    async def _copy(self, plane: Cluster, core: Cluster, name: str) -> None:
        """Bring a copy up to date, by what is read live."""
        bucket = _of(plane, await live.certain(core, AllowanceBucket, name, PLATFORM))
        copy = await live.find(plane, AllowanceBucket, name, PLATFORM)
        if bucket is None:
            if copy is not None:
                await live.delete(plane.client, copy)
        elif copy is not None:
            await _update(plane, copy, bucket)
        elif await self._planes.has_project(plane.name):
            await _update(plane, await _create(plane, bucket), bucket)


def controller(planes: ServicePlanes, factory: ControllerFactory) -> Controller:
    """The controller of the copies. No pass waits for its own writes: what it writes is read live."""
    sources = [
        mapped(AllowanceBucket, planes.core, _in_its_project, awaited=False),
        mapped(AllowanceBucket, planes.projects, _itself, awaited=False),
        mapped(Namespace, planes.projects, _all_of(planes), awaited=False),
    ]
    return factory.controller("quota-bucket-copies", BucketCopies(planes), planes.projects, sources)


def _cached(cluster: Cluster, request: Request) -> AllowanceBucket | None:
    return cluster.informers.of(AllowanceBucket).cache.get(PLATFORM, request.name)


def _of(plane: Cluster, bucket: AllowanceBucket | None) -> AllowanceBucket | None:
    """The bucket, if it is of the project of this plane and says anything yet."""
    if bucket is None or bucket.status.last_reconciliation is None:
        return None
    return bucket if bucket.spec.consumer_ref.name == plane.name else None


def _is_copied(copy: AllowanceBucket | None, bucket: AllowanceBucket | None) -> bool:
    if copy is None or bucket is None:
        return copy is bucket
    return copy == _with_content(copy, bucket)


def _with_content(copy: AllowanceBucket, bucket: AllowanceBucket) -> AllowanceBucket:
    """The copy, with all that it should have of the bucket."""
    metadata = msgspec.structs.replace(copy.metadata, labels=bucket.metadata.labels)
    status = msgspec.structs.replace(bucket.status, observed_generation=copy.metadata.generation)
    return msgspec.structs.replace(copy, metadata=metadata, spec=bucket.spec, status=status)


async def _create(plane: Cluster, bucket: AllowanceBucket) -> AllowanceBucket:
    await live.create(plane.client, Namespace(metadata=ObjectMeta(name=PLATFORM)))
    metadata = ObjectMeta(
        name=bucket.metadata.name, namespace=PLATFORM, labels=bucket.metadata.labels
    )
    return await plane.client.create(AllowanceBucket(metadata=metadata, spec=bucket.spec))


async def _update(plane: Cluster, copy: AllowanceBucket, bucket: AllowanceBucket) -> None:
    copy = await plane.client.patch(copy, _with_content(copy, bucket))
    await plane.client.patch_status(copy, _with_content(copy, bucket))


def _in_its_project(_: ClusterName, bucket: AllowanceBucket) -> Iterable[Request]:
    if bucket.metadata.namespace == PLATFORM:
        yield Request(ClusterName(bucket.spec.consumer_ref.name), PLATFORM, bucket.metadata.name)


def _itself(project: ClusterName, copy: AllowanceBucket) -> Iterable[Request]:
    if copy.metadata.namespace == PLATFORM:
        yield Request(project, PLATFORM, copy.metadata.name)


def _all_of(planes: ServicePlanes) -> Callable[[ClusterName, Object], Iterable[Request]]:
    """All buckets of a plane that is engaged. One of its namespaces is enough."""

    def to(project: ClusterName, namespace: Object) -> Iterable[Request]:
        if namespace.metadata.name == "default":
            for core in planes.core:
                for bucket in lookups.buckets_of(core, project):
                    yield from _in_its_project(project, bucket)

    return to
