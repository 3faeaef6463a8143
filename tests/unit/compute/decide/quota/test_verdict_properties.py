"""Laws that hold for every Instance, claim and time."""

from datetime import timedelta
from typing import get_args

from hypothesis import given, strategies as st

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide import conditions
from compute.decide.quota import (
    INSTANCES,
    ClaimAbsent,
    ClaimConflict,
    ClaimFound,
    ClaimLookupFailed,
    DeleteClaim,
    FailureReason,
    QuotaDisabled,
    judge,
    requests_same_quota,
    requeue_after,
)
from kubekit.api.meta import ConditionStatus
from tests.support.compute.builders import NOW, condition, instance
from tests.support.compute.quota_builders import CELL, found, stored

SECONDS = st.integers(-10, 100_000).map(lambda s: timedelta(seconds=s))
STATUSES = st.sampled_from(["True", "False", "Unknown"])
REASONS = st.sampled_from([r for r in Reason if r.value.startswith(("Quota", "Pending", "Valid"))])
FAILURES = st.sampled_from(get_args(FailureReason)).map(
    lambda reason: ClaimLookupFailed(reason, "reported")
)
FOUND = st.builds(
    lambda status, reason, age, amounts, cell, going: found(
        stored(
            status,
            reason,
            made=NOW - age,
            amounts=amounts,
            cell=cell,
            deletion_timestamp=NOW if going else None,
        )
    ),
    st.none() | STATUSES,
    REASONS,
    SECONDS,
    st.sampled_from([None, {INSTANCES: 1}]),
    st.sampled_from([CELL, "cell-lhr"]),
    st.booleans(),
)
SILENCE = FAILURES | st.sampled_from([ClaimAbsent(), ClaimConflict()])
OUTCOMES = SILENCE | FOUND | st.just(QuotaDisabled())


def aged_instance(
    status: ConditionStatus | None, reason: Reason, age: timedelta, closed: tuple[str, ...]
) -> Instance:
    return reported_instance(status, reason, age, closed, generation=0)


def reported_instance(
    status: ConditionStatus | None,
    reason: Reason,
    age: timedelta,
    closed: tuple[str, ...],
    generation: int,
) -> Instance:
    """An Instance of the first generation, and what was said of it in which."""
    quota = ConditionType.QUOTA_GRANTED
    said = (condition(quota, status, reason, generation=generation),) if status else ()
    return instance(conditions=said, gates=closed, creation_timestamp=NOW - age)


OPEN = [(), (gates.NETWORK,)]
CLOSED = [(gates.QUOTA,), (gates.NETWORK, gates.QUOTA)]
INSTANCES_OF_ALL_SORTS = st.builds(
    reported_instance,
    st.none() | STATUSES,
    REASONS,
    SECONDS,
    st.sampled_from(OPEN + CLOSED),
    st.sampled_from([0, 1]),
)
LET_THROUGH = st.builds(
    aged_instance,
    st.sampled_from([None, "Unknown", "True"]),
    REASONS,
    SECONDS,
    st.sampled_from(OPEN),
)


def was_let_through(of: Instance) -> bool:
    assert of.spec.controller
    closed = {gate.name for gate in of.spec.controller.scheduling_gates}
    reported = conditions.find(of.status.conditions, ConditionType.QUOTA_GRANTED)
    if reported is None or (reported.status == "Unknown" and reported.observed_generation == 0):
        return gates.QUOTA not in closed
    return gates.QUOTA not in closed and reported.status == "True"


def grants(outcome: object) -> bool:
    return isinstance(outcome, QuotaDisabled) or (
        isinstance(outcome, ClaimFound)
        and not outcome.claim.deleting
        and requests_same_quota(outcome.claim, outcome.wanted)
        and conditions.is_true(outcome.claim.status.conditions, "Granted")
    )


@given(INSTANCES_OF_ALL_SORTS, OUTCOMES)
def test_only_a_live_claim_of_the_right_size_grants(of, outcome):
    """An Instance that was not let through is granted by its own live claim, or not at all."""
    got = judge(of, outcome, NOW).condition

    if not was_let_through(of):
        assert (got.status == "True") == grants(outcome)
    assert got.observed_generation == of.metadata.generation


@given(LET_THROUGH, SILENCE)
def test_w13_silence_never_takes_a_grant_back(of, outcome):
    """Whatever fails, an Instance that runs on a grant keeps reporting it."""
    assert judge(of, outcome, NOW).condition.status == "True"


@given(LET_THROUGH, FOUND)
def test_w13_only_its_own_claim_takes_a_grant_back(of, outcome):
    """What runs on a grant loses it by a denial of its own live claim, and by nothing else."""
    claim = outcome.claim
    answer = conditions.find(claim.status.conditions, "Granted")
    denied = answer and answer.status == "False" and answer.reason != Reason.PENDING_EVALUATION
    its_own = not claim.deleting and requests_same_quota(claim, outcome.wanted)

    assert (judge(of, outcome, NOW).condition.status == "False") == bool(denied and its_own)


@given(INSTANCES_OF_ALL_SORTS, OUTCOMES)
def test_a_verdict_comes_to_rest(of, outcome):
    """Written down and judged again, a verdict says the same and warns of nothing new."""
    first = judge(of, outcome, NOW)
    reported = conditions.put(of.status.conditions, (first.condition,), NOW)
    closed = [gate.name for gate in of.spec.controller.scheduling_gates]
    again = judge(
        instance(
            conditions=reported,
            gates=tuple(closed),
            creation_timestamp=of.metadata.creation_timestamp,
        ),
        outcome,
        NOW,
    )

    assert conditions.put(reported, (again.condition,), NOW) == reported
    assert again.action == first.action
    assert again.event is None


@given(INSTANCES_OF_ALL_SORTS, OUTCOMES)
def test_what_is_not_settled_is_requeued(of, outcome):
    """Nothing waits for an event alone, and no claim is deleted but the one that was read."""
    got = judge(of, outcome, NOW)

    assert got.requeue_after is not None or got.condition.status == "True"
    if isinstance(got.action, DeleteClaim):
        assert isinstance(outcome, ClaimFound)
        assert got.action.uid == outcome.claim.metadata.uid
        assert not outcome.claim.deleting


@given(SECONDS, SECONDS)
def test_the_safety_net_never_narrows(one, other):
    """The older the Instance, the longer the pause, however often it was reconciled."""
    young, old = sorted((one, other))

    assert requeue_after(NOW - young, NOW) <= requeue_after(NOW - old, NOW)
