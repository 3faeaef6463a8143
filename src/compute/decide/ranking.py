"""Which of several causes to tell: one order for Instances, deployments, Workloads and tools.

A thing that is not ready usually has several reasons at once, most of them consequences of one.
The rank says how far a reason is from ordinary progress, so that the one worth acting on is told.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import gates
from compute.api.reasons import Reason
from kubekit.api.meta import Condition, ConditionStatus

# Messages are told upwards inside other messages. Uncut, a long one would outgrow what the API
# takes for a message, and a status that cannot be written tells nobody anything.
_LONGEST: Final = 1024
_LONGEST_SUMMARY: Final = 512

_RANKS: Final[dict[str, int]] = {reason: reason.rank for reason in Reason if reason.rank}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible explanation, and the name of the thing that gives it."""

    subject: str  # empty when the thing explains itself
    reason: str
    message: str = ""
    status: ConditionStatus = "False"

    @property
    def summary(self) -> str:
        """The explanation as part of somebody else's message: whose it is, and what it says."""
        text = self.message or self.reason
        return _cut(f"{self.subject}: {text}" if self.subject else text, _LONGEST_SUMMARY)

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
    return _RANKS.get(reason, 0) or gates.TABLE.ranks.get(reason, 0)


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
