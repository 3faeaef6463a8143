"""The exit codes of every command. Scripts rely on them."""

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    ERROR = 1  # the command cannot do what it was asked
    USAGE = 2  # the command was called wrongly
    INTERRUPTED = 130


class Failure(Exception):
    """A command that cannot continue: one sentence for the user, and an exit code."""

    def __init__(self, sentence: str, code: Exit = Exit.ERROR) -> None:
        super().__init__(sentence)
        self.code = code
