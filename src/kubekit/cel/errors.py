"""The errors of expressions, and their messages.

An error of compilation is shown as in Kubernetes: the message, the line, and a mark under the column.
Tools and users search for these texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_ISSUES: Final = 100
_LONGEST_LINE: Final = 16_384  # bytes of a line that is still quoted


class CelError(Exception):
    """The base class of the errors of an expression and its evaluation."""


class CompileError(CelError):
    """The expression cannot be used. The message lists every issue."""


class EvaluationError(CelError):
    """The expression has no value for these variables."""


class CostExceeded(CelError):
    """The evaluation was stopped.

    ``budget`` is true if the shared budget of all expressions is used up, and false if one expression
    exceeded its own limit.
    """

    def __init__(self, message: str, *, budget: bool = False) -> None:
        super().__init__(message)
        self.budget = budget


class NoSuchOverload(EvaluationError):
    """A function or operator was called with values of types that it does not accept."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Issue:
    """One error. The offset counts characters; it is -1 if the error is about the whole expression."""

    offset: int
    text: str


def compile_error(source: str, issues: Sequence[Issue]) -> CompileError:
    """The issues as one error, in the order of the source; at most `MOST_ISSUES` of them."""
    positioned = [(*_position(source, issue.offset), issue.text) for issue in issues[:MOST_ISSUES]]
    positioned.sort(key=lambda item: item[:2])
    lines = source.split("\n")
    shown = [_shown(lines, *item) for item in positioned]
    if len(issues) > MOST_ISSUES:
        shown.append(f"{len(issues) - MOST_ISSUES} more errors were truncated")
    return CompileError("\n".join(shown))


def _position(source: str, offset: int) -> tuple[int, int]:
    """The line, from 1, and the column, from 0."""
    if offset < 0:
        return -1, -1
    before = source.rfind("\n", 0, offset)
    return source.count("\n", 0, offset) + 1, offset - before - 1


def _shown(lines: list[str], line: int, column: int, text: str) -> str:
    head = f"ERROR: <input>:{line}:{column + 1}: {text}"
    if line < 0 or len(lines[line - 1].encode()) > _LONGEST_LINE:
        return head
    snippet = lines[line - 1].replace("\t", " ")
    dots = "".join("." if char.isascii() else "\uff0e" for char in snippet[:column])
    mark = "\uff3e" if not snippet[column : column + 1].isascii() else "^"
    return f"{head}\n | {snippet}\n | {dots}{mark}"
