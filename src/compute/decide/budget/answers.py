"""The status of a claim: the answer to each request and to the whole.

A denied claim reports the numbers at the time of the denial. It is not written again until the
answer changes.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec

from compute.api import names
from compute.api.conditions import NeighbourCondition
from compute.api.quota import RequestAllocation, ResourceClaim, ResourceClaimStatus, ResourceRequest
from compute.api.reasons import Reason
from compute.decide.budget.claim_queues import CONSUMER
from compute.decide.conditions import put
from compute.decide.quota import shortages
from compute.decide.ranking import Candidate
from kubekit.api.fields import FieldError

_ALL_OR_NOTHING: Final = "It is available, but is granted only together with the other requests"


def granted(claim: ResourceClaim, project: str, now: datetime) -> ResourceClaimStatus:
    """The status of a claim whose requests are all granted."""
    allocations = [
        msgspec.structs.replace(
            _answer(request, now, "Granted", Reason.QUOTA_AVAILABLE),
            allocated_amount=request.amount,
            allocating_bucket=names.bucket(request.resource_type, CONSUMER, project),
        )
        for request in claim.spec.requests
    ]
    granted = Candidate("", Reason.QUOTA_AVAILABLE, "All requested quota is reserved", "True")
    return _status(claim, allocations, granted, now)


def denied(
    claim: ResourceClaim, limit: Mapping[str, int], remaining: Mapping[str, int], now: datetime
) -> ResourceClaimStatus:
    """The status of a claim that does not fit the budget. It is evaluated again when there is more.

    So none of its requests is Denied, which would be final: the claim need not be created again, and
    keeps its position in the queue.
    """
    allocations, lacking = [], []
    for request in claim.spec.requests:
        kind = request.resource_type
        if request.amount <= remaining.get(kind, 0):
            allocations.append(
                _answer(request, now, "Pending", Reason.PENDING_EVALUATION, _ALL_OR_NOTHING)
            )
            continue
        line = shortages.line_with_rest(request, remaining.get(kind, 0), limit.get(kind, 0))
        lacking.append(line)
        allocations.append(_answer(request, now, "Pending", Reason.QUOTA_EXCEEDED, line))
    message = shortages.sentence(lacking)
    return _status(claim, allocations, Candidate("", Reason.QUOTA_EXCEEDED, message), now)


def refused(
    claim: ResourceClaim, faults: Iterable[FieldError], now: datetime
) -> ResourceClaimStatus:
    """The status of a claim that could never be granted as it is."""
    message = "; ".join(map(str, faults))
    allocations = [
        _answer(request, now, "Denied", Reason.VALIDATION_FAILED, message)
        for request in claim.spec.requests
    ]
    return _status(claim, allocations, Candidate("", Reason.VALIDATION_FAILED, message), now)


def reopened(claim: ResourceClaim, now: datetime) -> ResourceClaimStatus:
    """The status of a claim that is evaluated again: the rules that refused it have changed."""
    message = "The rules have changed; waiting for another evaluation"
    return _status(claim, (), Candidate("", Reason.PENDING_EVALUATION, message), now)


def _answer(
    request: ResourceRequest, now: datetime, status: str, reason: Reason, message: str = ""
) -> RequestAllocation:
    return RequestAllocation(
        resource_type=request.resource_type,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=now.replace(microsecond=0),
    )


def _status(
    claim: ResourceClaim,
    allocations: Iterable[RequestAllocation],
    candidate: Candidate,
    now: datetime,
) -> ResourceClaimStatus:
    generation = claim.metadata.generation
    condition = candidate.condition(NeighbourCondition.GRANTED, generation, now)
    # A type that is requested twice is answered once: the list is a map by type.
    by_type = {each.resource_type: each for each in allocations}
    return msgspec.structs.replace(
        claim.status,
        allocations=tuple(by_type.values()),
        conditions=put(claim.status.conditions, [condition], now),
        observed_generation=generation,
    )
