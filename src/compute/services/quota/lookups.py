"""Names, labels and lookups of the objects of quota."""

from collections.abc import Iterable
from typing import Final

from compute.api.quota import AllowanceBucket, ResourceGrant
from compute.api.resource_manager import Project
from compute.services.planes import PLATFORM
from kubekit.api.meta import ObjectMeta, OwnerReference
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.watching.informer import Informer

CONSUMER_KIND: Final = "quota.miloapis.com/consumer-kind"  # labels of objects that a project owns
CONSUMER_NAME: Final = "quota.miloapis.com/consumer-name"

_BY_CONSUMER: Final = "consumer"


def ledger_name(project: str) -> str:
    """The ConfigMap that holds the reservations of a project's budget."""
    return f"quota-ledger.{project}"


def grants_of(core: Cluster, project: str) -> list[ResourceGrant]:
    """The grants of a project, active or not."""
    return _grants(core).cache.by(_BY_CONSUMER, project)


def buckets_of(core: Cluster, project: str) -> list[AllowanceBucket]:
    """The buckets of a project, in the core plane."""
    cache = core.informers.of(AllowanceBucket).cache
    cache.add_index(_BY_CONSUMER, lambda bucket: (bucket.spec.consumer_ref.name,))
    return cache.by(_BY_CONSUMER, project)


def belonging(project: Project, name: str) -> ObjectMeta:
    """The metadata of an object in the core plane that its project owns."""
    return ObjectMeta(
        name=name,
        namespace=PLATFORM,
        labels={CONSUMER_KIND: Project.RESOURCE.kind, CONSUMER_NAME: project.metadata.name},
        owner_references=(_owner(project),),
    )


def _owner(project: Project) -> OwnerReference:
    return project.reference(controller=True)


def _grants(core: Cluster) -> Informer[ResourceGrant]:
    informer = core.informers.of(ResourceGrant)
    informer.cache.add_index(_BY_CONSUMER, _consumers)
    return informer


def _consumers(grant: ResourceGrant) -> Iterable[str]:
    return (grant.spec.consumer_ref.name,)
