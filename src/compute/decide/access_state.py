"""Whether a project may use compute, from its ServiceEntitlements alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from compute.api import labels
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.reasons import NeighbourReason
from compute.api.services import ServiceEntitlement
from compute.decide.conditions import find
from kubekit.api.meta import EPOCH


class AccessState(StrEnum):
    """The state of a project's access. The best comes first: of several entitlements it decides."""

    ACTIVE = "Active"
    PENDING_APPROVAL = "PendingApproval"
    PROCESSING = "Processing"  # requested, and not observed by the platform yet
    REVOKED = "Revoked"
    DENIED = "Denied"
    UNAVAILABLE = "Unavailable"  # the platform does not offer compute
    NOT_REQUESTED = "NotRequested"
    CATALOG_UNAVAILABLE = "CatalogUnavailable"  # the platform has no catalog of services


RENEWABLE: Final = frozenset({AccessState.REVOKED, AccessState.DENIED})
"""The states in which a project may ask again, with a new request."""
REQUESTED: Final = frozenset({AccessState.PENDING_APPROVAL, AccessState.PROCESSING})
"""The states in which a request waits for its answer."""

_YOUNG: Final = timedelta(seconds=15)
_PHASES: Final = {
    "Active": AccessState.ACTIVE,
    "PendingApproval": AccessState.PENDING_APPROVAL,
    "": AccessState.PROCESSING,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectAccess:
    """The state, with the server's reason for it. ``requested_at`` is when the project asked."""

    state: AccessState
    entitlement: ServiceEntitlement | None = None
    message: str = ""
    since: datetime | None = None
    requested_at: datetime | None = None
    suspended: bool = False

    def is_young(self, now: datetime) -> bool:
        """Whether it was requested so recently that the first answer may come at once."""
        return self.requested_at is not None and now - self.requested_at < _YOUNG


def project_access(entitlements: Iterable[ServiceEntitlement] | None) -> ProjectAccess:
    """The access of a project with these entitlements; None where the kind is not served.

    An entitlement that is being deleted gives nothing any more.
    """
    if entitlements is None:
        return ProjectAccess(state=AccessState.CATALOG_UNAVAILABLE)
    ours = [_access(each) for each in entitlements if _is_ours(each) and not each.deleting]
    order = list(AccessState)
    found = min(ours, key=lambda access: order.index(access.state), default=None)
    return found or ProjectAccess(state=AccessState.NOT_REQUESTED)


def _is_ours(entitlement: ServiceEntitlement) -> bool:
    named = entitlement.status.service_name or entitlement.spec.service_ref.name
    return named == labels.COMPUTE_SERVICE


def _access(entitlement: ServiceEntitlement) -> ProjectAccess:
    ready = find(entitlement.status.conditions, ConditionType.READY)
    suspended = find(entitlement.status.conditions, NeighbourCondition.SUSPENDED)
    requested_at = entitlement.metadata.creation_timestamp
    changed_at = ready.last_transition_time if ready else EPOCH
    return ProjectAccess(
        state=_state(entitlement),
        entitlement=entitlement,
        message=ready.message if ready else "",
        since=changed_at if changed_at > EPOCH else requested_at,
        requested_at=requested_at,
        suspended=suspended is not None and suspended.status == "True",
    )


def _state(entitlement: ServiceEntitlement) -> AccessState:
    ready = find(entitlement.status.conditions, ConditionType.READY)
    if ready and ready.reason == NeighbourReason.SERVICE_NOT_PUBLISHED:
        return AccessState.UNAVAILABLE
    known = _PHASES.get(entitlement.status.phase)
    if known is not None:
        return known
    return AccessState.REVOKED if entitlement.status.entitled_at else AccessState.DENIED
