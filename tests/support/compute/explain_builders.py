"""The objects that an Instance may wait for: a quota claim, a network's binding."""

from compute.api.instance_spec import LocationRef, NetworkRef
from compute.api.networking import NetworkBinding, NetworkBindingSpec, NetworkBindingStatus
from compute.api.quota import (
    RequestAllocation,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceRequest,
)
from kubekit.api.meta import Condition, ConditionStatus, ObjectMeta
from tests.support.compute.builders import NOW, condition


def quota(
    reason: str = "QuotaExceeded", message: str = "", status: ConditionStatus = "False"
) -> Condition:
    return condition("QuotaGranted", status, reason, message, since=NOW)


def claim(*allocations: RequestAllocation) -> ResourceClaim:
    """The claim of an Instance of the smallest type, with its answers."""
    asked_for = {"instances": 1, "vcpus": 1000, "memory": 2048}
    return ResourceClaim(
        metadata=ObjectMeta(name="instance-web-home-dfw-0"),
        spec=ResourceClaimSpec(
            requests=tuple(
                ResourceRequest(resource_type=f"compute.datumapis.com/{name}", amount=amount)
                for name, amount in asked_for.items()
            )
        ),
        status=ResourceClaimStatus(allocations=allocations),
    )


def answer(resource: str, status: str, reason: str = "", message: str = "") -> RequestAllocation:
    return RequestAllocation(
        resource_type=f"compute.datumapis.com/{resource}",
        status=status,
        reason=reason,
        message=message,
        last_transition_time=NOW,
    )


def binding(reason: str, message: str = "", status: ConditionStatus = "False") -> NetworkBinding:
    return NetworkBinding(
        metadata=ObjectMeta(name="web-home-dfw-net-0"),
        spec=NetworkBindingSpec(
            location=LocationRef(name="dfw-1"), network=NetworkRef(name="default")
        ),
        status=NetworkBindingStatus(
            conditions=(condition("Ready", status, reason, message, since=NOW),)
        ),
    )
