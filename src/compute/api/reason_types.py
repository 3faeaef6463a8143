"""The definition of a reason: what it means, who has to act, and what to do next.

A reason itself is a word for programs. The sentences are for people, and part of the definition: a
reason cannot be defined without them. Its rank and its traits, which decisions depend on, are part of
the same definition.
"""

from enum import IntEnum, StrEnum
from typing import Final, Self

import msgspec

NOTHING_TO_DO: Final = "Nothing to do."
_WAIT: Final = "Wait; if it lasts for minutes, run `compute doctor NAME`."


class Owner(StrEnum):
    """Who has to act."""

    USER = "user"  # the author of the Workload
    PLATFORM = "platform"  # the operators of the cells, the quota service or the network
    TRANSIENT = "transient"  # no one: it passes by itself, or nothing is wrong


class Rank(IntEnum):
    """How far a reason is from ordinary progress: of several causes, the highest is reported."""

    NONE = 0  # a pointer to another condition, a healthy reason, or an unknown one
    ON_ITS_WAY = 1
    NETWORK = 2  # waits for the network
    QUOTA = 3  # waits for quota
    DATA = 4  # waits for data it refers to
    CANNOT_RUN = 5  # cannot run as it is described
    MISSING = 6  # asks for something that does not exist
    NOT_HOSTED = 7  # the platform cannot host it
    OVERRIDING = 8  # stopped on purpose or unreachable: no other cause matters


class Trait(StrEnum):
    """A property of reasons. Decisions test for a trait instead of listing reasons."""

    DENIAL = "denial"  # a final answer of the quota service
    DRAIN = "drain"  # a deployment is drained for it
    FROM_ABOVE = "from above"  # set by controllers above the cell: valid before the cell reports
    INTENDED = "intended"  # the user asked for it: nothing is wrong
    IN_TURN = "in turn"  # an Instance waits its turn at its gates, for no other cause
    LACK_OF_BUDGET = "lack of budget"  # more quota would help
    NETWORK_FAILURE = "network failure"  # the user or the network service has to act
    NO_CELL = "no cell"  # the hub has chosen no cell
    POINTER = "pointer"  # only points to another condition
    STARTUP = "startup"  # every new Instance reports it on its way to Ready
    STOPS_PLACEMENT = "stops placement"  # keeps a Workload from being split into deployments
    TERMINAL = "terminal"  # retrying does not help: another template has to be deployed
    WARNS = "warns"  # an Instance that is not Ready for it gets a Warning event


class ReasonDefinition(msgspec.Struct, frozen=True):
    """The definition of a reason.

    ``next_step`` has commands in backticks, always as ``compute ...``. Words in capitals are
    placeholders: NAME is the Workload, CITY the city and INSTANCE the Instance.
    The rank of a reason that a scheduling gate lists is that of the gate.
    """

    reason: str
    owner: Owner
    meaning: str
    next_step: str
    traits: tuple[Trait, ...] = ()
    rank: Rank = Rank.NONE
    healthy: bool = False


class KnownReason(StrEnum):
    """A reason that is also its own explanation. The enums of reasons derive from it."""

    owner: Owner
    meaning: str
    next_step: str
    traits: frozenset[Trait]
    rank: Rank
    healthy: bool

    def __new__(cls, definition: ReasonDefinition | str) -> Self:
        assert isinstance(definition, ReasonDefinition)  # a str looks a member up instead
        member = str.__new__(cls, definition.reason)
        member._value_ = definition.reason
        member.owner = definition.owner
        member.meaning = definition.meaning
        member.next_step = definition.next_step
        member.traits = frozenset(definition.traits)
        member.rank = definition.rank
        member.healthy = definition.healthy
        return member

    @property
    def needs_action(self) -> bool:
        """Whether waiting does not help: the user or the platform has to act."""
        return self.owner is not Owner.TRANSIENT


def user(
    reason: str, meaning: str, next_step: str, *traits: Trait, rank: Rank = Rank.NONE
) -> ReasonDefinition:
    """A reason that lasts until the Workload, or the project, is changed."""
    return ReasonDefinition(reason, Owner.USER, meaning, next_step, traits, rank)


def platform(
    reason: str, meaning: str, next_step: str, *traits: Trait, rank: Rank = Rank.NONE
) -> ReasonDefinition:
    """A reason that lasts until the operators of the platform act."""
    return ReasonDefinition(reason, Owner.PLATFORM, meaning, next_step, traits, rank)


def transient(
    reason: str, meaning: str, next_step: str, *traits: Trait, rank: Rank = Rank.NONE
) -> ReasonDefinition:
    """A reason that belongs to ordinary progress."""
    return ReasonDefinition(reason, Owner.TRANSIENT, meaning, next_step, traits, rank)


def passing(reason: str, meaning: str, *traits: Trait, rank: Rank = Rank.NONE) -> ReasonDefinition:
    """A reason that passes by itself within minutes."""
    return transient(reason, meaning, _WAIT, *traits, rank=rank)


def healthy(reason: str, meaning: str) -> ReasonDefinition:
    """A reason for which nothing has to be done."""
    return ReasonDefinition(reason, Owner.TRANSIENT, meaning, NOTHING_TO_DO, healthy=True)
