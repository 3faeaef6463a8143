"""Claims and their instances, for tests about quota."""

from datetime import datetime
from typing import Any

import msgspec

from compute.api import gates, quota as api
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.quota import NEW_RESOURCE_CLAIM_STATUS, ResourceClaim, ResourceClaimStatus
from compute.api.reasons import Reason
from compute.decide.quota import ClaimFound, claim
from kubekit.api.meta import ConditionStatus
from tests.support.compute.builders import NOW, condition, instance

CELL = "cell-dfw"


def wanted(of: Instance | None = None, cell: str = CELL) -> ResourceClaim:
    """The claim that the cell would create now."""
    return claim(of or instance(), project="shop", claim_namespace="default", source_cluster=cell)


def stored(
    granted: ConditionStatus | None = "True",
    reason: str = Reason.QUOTA_AVAILABLE,
    *,
    message: str = "",
    made: datetime | None = NOW,
    amounts: dict[str, int] | None = None,
    cell: str = CELL,
    allocations: tuple[api.RequestAllocation, ...] = (),
    **meta: Any,
) -> ResourceClaim:
    """A claim with its answer. ``granted=None``: it is not answered yet."""
    new = wanted(cell=cell)
    metadata = msgspec.structs.replace(
        new.metadata, uid="uid-claim", resource_version="7", creation_timestamp=made, **meta
    )
    said = (condition("Granted", granted, reason, message),) if granted else ()
    spec = new.spec
    if amounts is not None:
        requests = tuple(
            api.ResourceRequest(resource_type=kind, amount=amount)
            for kind, amount in amounts.items()
        )
        spec = msgspec.structs.replace(spec, requests=requests)
    return msgspec.structs.replace(
        new,
        metadata=metadata,
        spec=spec,
        status=ResourceClaimStatus(conditions=said, allocations=allocations),
    )


def new_claim(made: datetime = NOW) -> ResourceClaim:
    """A claim as it is right after its creation."""
    return msgspec.structs.replace(stored(made=made), status=NEW_RESOURCE_CLAIM_STATUS)


def found(claim: ResourceClaim, cell: str = CELL) -> ClaimFound:
    return ClaimFound(claim, wanted(cell=cell))


def gated(reason: str = "", status: ConditionStatus = "Unknown", message: str = "") -> Instance:
    """An Instance that waits for quota, with this condition."""
    said = (condition(ConditionType.QUOTA_GRANTED, status, reason, message),) if reason else ()
    return instance(conditions=said, gates=(gates.NETWORK, gates.QUOTA))


def running(message: str = "") -> Instance:
    """An Instance with granted quota and open gates."""
    return instance(
        conditions=(
            condition(ConditionType.QUOTA_GRANTED, "True", Reason.QUOTA_AVAILABLE, message),
        )
    )
