"""Whether a project may use a service: automatically, after a delay, or after an approval."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from compute.api import annotations, labels
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.reasons import NeighbourReason
from compute.api.services import ServiceEntitlement, ServiceEntitlementStatus
from compute.decide.conditions import put
from compute.decide.ranking import Candidate

_APPROVAL: Final = "approval"
_DELAY: Final = "delaySeconds"
_SERVICES: Final = "services"
KEYS: Final = (_APPROVAL, _DELAY, _SERVICES)
_KNOWN: Final = ", ".join(KEYS)
_APPROVALS: Final = ("Automatic", "Manual")
_LONGEST_DELAY: Final = 30 * 24 * 3600.0  # seconds
_PENDING: Final = "PendingApproval"
_ACTIVE: Final = "Active"
_REJECTED: Final = "Rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """How entitlements are approved. ``services`` are those that exist."""

    automatic: bool = True
    delay: timedelta = timedelta()
    services: tuple[str, ...] = (labels.COMPUTE_SERVICE,)


_CAREFUL: Final = ApprovalSettings(automatic=False)


@dataclass(frozen=True, slots=True)
class EntitlementDecision:
    """The status of an entitlement, and when it may change by itself."""

    status: ServiceEntitlementStatus
    requeue_after: timedelta | None = None


def read_settings(
    data: Mapping[str, str], known: ApprovalSettings | None
) -> tuple[ApprovalSettings, list[str]]:
    """The settings in a ConfigMap, and its faults, key by key.

    An unreadable setting keeps its last value; an absent one has its default. Where no value is
    known, an unreadable approval means Manual.
    """
    known = known or _CAREFUL
    unknown = sorted(key for key in data if key not in KEYS)
    settings, faults = (
        ApprovalSettings(),
        [f"{key}: no such key; there are {_KNOWN}" for key in unknown],
    )
    if (approval := data.get(_APPROVAL)) in _APPROVALS:
        settings = replace(settings, automatic=approval == "Automatic")
    elif approval is not None:
        settings = replace(settings, automatic=known.automatic)
        faults.append(f'approval: "{approval}" is neither Automatic nor Manual')
    if (delay := data.get(_DELAY)) is not None:
        seconds = _seconds(delay)
        settings = replace(settings, delay=known.delay if seconds is None else seconds)
        if seconds is None:
            faults.append(f'delaySeconds: "{delay}" is no number of seconds from 0 to 30 days')
    if (services := data.get(_SERVICES)) is not None:
        named = tuple(filter(None, (name.strip() for name in services.split(","))))
        settings = replace(settings, services=named)
    return settings, faults


def answer(
    entitlement: ServiceEntitlement, settings: ApprovalSettings, now: datetime, *, suspended: bool
) -> EntitlementDecision:
    """The decision on an entitlement now."""
    phase, candidate, again = _verdict(entitlement, settings, now)
    earlier, generation = entitlement.status, entitlement.metadata.generation
    conditions = [
        candidate.condition(ConditionType.READY, generation, now),
        _suspension(suspended=suspended).condition(NeighbourCondition.SUSPENDED, generation, now),
    ]
    status = msgspec.structs.replace(
        earlier,
        phase=phase,
        origin=earlier.origin or "Direct",
        service_name=entitlement.spec.service_ref.name,
        entitled_at=_entitled_at(phase, earlier.entitled_at, now),
        conditions=put(earlier.conditions, conditions, now),
        observed_generation=generation,
    )
    return EntitlementDecision(status, again)


def _entitled_at(phase: str, earlier: datetime | None, now: datetime) -> datetime | None:
    """Since when the service may be used. A rejection keeps it: it shows that access was revoked."""
    if phase == _ACTIVE:
        return earlier or now.replace(microsecond=0)
    return earlier if phase == _REJECTED else None


_Verdict = tuple[str, Candidate, timedelta | None]


def _verdict(
    entitlement: ServiceEntitlement, settings: ApprovalSettings, now: datetime
) -> _Verdict:
    service = entitlement.spec.service_ref.name
    if service not in settings.services:
        message = f"There is no service {service} here; there is: {', '.join(settings.services)}"
        return _PENDING, Candidate("", NeighbourReason.SERVICE_NOT_PUBLISHED, message), None
    approval = entitlement.metadata.annotations.get(annotations.APPROVAL)
    if approval == "Denied":
        return _REJECTED, _rejected(entitlement), None
    # An active entitlement stays active, whatever the settings for later requests.
    if approval != "Approved" and entitlement.status.phase != _ACTIVE:
        waiting = _waiting(entitlement, settings, now)
        if waiting is not None:
            return waiting
    message = f"The project may use {service}"
    return _ACTIVE, Candidate("", NeighbourReason.ENTITLEMENT_ACTIVE, message, "True"), None


def _waiting(
    entitlement: ServiceEntitlement, settings: ApprovalSettings, now: datetime
) -> _Verdict | None:
    """What an entitlement without an approval waits for; None when for nothing."""
    reason = NeighbourReason.ENTITLEMENT_PENDING_APPROVAL
    if not settings.automatic:
        return _PENDING, Candidate("", reason, "It has to be approved by an operator"), None
    created = entitlement.metadata.creation_timestamp or now
    wait = created + settings.delay - now
    if wait <= timedelta():
        return None
    return _PENDING, Candidate("", reason, "It is approved automatically after a delay"), wait


def _rejected(entitlement: ServiceEntitlement) -> Candidate:
    why = entitlement.metadata.annotations.get(annotations.APPROVAL_MESSAGE)
    return Candidate("", NeighbourReason.ENTITLEMENT_REJECTED, why or "It was denied")


def _suspension(*, suspended: bool) -> Candidate:
    if suspended:
        message = "The project is suspended"
        return Candidate("", NeighbourReason.PROJECT_SUSPENDED, message, "True")
    return Candidate("", NeighbourReason.PROJECT_ACTIVE, "The project is not suspended")


def _seconds(text: str) -> timedelta | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return timedelta(seconds=seconds) if 0 <= seconds <= _LONGEST_DELAY else None
