"""Which of several causes to report: one order for Instances, deployments, Workloads and tools.

An object that is not ready usually has several reasons at once, most of them consequences of one.
The rank is how far a reason is from ordinary progress, so that the cause to act on is reported.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec

from compute.api import gates
from compute.api.reasons import NeighbourReason, Reason
from kubekit.api.meta import Condition, ConditionStatus

# Messages become parts of messages of owners. Uncut, a long one would exceed the limit of the API,
# and the whole status could not be written.
_LONGEST: Final = 1024
_LONGEST_SUMMARY: Final = 512

_RANKS: Final[dict[str, int]] = {
    reason: reason.rank for reason in (*NeighbourReason, *Reason) if reason.rank
}


class Candidate(msgspec.Struct, frozen=True):
    """A possible cause, and the name of the object that reports it."""

    subject: str  # empty when the object explains itself
    reason: str
    message: str = ""
    status: ConditionStatus = "False"

    @property
    def summary(self) -> str:
        """The cause as part of another object's message: the subject and its message."""
        text = self.message or self.reason
        return _cut(f"{self.subject}: {text}" if self.subject else text, _LONGEST_SUMMARY)

    def condition(self, kind: str, generation: int, now: datetime) -> Condition:
        """The cause as a condition, observed now, at this generation."""
        return Condition(
            type=kind,
            status=self.status,
            reason=self.reason,
            message=_cut(self.message, _LONGEST),
            observed_generation=generation,
            last_transition_time=now,
        )


def rank(reason: str) -> int:
    """How much a reason explains; 0 for a pointer to another condition and for an unknown reason."""
    return _RANKS.get(reason, 0) or gates.TABLE.ranks.get(reason, 0)


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, the one that explains most first.

    Between equals the first by name goes first, whatever order they come in: an answer that
    depends on the order of a list flickers between reconcile passes, and each change is a write.
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
