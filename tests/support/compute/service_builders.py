"""A stage with the planes of the services, and the objects that users and operators create there."""

from typing import Any

from compute.api import labels, names, resource_manager
from compute.api.compute import Instance
from compute.api.karmada import ClusterSpec, MemberCluster as Member
from compute.api.quota import (
    Allowance,
    GrantBucket,
    ObjectRef,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceGrant,
    ResourceGrantSpec,
    ResourceRequest,
)
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.decide import quota
from compute.services.planes import ServicePlanes
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.kubekit.stage import Stage

CORE = "milo-system"
PLANES = (("core", "core"), ("hub", "hub"), ("projects", "shop"), ("cells", "cell-dfw"))


def planes(stage: Stage) -> ServicePlanes:
    return ServicePlanes(
        core=stage.role("core"),
        hub=stage.role("hub"),
        projects=stage.role("projects"),
        cells=stage.role("cells"),
    )


def project(name: str = "shop") -> Project:
    owner = ProjectOwnerRef(kind="Organization", name="acme")
    return Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))


def namespace(name: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name))


def member(name: str = "cell-dfw", city: str = "DFW", **spec: Any) -> Member:
    found = {labels.TOPOLOGY_CITY_CODE: city} if city else {}
    return Member(
        metadata=ObjectMeta(name=name, labels=found), spec=ClusterSpec(sync_mode="Push", **spec)
    )


def consumer(name: str = "shop") -> ObjectRef:
    return ObjectRef(api_group=resource_manager.GROUP, kind="Project", name=name)


def grant(name: str, amounts: dict[str, int], of: str = "shop") -> ResourceGrant:
    allowances = tuple(
        Allowance(resource_type=kind, buckets=(GrantBucket(amount=amount),))
        for kind, amount in amounts.items()
    )
    return ResourceGrant(
        metadata=ObjectMeta(name=name, namespace=CORE),
        spec=ResourceGrantSpec(consumer_ref=consumer(of), allowances=allowances),
    )


def claim(number: int = 0, *, cell: str = "cell-dfw", **amounts: int) -> ResourceClaim:
    """A claim of shop for an Instance: one of them, and ``vcpus`` and ``memory`` as given."""
    instance = f"web-home-dfw-{number}"
    asked = {quota.INSTANCES: 1} | {
        f"compute.datumapis.com/{kind}": amount for kind, amount in amounts.items()
    }
    reference = ObjectRef(
        api_group=Instance.RESOURCE.group, kind="Instance", name=instance, namespace="ns-1"
    )
    return ResourceClaim(
        metadata=ObjectMeta(
            name=names.claim(instance),
            namespace="default",
            labels={labels.SOURCE_CLUSTER: cell} if cell else {},
        ),
        spec=ResourceClaimSpec(
            consumer_ref=consumer(),
            requests=tuple(
                ResourceRequest(resource_type=kind, amount=amount) for kind, amount in asked.items()
            ),
            resource_ref=reference,
        ),
    )
