"""Quota: what an Instance costs, how it is asked for, and what the answer means.

`size` tells the cost, `claim` asks for it, `judge` reads the answer, `release` gives it back, and
`leaked` finds what nobody gave back.
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
    Ending,
    Hold,
    LetGo,
    Release,
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
    "Ending",
    "FailureReason",
    "Hold",
    "Keep",
    "LetGo",
    "QuotaDisabled",
    "QuotaVerdict",
    "Release",
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
