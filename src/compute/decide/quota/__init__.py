"""Quota: what an Instance costs, how it is claimed, and what the answer means.

`size` is the cost, `claim` requests it, `judge` evaluates the answer, `release` returns it, and
`leaked` finds claims that were not returned.
"""

from compute.decide.quota.claims import (
    INSTANCES,
    MEMORY,
    VCPUS,
    ClaimAbsent,
    ClaimConflict,
    ClaimFound,
    ClaimLookup,
    ClaimLookupFailed,
    FailureReason,
    QuotaDisabled,
    asks_alike,
    claim,
    outlived,
    refusal,
    requests,
)
from compute.decide.quota.releases import (
    Hold,
    ReleaseClaim,
    ReleaseStep,
    RemoveFinalizer,
    holders,
    leaked,
    release,
    released,
    slot_stays,
)
from compute.decide.quota.sizes import INSTANCE_TYPES, Size, size
from compute.decide.quota.verdicts import (
    Action,
    CreateClaim,
    DeleteClaim,
    Keep,
    QuotaVerdict,
    gate_opens,
    judge,
    requeue_after,
)

__all__ = [
    "INSTANCES",
    "INSTANCE_TYPES",
    "MEMORY",
    "VCPUS",
    "Action",
    "ClaimAbsent",
    "ClaimConflict",
    "ClaimFound",
    "ClaimLookup",
    "ClaimLookupFailed",
    "CreateClaim",
    "DeleteClaim",
    "FailureReason",
    "Hold",
    "Keep",
    "QuotaDisabled",
    "QuotaVerdict",
    "ReleaseClaim",
    "ReleaseStep",
    "RemoveFinalizer",
    "Size",
    "asks_alike",
    "claim",
    "gate_opens",
    "holders",
    "judge",
    "leaked",
    "outlived",
    "refusal",
    "release",
    "released",
    "requests",
    "requeue_after",
    "size",
    "slot_stays",
]
