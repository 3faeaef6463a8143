"""The exit codes of every command, and the failure that ends one. Scripts rely on the codes."""

from enum import IntEnum
from typing import Self


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

    ``next_step`` is written as ``compute ...``; it is shown as the user spells the command.
    """

    def __init__(
        self,
        cause: str,
        code: Exit = Exit.ERROR,
        *,
        next_step: str = "",
        reason: str = "",
        city: str = "",
    ) -> None:
        super().__init__(cause)
        self.code = code
        self.next_step = next_step
        self.reason = reason
        self.city = city


class Quit(Exception):
    """A command that ends with this code and has printed everything already."""

    def __init__(self, code: Exit) -> None:
        super().__init__(code)
        self.code = code
