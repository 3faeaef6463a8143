"""Claims that were denied, and are queued in a service that evaluates them again."""

from datetime import timedelta

import pytest

from compute.api import gates
from compute.api.quota import RequestAllocation
from compute.api.reasons import Reason
from compute.decide.quota import INSTANCES, VCPUS, DeleteClaim, Keep, judge
from tests.support.compute.builders import NOW, instance
from tests.support.compute.quota_builders import found, stored

TAKE_BACK = DeleteClaim(uid="uid-claim", resource_version="7")
WAITS = instance(gates=(gates.QUOTA,), creation_timestamp=NOW - timedelta(hours=1))


@pytest.mark.parametrize(
    ("states", "action"),
    [(("Pending", "Pending"), Keep()), (("Pending", "Denied"), TAKE_BACK), ((), TAKE_BACK)],
    ids=["in the line", "finally denied", "nothing said"],
)
def test_a_claim_that_is_still_in_the_line_keeps_its_place(states, action):
    """A service that asks it again needs no new claim: that would be the youngest of all."""
    parts = tuple(
        RequestAllocation(
            resource_type=kind,
            status=state,
            reason=Reason.QUOTA_EXCEEDED,
            last_transition_time=NOW,
        )
        for kind, state in zip((INSTANCES, VCPUS), states, strict=False)
    )
    claim = stored("False", Reason.QUOTA_EXCEEDED, made=NOW - timedelta(hours=1), allocations=parts)

    assert judge(WAITS, found(claim), NOW).action == action
