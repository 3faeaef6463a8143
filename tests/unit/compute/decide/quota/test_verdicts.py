"""What the answer to its claim means for an Instance."""

from datetime import datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from compute.api import gates
from compute.api.compute import NEW_INSTANCE_STATUS
from compute.api.conditions import ConditionType
from compute.api.quota import RequestAllocation
from compute.api.reasons import Reason
from compute.decide.quota import (
    INSTANCES,
    ClaimAbsent,
    ClaimConflict,
    ClaimLookupFailed,
    CreateClaim,
    DeleteClaim,
    Keep,
    QuotaDisabled,
    QuotaVerdict,
    gate_opens,
    judge,
    requeue_after,
)
from tests.support.compute.builders import NOW, condition, instance
from tests.support.compute.quota_builders import found, gated, new_claim, running, stored

SECOND = timedelta(seconds=1)
TAKE_BACK = DeleteClaim(uid="uid-claim", resource_version="7")
OUTAGE = ClaimLookupFailed(Reason.QUOTA_BACKEND_UNAVAILABLE, "The quota service does not answer")


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def said(verdict: QuotaVerdict) -> tuple[str, str]:
    return verdict.condition.status, verdict.condition.reason


@pytest.mark.parametrize(
    ("outcome", "expected", "action"),
    [
        pytest.param(QuotaDisabled(), ("True", Reason.QUOTA_DISABLED), Keep(), id="disabled"),
        pytest.param(
            ClaimAbsent(), ("Unknown", Reason.PENDING_EVALUATION), CreateClaim(), id="absent"
        ),
        pytest.param(OUTAGE, ("False", Reason.QUOTA_BACKEND_UNAVAILABLE), Keep(), id="failed"),
        pytest.param(ClaimConflict(), ("Unknown", Reason.PENDING_EVALUATION), Keep(), id="raced"),
        pytest.param(found(stored()), ("True", Reason.QUOTA_AVAILABLE), Keep(), id="granted"),
        pytest.param(
            found(stored(None)), ("Unknown", Reason.PENDING_EVALUATION), Keep(), id="says nothing"
        ),
        pytest.param(
            found(stored("Unknown", "Odd")),
            ("Unknown", Reason.PENDING_EVALUATION),
            Keep(),
            id="does not know",
        ),
        pytest.param(
            found(stored("False", Reason.QUOTA_EXCEEDED)),
            ("False", Reason.QUOTA_EXCEEDED),
            Keep(),
            id="denied",
        ),
        pytest.param(
            found(stored("False", "SomethingElse")),
            ("False", Reason.QUOTA_EXCEEDED),
            Keep(),
            id="denied with an unknown reason",
        ),
        pytest.param(
            found(stored("False", Reason.VALIDATION_FAILED)),
            ("False", Reason.VALIDATION_FAILED),
            Keep(),
            id="invalid",
        ),
    ],
)
def test_every_outcome_has_a_verdict(outcome, expected, action):
    """Looking for the claim of a waiting Instance has one of these consequences."""
    got = judge(gated(), outcome, NOW)

    assert said(got) == expected
    assert got.action == action


def test_a_verdict_is_about_the_present_generation():
    """The condition has the generation, the quota service's message, and this second."""
    claim = stored(message="3 of 10 in use")
    got = judge(gated(), found(claim), NOW)

    assert got == QuotaVerdict(
        condition(
            ConditionType.QUOTA_GRANTED,
            "True",
            Reason.QUOTA_AVAILABLE,
            "3 of 10 in use",
            since=NOW,
            generation=1,
        )
    )


def test_w15_a_new_claim_waits_for_its_evaluation():
    """A claim is "not granted" before its first evaluation; that is no lack of budget."""
    got = judge(gated(), found(new_claim()), later(59))

    assert said(got) == ("Unknown", Reason.PENDING_EVALUATION)
    assert got.event is None


def test_w15_a_claim_left_open_for_a_minute_waits_for_budget():
    """The quota service answers within seconds unless there is nothing to give."""
    got = judge(gated(), found(new_claim()), later(60))

    assert said(got) == ("Unknown", Reason.QUOTA_NO_BUDGET)
    assert got.condition.message.startswith("Not enough quota: instances: 1 asked for; ")
    assert got.event == Reason.QUOTA_NO_BUDGET
    assert got.action == Keep()


def test_a_lack_of_budget_is_reported_with_the_numbers_of_the_service():
    """What the quota service says of each amount is part of the sentence."""
    lacking = RequestAllocation(
        resource_type="compute.datumapis.com/instances",
        status="Pending",
        last_transition_time=NOW,
        reason=Reason.QUOTA_EXCEEDED,
        message="instances: 1 asked for, 0 of 4 left",
    )
    claim = new_claim()
    claim = replace(claim, status=replace(claim.status, allocations=(lacking,)))

    assert judge(gated(), found(claim), NOW).condition.message == (
        "Not enough quota: instances: 1 asked for, 0 of 4 left. "
        "Scale down, delete something, or ask for more quota"
    )


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        pytest.param("Pending", Reason.QUOTA_EXCEEDED, Reason.QUOTA_NO_BUDGET, id="short"),
        pytest.param("Pending", "Queued", Reason.PENDING_EVALUATION, id="in the queue"),
        pytest.param("Granted", Reason.QUOTA_EXCEEDED, Reason.PENDING_EVALUATION, id="odd"),
    ],
)
def test_an_allocation_that_lacks_budget_says_so_at_once(status, reason, expected):
    """Where the service reports that a part lacks budget, it is reported before the minute is over."""
    part = RequestAllocation(
        resource_type=INSTANCES, status=status, reason=reason, last_transition_time=NOW
    )
    claim = stored("False", Reason.PENDING_EVALUATION, allocations=(part,))

    assert said(judge(gated(), found(claim), NOW)) == ("Unknown", expected)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (OUTAGE, OUTAGE.reason),
        (found(stored("False", Reason.QUOTA_EXCEEDED)), Reason.QUOTA_EXCEEDED),
        (found(new_claim(later(-60))), Reason.QUOTA_NO_BUDGET),
    ],
)
def test_w15_a_warning_is_given_once(outcome, expected):
    """What the Instance already says is not announced again on every pass."""
    first = judge(gated(), outcome, NOW)
    then = instance(conditions=(first.condition,), gates=(gates.QUOTA,))

    assert first.event == expected
    assert judge(then, outcome, NOW).event is None


def test_w15_the_same_denial_with_another_message_causes_no_event():
    """The numbers in a message change with every claim; that is no reason for another event."""
    denied = gated(Reason.QUOTA_EXCEEDED, "False", "9 of 10 in use")
    other = stored("False", Reason.QUOTA_EXCEEDED, message="10 of 10 in use")

    assert judge(denied, found(other), NOW).event is None


def test_w64_a_claim_on_its_way_out_grants_nothing():
    """A granted claim that is being deleted is waited for, and then created again."""
    going = stored(deletion_timestamp=NOW)
    got = judge(gated(), found(going), NOW)

    assert said(got) == ("Unknown", Reason.PENDING_EVALUATION)
    assert got.action == Keep()
    assert judge(gated(), ClaimAbsent(), NOW).action == CreateClaim()


def test_w49_a_claim_of_another_size_is_replaced():
    """A claim left by a smaller Instance of the same name is no grant for a larger one."""
    got = judge(gated(), found(stored(amounts={INSTANCES: 1})), NOW)

    assert said(got) == ("Unknown", Reason.PENDING_EVALUATION)
    assert got.action == TAKE_BACK


@pytest.mark.parametrize("waited", [0, 3600])
def test_w17_a_claim_of_another_cell_is_never_taken(waited):
    """The cell that a deployment has left releases it with its machine, or management does."""
    got = judge(gated(), found(stored(cell="cell-lhr")), later(waited))

    assert said(got) == ("Unknown", Reason.PENDING_EVALUATION)
    assert got.action == Keep()


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param(stored(None, cell="cell-lhr"), id="open"),
        pytest.param(stored("False", Reason.QUOTA_EXCEEDED, cell="cell-lhr"), id="denied"),
    ],
)
def test_what_runs_does_not_take_the_claim_of_the_cell_it_was_moved_to(theirs):
    """A cell that was cut off keeps running, and leaves the slot's claim to the one that took over."""
    got = judge(running(), found(theirs), later(3600))

    assert said(got) == ("True", Reason.QUOTA_AVAILABLE)
    assert got.action == Keep()
    assert got.requeue_after == timedelta(seconds=300)


def test_what_runs_keeps_the_claim_it_runs_on():
    """A catalog that changes its sizes must not make running Instances ask for quota again."""
    got = judge(running(), found(stored(amounts={INSTANCES: 1})), NOW)

    assert said(got) == ("True", Reason.QUOTA_AVAILABLE)
    assert got.action == Keep()


def test_what_runs_does_not_rest_on_a_denied_claim_for_something_else():
    """A denial of another size says nothing of this Instance: the claim is replaced."""
    wrong = stored("False", Reason.QUOTA_EXCEEDED, amounts={INSTANCES: 9})
    got = judge(running(), found(wrong), NOW)

    assert said(got) == ("True", Reason.QUOTA_AVAILABLE)
    assert got.action == TAKE_BACK


def test_w65_a_recreated_instance_takes_over_its_predecessors_claim():
    """A granted claim of the same slot and size is a grant, whatever Instance it was created for."""
    old = stored(made=later(-86400))

    assert said(judge(gated(), found(old), NOW)) == ("True", Reason.QUOTA_AVAILABLE)


@pytest.mark.parametrize(
    "outcome",
    [OUTAGE, ClaimAbsent(), ClaimConflict(), found(new_claim()), found(new_claim(later(-3600)))],
)
def test_w13_a_grant_outlives_an_outage_of_the_quota_service(outcome):
    """An Instance that was granted quota and passed its gate keeps the grant until it is denied."""
    got = judge(running(), outcome, NOW)

    assert said(got) == ("True", Reason.QUOTA_AVAILABLE)
    assert got.condition.message.startswith("Granted earlier")
    assert got.requeue_after == SECOND


@pytest.mark.parametrize("conditions", [(), NEW_INSTANCE_STATUS.conditions], ids=["nothing", "new"])
def test_w13_an_open_gate_is_proof_of_a_grant_that_was_not_reported_yet(conditions):
    """The gate opens first and the grant is reported later: an outage in between revokes nothing."""
    got = judge(instance(conditions=conditions, gates=()), OUTAGE, NOW)

    assert said(got) == ("True", Reason.QUOTA_AVAILABLE)


def test_what_is_not_known_since_the_gate_opened_is_no_grant():
    """A denial was taken back, and another answer is waited for: that it runs proves nothing."""
    asked = condition(
        ConditionType.QUOTA_GRANTED, "Unknown", Reason.PENDING_EVALUATION, generation=1
    )
    got = judge(instance(conditions=(asked,), gates=()), OUTAGE, NOW)

    assert said(got) == ("False", Reason.QUOTA_BACKEND_UNAVAILABLE)


def test_an_instance_without_a_controller_block_has_passed_no_gate():
    """Without a controller's part in its spec no gate was ever opened."""
    bare = instance()
    got = judge(replace(bare, spec=replace(bare.spec, controller=None)), OUTAGE, NOW)

    assert said(got) == ("False", Reason.QUOTA_BACKEND_UNAVAILABLE)


def test_w13_a_lost_claim_of_a_running_instance_is_made_again():
    """An absent claim is created again without a change of the Instance's conditions."""
    got = judge(running(), ClaimAbsent(), NOW)

    assert got.action == CreateClaim()
    assert got.event is None


def test_w13_only_the_claim_itself_takes_a_grant_back():
    """A denial of this very claim reaches even an Instance that runs."""
    got = judge(running(), found(stored("False", Reason.QUOTA_EXCEEDED)), NOW)

    assert said(got) == ("False", Reason.QUOTA_EXCEEDED)


def test_w13_an_outage_is_announced_once_for_what_runs():
    """The event is recorded when the outage starts, and the message then stays the same."""
    first = judge(running(), OUTAGE, NOW)
    then = judge(
        running(first.condition.message), ClaimLookupFailed(OUTAGE.reason, "other words"), NOW
    )

    assert first.event == Reason.QUOTA_BACKEND_UNAVAILABLE
    assert then.event is None
    assert then.condition.message == first.condition.message


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        (0, ("Unknown", Reason.PENDING_EVALUATION)),
        (9, ("Unknown", Reason.PENDING_EVALUATION)),
        (10, ("False", Reason.QUOTA_BACKEND_UNAVAILABLE)),
    ],
)
def test_a_service_that_starts_is_no_outage(silent, expected):
    """Silence is reported once it has lasted for longer than a start takes, and not before."""
    old = instance(gates=(gates.QUOTA,), creation_timestamp=later(-7200))
    got = judge(old, ClaimLookupFailed(OUTAGE.reason, OUTAGE.message, later(-silent)), NOW)

    assert said(got) == expected
    assert (got.event is None) == (silent < 10)
    assert (got.requeue_after == SECOND) == (silent < 10)


def test_an_outage_that_was_reported_stands_after_a_restart():
    """A process that has just started knows not how long the service has been silent."""
    waiting = gated(Reason.QUOTA_BACKEND_UNAVAILABLE, "False")
    got = judge(waiting, ClaimLookupFailed(OUTAGE.reason, OUTAGE.message, NOW), NOW)

    assert said(got) == ("False", Reason.QUOTA_BACKEND_UNAVAILABLE)
    assert got.event is None


def test_only_silence_is_waited_out():
    """What the project refuses is reported at once, however long it has been refusing."""
    refused = ClaimLookupFailed(Reason.QUOTA_MISCONFIGURED, "may not claim", since=NOW)

    assert said(judge(gated(), refused, NOW)) == ("False", Reason.QUOTA_MISCONFIGURED)


def test_a_grant_that_has_not_opened_the_gate_does_not_outlive_an_outage():
    """Until the gate is open nothing runs, so nothing is harmed by waiting."""
    got = judge(gated(Reason.QUOTA_AVAILABLE, "True"), OUTAGE, NOW)

    assert said(got) == ("False", Reason.QUOTA_BACKEND_UNAVAILABLE)


def test_an_instance_without_a_deployment_gets_a_verdict_too():
    """Without a controller part there is no gate, and nothing was ever granted."""
    bare = instance()
    spec = msgspec.structs.replace(bare.spec, controller=None)

    assert said(judge(msgspec.structs.replace(bare, spec=spec), ClaimAbsent(), NOW)) == (
        "Unknown",
        Reason.PENDING_EVALUATION,
    )


@pytest.mark.parametrize(
    ("age", "claim_age", "again"),
    [
        pytest.param(59, 59, False, id="a fresh denial stands for a minute"),
        pytest.param(60, 60, True, id="after a minute"),
        pytest.param(400, 59, False, id="and again not before a minute"),
        pytest.param(599, 60, True, id="every minute at first"),
        pytest.param(700, 299, False, id="later less often"),
        pytest.param(700, 300, True, id="every five minutes"),
    ],
)
def test_a_denied_claim_is_asked_again_when_budget_may_have_freed(age, claim_age, again):
    """A denial is final in the service, so the claim is created again, but not in every pass."""
    old = instance(gates=(gates.QUOTA,), creation_timestamp=later(-age))
    denied = found(stored("False", Reason.QUOTA_EXCEEDED, made=later(-claim_age)))
    got = judge(old, denied, NOW)

    assert got.action == (TAKE_BACK if again else Keep())
    assert said(got) == ("False", Reason.QUOTA_EXCEEDED)
    assert got.requeue_after is not None


def test_a_denial_is_reported_with_the_message_of_the_service():
    """How much is in use is what a user needs to know; without a message, ours is used."""
    full = stored("False", Reason.QUOTA_EXCEEDED, message="10 of 10 in use")
    mute = stored("False", Reason.QUOTA_EXCEEDED)

    assert judge(gated(), found(full), NOW).condition.message == "10 of 10 in use"
    assert judge(gated(), found(mute), NOW).condition.message == (
        "Not enough quota: instances: 1 asked for; vcpus: 1 asked for; memory: 2048 MiB asked for. "
        "Scale down, delete something, or ask for more quota"
    )


def test_the_end_of_an_outage_is_reported():
    """Only a denial stands while the next answer is awaited; an outage is over when it is over."""
    cut_off = gated(Reason.QUOTA_BACKEND_UNAVAILABLE, "False")

    assert said(judge(cut_off, found(new_claim()), NOW)) == ("Unknown", Reason.PENDING_EVALUATION)


@pytest.mark.parametrize("outcome", [ClaimAbsent(), found(new_claim())])
def test_asking_again_does_not_change_what_is_said(outcome):
    """Between a denial and the next answer the denial stands, so that nothing flickers."""
    denied = gated(Reason.QUOTA_EXCEEDED, "False", "10 of 10 in use")
    got = judge(denied, outcome, NOW)

    assert said(got) == ("False", Reason.QUOTA_EXCEEDED)
    assert got.condition.message == "10 of 10 in use"
    assert got.event is None


def test_a_lack_of_budget_replaces_a_denial():
    """A new answer is reported, whatever the previous one."""
    denied = gated(Reason.QUOTA_EXCEEDED, "False")

    assert said(judge(denied, found(new_claim(later(-60))), NOW)) == (
        "Unknown",
        Reason.QUOTA_NO_BUDGET,
    )


@pytest.mark.parametrize(
    ("age", "expected"),
    [(-5, 1), (0, 1), (59, 1), (60, 15), (299, 15), (300, 60), (599, 60), (600, 300), (10**6, 300)],
)
def test_the_safety_net_widens_with_age(age, expected):
    """The interval grows from creation: short at first, five minutes in the end."""
    assert requeue_after(NOW, later(age)) == timedelta(seconds=expected)


def test_an_object_without_a_creation_time_is_new():
    """What the server has not stamped yet has not waited."""
    assert requeue_after(None, NOW) == SECOND
    unstamped = instance(gates=(gates.QUOTA,), creation_timestamp=None)
    assert judge(unstamped, found(new_claim()), NOW).requeue_after == SECOND
    assert judge(gated(), found(stored(None, made=None)), NOW).action == Keep()


@pytest.mark.parametrize("outcome", [found(stored()), QuotaDisabled()])
def test_a_settled_grant_needs_no_safety_net(outcome):
    """Once granted, only an event brings the Instance back."""
    assert judge(gated(), outcome, NOW).requeue_after is None


def test_a_lost_race_is_reconciled_again_at_once():
    """Even an old Instance need not wait for its slow net when the claim has just been made."""
    old = instance(gates=(gates.QUOTA,), creation_timestamp=later(-86400))

    assert judge(old, ClaimConflict(), NOW).requeue_after == SECOND
    assert judge(old, OUTAGE, NOW).requeue_after == timedelta(seconds=300)


@pytest.mark.parametrize(
    ("outcome", "seconds"),
    [
        pytest.param(ClaimAbsent(), 1, id="just asked"),
        pytest.param(found(new_claim(later(-20))), 1, id="answered soon"),
        pytest.param(found(new_claim(later(-200))), 300, id="left open"),
        pytest.param(found(stored(amounts={INSTANCES: 1})), 1, id="just taken back"),
        pytest.param(
            found(stored(made=later(-900), deletion_timestamp=later(-20))), 1, id="on its way out"
        ),
        pytest.param(
            found(stored("False", Reason.QUOTA_EXCEEDED, made=later(-20))), 300, id="denied"
        ),
    ],
)
def test_w48_an_old_instance_whose_claim_is_new_is_requeued_soon(outcome, seconds):
    """Where no event tells of an answer, asking again after a denial must not take three pauses."""
    old = instance(gates=(gates.QUOTA,), creation_timestamp=later(-86400))

    assert judge(old, outcome, NOW).requeue_after == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("status", "generation", "expected"),
    [("True", 1, True), ("True", 0, False), ("Unknown", 1, False), ("False", 1, False)],
)
def test_the_gate_opens_for_a_grant_of_this_generation(status, generation, expected):
    """A grant for an earlier spec does not open the gate of this one."""
    waiting = instance(
        conditions=(condition(ConditionType.QUOTA_GRANTED, status, generation=generation),)
    )

    assert gate_opens(waiting) is expected


def test_the_gate_stays_shut_while_nothing_is_said():
    """No condition is no grant."""
    assert not gate_opens(instance())
