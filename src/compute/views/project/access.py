"""The access of a project to compute as people read it."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from compute.api.reasons import NeighbourReason
from compute.decide.access_state import AccessState, ProjectAccess
from compute.views.view import View

_WAIT: Final = "compute access request --wait"
_RENEW: Final = "compute access request --renew"
_CHECK_TARGET: Final = "compute config view"

# What each state means, and the command to type next.
_STATES: Final[Mapping[AccessState, tuple[str, str]]] = MappingProxyType(
    {
        AccessState.ACTIVE: ("The project may use compute.", ""),
        AccessState.PENDING_APPROVAL: (
            "Access was requested, and the operators of the platform have not decided yet.",
            _WAIT,
        ),
        AccessState.PROCESSING: (
            "Access was requested, and the platform has not answered yet.",
            _WAIT,
        ),
        AccessState.REVOKED: ("The project had access, and it was taken away.", _RENEW),
        AccessState.DENIED: ("The request for access was denied.", _RENEW),
        AccessState.UNAVAILABLE: ("The platform does not offer compute.", _CHECK_TARGET),
        AccessState.NOT_REQUESTED: (
            "Compute is not enabled for the project.",
            "compute access request",
        ),
        AccessState.CATALOG_UNAVAILABLE: (
            "The server has no catalog of services, so access cannot be requested there.",
            _CHECK_TARGET,
        ),
    }
)


class AccessView(View, frozen=True, kw_only=True):
    """The state, what it means, the server's own reason, and the command to type next."""

    project: str
    state: AccessState
    meaning: str
    message: str
    since: datetime | None
    requested_at: datetime | None
    suspended: bool
    next: str

    @property
    def suspension(self) -> str:
        """What a suspension means; empty if there is none."""
        return NeighbourReason.PROJECT_SUSPENDED.meaning if self.suspended else ""


def access_view(access: ProjectAccess, project: str) -> AccessView:
    """The access of a project. Its name is empty where the server itself is the project."""
    meaning, next_command = _STATES[access.state]
    if access.state is AccessState.CATALOG_UNAVAILABLE and not project:
        meaning, next_command = "The server has no catalog of services: no access is needed.", ""
    return AccessView(
        project=project,
        state=access.state,
        meaning=meaning,
        message=" ".join(access.message.split()),
        since=access.since,
        requested_at=access.requested_at,
        suspended=access.suspended,
        next=next_command,
    )
