"""Which of several causes to tell: one order for Instances, deployments, Workloads and tools.

A thing that is not ready usually has several reasons at once, most of them consequences of one.
The rank says how far a reason is from ordinary progress, so that the one worth acting on is told.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api.reasons import Reason
from kubekit.api.meta import Condition, ConditionStatus

# Messages are told upwards inside other messages. Uncut, a long one would outgrow what the API
# takes for a message, and a status that cannot be written tells nobody anything.
_LONGEST: Final = 1024
_LONGEST_TOLD: Final = 512

_RANKS: Final[tuple[tuple[Reason, ...], ...]] = (
    # 0 is every reason not named below: pointers to another condition, and words we do not know.
    (),
    # 1 on its way
    (Reason.PROVISIONING, Reason.INSTANCES_PROVISIONING),
    # 2 waits for the network
    (Reason.NETWORK_PROVISIONING, Reason.NO_MATCHING_LOCATION),
    # 3 waits for quota
    (
        Reason.PENDING_QUOTA,
        Reason.QUOTA_BACKEND_UNAVAILABLE,
        Reason.QUOTA_EXCEEDED,
        Reason.QUOTA_MISCONFIGURED,
        Reason.QUOTA_NAMESPACE_NOT_FOUND,
        Reason.QUOTA_NO_BUDGET,
        Reason.QUOTA_NOT_GRANTED,
        Reason.QUOTA_PROJECT_ID_UNRESOLVABLE,
        Reason.QUOTA_PROJECT_NOT_FOUND,
        Reason.VALIDATION_FAILED,
    ),
    # 4 waits for data it refers to
    (Reason.AWAITING_PROPAGATION, Reason.REFERENCED_DATA_NOT_READY, Reason.RESOLVING),
    # 5 cannot run as it was described
    (
        Reason.CONFIGURATION_ERROR,
        Reason.FAILED,
        Reason.IMAGE_UNAVAILABLE,
        Reason.INSTANCE_CRASHING,
        Reason.SOURCE_NOT_FOUND,
        Reason.SOURCE_TOO_LARGE,
        Reason.SOURCE_UNAUTHORIZED,
    ),
    # 6 asks for something that is not there
    (
        Reason.CITY_WITHDRAWN,
        Reason.DEPLOYMENT_NAME_TAKEN,
        Reason.NETWORK_NOT_FOUND,
        Reason.NETWORK_TERMINATING,
        Reason.NO_MATCHING_LOCATIONS,
    ),
    # 7 the platform cannot host it
    (
        Reason.NETWORK_FAILED_TO_CREATE,
        Reason.NO_CELL_FOR_CITY,
        Reason.PROPAGATION_SUSPENDED,
        Reason.REFUSED_BY_CELL,
    ),
    # 8 everything said below it is beside the point: stopped on purpose, or not heard of
    (Reason.CELL_UNREACHABLE, Reason.SUSPENDED),
)
_RANK: Final[dict[str, int]] = {
    reason: level for level, reasons in enumerate(_RANKS) for reason in reasons
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible explanation, and the name of the thing that gives it."""

    subject: str  # empty when the thing explains itself
    reason: str
    message: str = ""
    status: ConditionStatus = "False"

    @property
    def told(self) -> str:
        """The explanation as part of somebody else's message: whose it is, and what it says."""
        text = self.message or self.reason
        return _cut(f"{self.subject}: {text}" if self.subject else text, _LONGEST_TOLD)

    def condition(self, kind: str, generation: int, now: datetime) -> Condition:
        """The explanation as a condition, said now, of this generation."""
        return Condition(
            type=kind,
            status=self.status,
            reason=self.reason,
            message=_cut(self.message, _LONGEST),
            observed_generation=generation,
            last_transition_time=now,
        )


def rank(reason: str) -> int:
    """How much a reason explains; 0 for a pointer to another reason and for an unknown word."""
    return _RANK.get(reason, 0)


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, the one that explains most first.

    Between equals the first by name goes first, whatever order they come in: an answer that
    depends on the order of a list flickers from pass to pass, and each flicker is a write.
    """
    return sorted(candidates, key=_order)


def worst(candidates: Iterable[Candidate]) -> Candidate | None:
    """The candidate that explains most, by the order of `ranked`; None when there is none."""
    return min(candidates, key=_order, default=None)


def _order(candidate: Candidate) -> tuple[int, str, str, str, str]:
    return (
        -rank(candidate.reason),
        candidate.subject,
        candidate.reason,
        candidate.message,
        candidate.status,
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
