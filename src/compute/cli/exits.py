"""The exit codes of every command, and the failure that ends one. Scripts rely on the codes."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, Self

_MOST_SHOWN: Final = 20


class Exit(IntEnum):
    """How a command ended. ``meaning`` is a phrase for help texts."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "done"
    ERROR = 1, "the command cannot do what it was asked"
    USAGE = 2, "the command was called wrongly"
    NOT_YET = 3, "not done yet, where the command does not wait"
    FAILED = 4, "the rollout failed: waiting does not help"
    UNKNOWN = 5, "the result is unknown: the server or a city cannot be reached"
    BLOCKED = 6, "blocked until the timeout, such as by quota or a network"
    NOT_FOUND = 7, "the object does not exist"
    CONFLICT = 8, "the object was changed, or its name was taken, by another client"
    DECLINED = 9, "the question about access was answered with no"
    NOT_ENABLED = 10, "compute is not enabled for the project, and nothing was requested"
    DENIED = 11, "access was denied or revoked"
    PENDING = 12, "access is requested and not decided yet; it is safe to run the command again"
    UNAVAILABLE = 13, "compute is not available on this platform"
    TIMED_OUT = 14, "the time is over while the rollout still progresses"
    DIFFERS = 20, "there are differences, with --exit-code"
    INTERRUPTED = 130, "interrupted"


class Failure(Exception):
    """A command that cannot continue: the cause in a sentence, and the next command to type.

    ``next_step`` is written as ``compute ...``; it is shown as the user spells the command. ``lines``
    are what a user reads in place of the sentence, where a sentence of several errors would be long.
    """

    def __init__(  # noqa: PLR0913 -- all but the first are optional
        self,
        cause: str,
        code: Exit = Exit.ERROR,
        *,
        next_step: str = "",
        reason: str = "",
        city: str = "",
        lines: Sequence[str] = (),
    ) -> None:
        super().__init__(cause)
        self.code = code
        self.next_step = next_step
        self.reason = reason
        self.city = city
        self.lines = tuple(lines) or (cause,)


def listed_errors(errors: Sequence[str], before: str = "", after: str = "") -> tuple[str, ...]:
    """Several errors as lines below a title with their number; nothing for a single one."""
    if len(errors) < 2:  # noqa: PLR2004 -- it is a sentence of its own
        return ()
    more = len(errors) - _MOST_SHOWN
    return (
        f"{before}{len(errors)} errors{after}:",
        *(f"  {error}" for error in errors[:_MOST_SHOWN]),
        *((f"  and {more} more",) if more > 0 else ()),
    )


class Quit(Exception):
    """A command that ends with this code and has printed everything already."""

    def __init__(self, code: Exit) -> None:
        super().__init__(code)
        self.code = code
