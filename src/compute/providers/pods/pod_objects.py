"""The Pod and the Service of one Instance in its cell: reads, creations and deletions.

Caches may have only the objects with our label, so an object that a cache lacks may still exist. It is
found when its creation fails; before something is considered gone, it is read live.
"""

from dataclasses import dataclass
from typing import TypeVar

from compute.api import names
from compute.api.compute import Instance
from compute.decide.pods.pod_ownership import Holder, holder
from compute.decide.pods.pod_plan import PodPlan
from kubekit.api.kinds.pods import Pod, Service
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster

P = TypeVar("P", Pod, Service)


@dataclass(frozen=True, slots=True)
class PodObjects:
    """The objects that have the names of the Instance, its own or those of others."""

    pod: Pod | None
    service: Service | None

    def lacks(self, plan: PodPlan) -> bool:
        """Whether something of a plan does not exist."""
        return self.pod is None or (plan.service is not None and self.service is None)


def cached(cell: Cluster, instance: Instance) -> PodObjects:
    """The objects that the caches have."""
    meta = instance.metadata
    pods, services = cell.informers.of(Pod).cache, cell.informers.of(Service).cache
    return PodObjects(
        pods.get(meta.namespace, meta.name),
        services.get(meta.namespace, names.service(meta.name)),
    )


async def created(cell: Cluster, present: PodObjects, plan: PodPlan) -> PodObjects:
    """The objects, once what was missing has been created. The name comes first, then the Pod."""
    service = present.service
    if plan.service is not None:
        service = service or await _created(cell, plan.service)
    return PodObjects(present.pod or await _created(cell, plan.pod), service)


async def remaining(cell: Cluster, instance: Instance) -> list[Pod | Service]:
    """The objects of the Instance that are not gone yet."""
    meta, present = instance.metadata, cached(cell, instance)
    pod = await _remaining(cell, instance, Pod, present.pod, meta.name)
    service = await _remaining(cell, instance, Service, present.service, names.service(meta.name))
    return [obj for obj in (service, pod) if obj is not None]


async def _created(cell: Cluster, fresh: P) -> P | None:
    """The object of this name, created if there is none."""
    made = await live.create(cell.client, fresh)
    meta = fresh.metadata
    return made or await cell.client.find(type(fresh), meta.name, meta.namespace)


async def _remaining(
    cell: Cluster, instance: Instance, kind: type[P], known: P | None, name: str
) -> P | None:
    present = known or await live.certain(cell, kind, name, instance.metadata.namespace)
    is_own = present is not None and holder(present, instance) is Holder.INSTANCE
    return present if is_own else None
