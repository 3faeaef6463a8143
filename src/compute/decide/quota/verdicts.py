"""What the answer to its claim means for an Instance.

An Instance waits at its Quota gate until its claim is granted. An outage of the quota service must
never become an outage of what runs: an Instance that was granted quota and passed its gate keeps the
grant until its own claim is denied. And an answer stands until there is another, so that a repeated
request does not show as a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.quota import ResourceClaim
from compute.api.reasons import Reason, Trait, has
from compute.decide.conditions import find, is_true
from compute.decide.quota import shortages
from compute.decide.quota.claims import (
    ClaimAbsent,
    ClaimConflict,
    ClaimFound,
    ClaimLookup,
    ClaimLookupFailed,
    QuotaDisabled,
    is_of_other_cell,
    requests_same_quota,
)
from compute.decide.ranking import Candidate
from compute.decide.scheduling_gates import closed, may_open
from kubekit.api.meta import Condition, ConditionStatus, Object

# The poll interval, by age since creation.
_POLLING: Final = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
_LONGEST_POLLING: Final = timedelta(seconds=300)


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the claim, or its absence, as it is."""


@dataclass(frozen=True, slots=True)
class CreateClaim:
    """Create the claim."""


@dataclass(frozen=True, slots=True)
class DeleteClaim:
    """Delete this very claim, unless it has changed since it was read. Then reconcile again."""

    uid: str
    resource_version: str


Action = Keep | CreateClaim | DeleteClaim


@dataclass(frozen=True, slots=True)
class QuotaVerdict:
    """The condition of the Instance's quota, what to do, and when to reconcile again.

    ``event`` is a warning to record once: it is set only while the Instance does not report it yet.
    """

    condition: Condition
    action: Action = Keep()
    requeue_after: timedelta | None = None
    event: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Ruling:
    status: ConditionStatus
    reason: str
    message: str
    action: Action = Keep()
    final: bool = True  # if not, an earlier answer stands


# The service answers within seconds. A claim that it leaves open for longer waits for budget.
_EVALUATION: Final = timedelta(seconds=60)
# A service that is starting answers by then. Only a longer outage is reported.
_START_UP: Final = timedelta(seconds=10)
# A new try costs two writes, and briefly gives up what was granted in part.
_BETWEEN_TRIES: Final = timedelta(seconds=60)
_KEEP: Final = Keep()


def judge(instance: Instance, outcome: ClaimLookup, now: datetime) -> QuotaVerdict:
    """What the outcome of the claim's lookup means for the Instance."""
    ruling = _ruling(instance, outcome, now)
    reported = ruling if ruling.final else _standing(instance, ruling)
    settled = ruling.final and reported.status == "True"
    candidate = Candidate("", reported.reason, reported.message, reported.status)
    return QuotaVerdict(
        condition=candidate.condition(
            ConditionType.QUOTA_GRANTED, instance.metadata.generation, now
        ),
        action=ruling.action,
        requeue_after=None if settled else _next_check(instance, outcome, ruling, now),
        event=_warning(instance, ruling, reported),
    )


def gate_opens(instance: Instance) -> bool:
    """Whether quota was granted to the Instance as it is specified now."""
    return may_open(gates.TABLE.by_name[gates.QUOTA], instance)


def _next_check(
    instance: Instance, outcome: ClaimLookup, ruling: _Ruling, now: datetime
) -> timedelta:
    """When to reconcile again.

    A new claim is answered soon, however long the Instance has waited before.
    """
    waits = [instance.metadata.creation_timestamp or now]
    if isinstance(outcome, ClaimConflict) or ruling.action != _KEEP:
        waits.append(now)
    elif isinstance(outcome, ClaimFound) and ruling.reason == Reason.PENDING_EVALUATION:
        claim = outcome.claim.metadata
        waits.append(claim.deletion_timestamp or claim.creation_timestamp or now)
    elif isinstance(outcome, ClaimLookupFailed) and _is_starting(outcome, now):
        waits.append(outcome.since or now)
    return requeue_after(max(waits), now)


def _ruling(instance: Instance, outcome: ClaimLookup, now: datetime) -> _Ruling:
    match outcome:
        case ClaimFound(claim, wanted):
            return _of_claim(instance, claim, wanted, now)
        case ClaimAbsent():
            return _waiting("Asking for quota", CreateClaim())
        case ClaimConflict():
            return _waiting("Waiting for the quota service to answer")
        case ClaimLookupFailed():
            return _failed(instance, outcome, now)
        case QuotaDisabled():
            return _Ruling("True", Reason.QUOTA_DISABLED, "Quota is not enforced in this cell")
    assert_never(outcome)


def _of_claim(
    instance: Instance, claim: ResourceClaim, wanted: ResourceClaim, now: datetime
) -> _Ruling:
    if claim.deleting:  # its status no longer counts
        return _waiting("Waiting for an earlier claim under this name to be gone")
    # What runs keeps the claim it runs on, even after the catalog gave its type another size.
    holds = is_true(claim.status.conditions, NeighbourCondition.GRANTED) and _passed_gate(instance)
    if not holds and not requests_same_quota(claim, wanted):
        return _of_another(claim, wanted)
    match find(claim.status.conditions, NeighbourCondition.GRANTED):
        case Condition(status="True", message=message):
            return _Ruling("True", Reason.QUOTA_AVAILABLE, message or "Quota is granted")
        case Condition(status="False") as granted if granted.reason != Reason.PENDING_EVALUATION:
            return _denied(instance, claim, granted, now)
        case _:
            return _open(claim, now)


def _of_another(claim: ResourceClaim, wanted: ResourceClaim) -> _Ruling:
    """A claim that was created for another Instance.

    That of another cell is released by that cell once its machine has stopped, or by management after
    a while; see `compute.decide.federation.moves`. This cell must not write it.
    """
    if is_of_other_cell(claim, wanted):
        return _waiting("Waiting for another cell to release the quota of this instance")
    return _waiting("Replacing a claim that was created for something else", _deletion(claim))


def _failed(instance: Instance, failed: ClaimLookupFailed, now: datetime) -> _Ruling:
    """An outage that was reported stands until there is an answer: its start is lost in a restart."""
    condition = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    is_reported = condition is not None and condition.reason == Reason.QUOTA_BACKEND_UNAVAILABLE
    if _is_starting(failed, now) and not is_reported:
        return _waiting("Waiting for the quota service to answer")
    return _Ruling("False", failed.reason, failed.message, final=False)


def _is_starting(failed: ClaimLookupFailed, now: datetime) -> bool:
    """Whether the service may still be starting: it has been unavailable for a short time only."""
    if failed.since is None or failed.reason != Reason.QUOTA_BACKEND_UNAVAILABLE:
        return False
    return now - failed.since < _START_UP


def _waiting(message: str, action: Action = _KEEP) -> _Ruling:
    return _Ruling("Unknown", Reason.PENDING_EVALUATION, message, action, final=False)


def _open(claim: ResourceClaim, now: datetime) -> _Ruling:
    """A claim that is neither granted nor denied.

    A new claim reports that it is not granted before its first evaluation. Only one that was
    evaluated, or is old enough to be, shows a lack of budget.
    """
    lacking = [
        a
        for a in claim.status.allocations
        if a.status == "Pending" and has(a.reason, Trait.LACK_OF_BUDGET)
    ]
    if not lacking and _age(claim, now) < _EVALUATION:
        return _waiting("Waiting for the quota service to answer")
    messages = [a.message for a in lacking if a.message]
    return _Ruling("Unknown", Reason.QUOTA_NO_BUDGET, _shortage(claim, messages), final=False)


def _shortage(claim: ResourceClaim, messages: Sequence[str] = ()) -> str:
    """The shortage as the quota service reported it, else what the claim requests."""
    return shortages.sentence(messages or map(shortages.line, claim.spec.requests))


def _denied(
    instance: Instance, claim: ResourceClaim, condition: Condition, now: datetime
) -> _Ruling:
    """A claim that was denied, and is created again from time to time.

    Some quota services never evaluate a denied claim again, so that more quota helps only a new one.
    A claim whose requests are all pending is still in the queue, and would lose its position.
    """
    pause = requeue_after(instance.metadata.creation_timestamp, now)
    again = _age(claim, now) >= max(pause, _BETWEEN_TRIES) and not _is_queued(claim)
    invalid = condition.reason == Reason.VALIDATION_FAILED
    return _Ruling(
        "False",
        Reason.VALIDATION_FAILED if invalid else Reason.QUOTA_EXCEEDED,
        condition.message or _shortage(claim),
        _deletion(claim) if again else _KEEP,
    )


def _is_queued(claim: ResourceClaim) -> bool:
    allocations = claim.status.allocations
    return bool(allocations) and all(each.status == "Pending" for each in allocations)


def _standing(instance: Instance, ruling: _Ruling) -> _Ruling:
    """The earlier answer where it still counts, else the ruling."""
    earlier = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    if _passed_gate(instance):
        # Without the message of the error: it may differ each time, and this is part of a status.
        message = f"Granted earlier, which stands until the claim is answered ({ruling.reason})"
        reason = earlier.reason if earlier and earlier.status == "True" else Reason.QUOTA_AVAILABLE
        return _Ruling("True", reason, message)
    if earlier is None:
        return ruling
    denied = earlier.status == "False" and has(earlier.reason, Trait.DENIAL)
    if denied and ruling.reason == Reason.PENDING_EVALUATION:
        return _Ruling("False", earlier.reason, earlier.message)
    return ruling


def _passed_gate(instance: Instance) -> bool:
    """Whether quota was granted and the gate opened: from then on the Instance may run.

    Only a grant opens the gate, but it may be reported later. Opening the gate changes the generation:
    so a condition that is Unknown for an earlier generation means granted, and one that is Unknown for
    the current generation does not.
    """
    if instance.spec.controller is None or gates.QUOTA in closed(instance):
        return False
    condition = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    if condition is None or condition.status == "Unknown":
        return condition is None or condition.observed_generation < instance.metadata.generation
    return condition.status == "True"


def _warning(instance: Instance, ruling: _Ruling, reported: _Ruling) -> Reason | None:
    earlier = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    is_known = earlier is not None and (
        earlier.message == reported.message
        if reported.status == "True"
        else earlier.reason == reported.reason
    )
    reason = Reason(ruling.reason)
    return reason if reason.needs_action and not is_known else None


def _deletion(claim: ResourceClaim) -> DeleteClaim:
    return DeleteClaim(claim.metadata.uid, claim.metadata.resource_version)


def _age(of: Object, now: datetime) -> timedelta:
    return now - (of.metadata.creation_timestamp or now)


def requeue_after(created: datetime | None, now: datetime) -> timedelta:
    """When to reconcile again although no event arrived, while quota is not granted.

    Counted from creation and not from the last try, so that a restarted controller does not check
    every second what has waited for an hour.
    """
    waited = now - (created or now)
    return next((pause for limit, pause in _POLLING if waited < limit), _LONGEST_POLLING)
