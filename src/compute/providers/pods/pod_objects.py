"""The Pod, the Service and the NetworkPolicy of one Instance: reads, creations and deletions.

Caches may have only the objects with our label, so an object that a cache lacks may still exist. It is
found when its creation fails; before something is considered gone, it is read live.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from compute.api import names
from compute.api.compute import Instance
from compute.decide.pods.pod_ownership import Holder, PodObject, holder
from compute.decide.pods.pod_plan import PodPlan
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.pods import Pod, Service
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster

P = TypeVar("P", Pod, Service, NetworkPolicy)


@dataclass(frozen=True, slots=True)
class PodObjects:
    """The objects that have the names of the Instance, its own or those of others."""

    pod: Pod | None
    service: Service | None
    policy: NetworkPolicy | None

    def __iter__(self) -> Iterator[PodObject]:
        return (obj for obj in (self.policy, self.service, self.pod) if obj is not None)

    def lacks(self, plan: PodPlan) -> bool:
        """Whether something of a plan does not exist."""
        planned = (plan.pod, plan.service, plan.policy)
        present = (self.pod, self.service, self.policy)
        return any(new and not old for new, old in zip(planned, present, strict=True))

    def wanted(self, plan: PodPlan) -> "PodObjects":
        """Those that a plan has too: others of the same names are not in the way."""
        return PodObjects(
            self.pod,
            self.service if plan.service is not None else None,
            self.policy if plan.policy is not None else None,
        )


def cached(cell: Cluster, instance: Instance) -> PodObjects:
    """The objects that the caches have."""
    space, name = instance.metadata.namespace, instance.metadata.name
    return PodObjects(
        cell.informers.of(Pod).cache.get(space, name),
        cell.informers.of(Service).cache.get(space, names.service(name)),
        cell.informers.of(NetworkPolicy).cache.get(space, name),
    )


async def created(
    cell: Cluster, instance: Instance, present: PodObjects, plan: PodPlan
) -> PodObjects:
    """The objects, once what was missing has been created.

    The Pod comes last, and only if the others are the Instance's: it must not run with less protection
    than it asks for.
    """
    policy = await _ensured(cell, present.policy, plan.policy)
    service = await _ensured(cell, present.service, plan.service)
    beside = ((plan.policy, policy), (plan.service, service))
    pod = present.pod
    if all(new is None or (obj and _is_own(obj, instance)) for new, obj in beside):
        pod = await _ensured(cell, pod, plan.pod)
    return PodObjects(pod, service, policy)


async def remaining(cell: Cluster, instance: Instance) -> list[PodObject]:
    """The objects of the Instance that are not gone yet."""
    name, known = instance.metadata.name, cached(cell, instance)
    found = (
        await _remaining(cell, instance, Service, known.service, names.service(name)),
        await _remaining(cell, instance, Pod, known.pod, name),
        await _remaining(cell, instance, NetworkPolicy, known.policy, name),
    )
    return [obj for obj in found if obj is not None]


async def _ensured(cell: Cluster, present: P | None, fresh: P | None) -> P | None:
    """The object that is there, or else a new one; it is read live if the name is taken."""
    if present is not None or fresh is None:
        return present
    made = await live.create(cell.client, fresh)
    meta = fresh.metadata
    return made or await cell.client.find(type(fresh), meta.name, meta.namespace)


async def _remaining(
    cell: Cluster, instance: Instance, kind: type[P], known: P | None, name: str
) -> P | None:
    present = known or await live.certain(cell, kind, name, instance.metadata.namespace)
    return present if present is not None and _is_own(present, instance) else None


def _is_own(obj: PodObject, instance: Instance) -> bool:
    return holder(obj, instance) is Holder.INSTANCE
