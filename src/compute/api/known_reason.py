"""What every reason must say of itself: what it means, who has to act, and what to do next.

A reason alone is a word for programs. The words beside it are for the person who reads it at
night, so they are part of its definition: a reason without them cannot be written down.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

NOTHING_TO_DO: Final = "Nothing to do."


class Owner(StrEnum):
    """Who has to act."""

    USER = "user"  # whoever wrote the Workload
    PLATFORM = "platform"  # whoever runs the cells, the quota service or the network
    TRANSIENT = "transient"  # nobody: it passes by itself, or nothing is wrong


@dataclass(frozen=True, slots=True)
class ReasonDefinition:
    """The definition of a reason.

    ``next_step`` puts what can be typed in backticks, always as ``compute ...``. Words in capitals
    stand for the reader's own: NAME is the Workload, CITY and INSTANCE what they say.
    """

    reason: str
    owner: Owner
    meaning: str
    next_step: str
    healthy: bool = False


class KnownReason(StrEnum):
    """A reason that is also its own explanation. The enums of reasons are made from this one."""

    owner: Owner
    meaning: str
    next_step: str
    healthy: bool

    def __new__(cls, said: ReasonDefinition | str) -> Self:
        assert isinstance(said, ReasonDefinition)  # a str looks a member up, and never comes here
        member = str.__new__(cls, said.reason)
        member._value_ = said.reason
        member.owner = said.owner
        member.meaning = said.meaning
        member.next_step = said.next_step
        member.healthy = said.healthy
        return member


def user(reason: str, meaning: str, next_step: str) -> ReasonDefinition:
    """A reason that only a change of the Workload, or of the project, takes away."""
    return ReasonDefinition(reason, Owner.USER, meaning, next_step)


def platform(reason: str, meaning: str, next_step: str) -> ReasonDefinition:
    """A reason that only those who run the platform can take away."""
    return ReasonDefinition(reason, Owner.PLATFORM, meaning, next_step)


def transient(reason: str, meaning: str, next_step: str) -> ReasonDefinition:
    """A reason that belongs to ordinary progress."""
    return ReasonDefinition(reason, Owner.TRANSIENT, meaning, next_step)


def healthy(reason: str, meaning: str) -> ReasonDefinition:
    """A reason that brings good news."""
    return ReasonDefinition(reason, Owner.TRANSIENT, meaning, NOTHING_TO_DO, healthy=True)
