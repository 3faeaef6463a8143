"""The match conditions of webhooks: CEL expressions that decide whether to call the webhook."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubekit import cel


class Undecided(Exception):
    """The conditions cannot be evaluated; the message is that of Kubernetes."""


class CompiledCondition:
    """One expression, compiled on first use."""

    __slots__ = ("_expression", "_program")

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._program: cel.Program | None = None

    def holds(self, request: Mapping[str, Any], budget: cel.Budget) -> bool:
        """Whether it is true for the request of a review. Raises `Undecided` if it fails."""
        try:
            if self._program is None:
                self._program = cel.condition(self._expression)
            return cel.holds(self._program, request, budget)
        except cel.CelError as error:
            message = f"expression '{self._expression}' resulted in error: {error}"
            raise Undecided(message) from error


def fault(expression: str) -> str | None:
    """The error in the expression; None if it is valid."""
    try:
        cel.condition(expression)
    except cel.CompileError as error:
        message = str(error)
        return f"compilation failed: {message}" if message.startswith("ERROR:") else message
    return None


def compiled(expressions: Iterable[str]) -> Iterator[CompiledCondition]:
    return map(CompiledCondition, expressions)


def all_hold(conditions: Iterable[CompiledCondition], request: Mapping[str, Any]) -> bool:
    """Whether every condition is true.

    A false condition decides, even if others cannot be evaluated; otherwise the first of those is
    raised as `Undecided`.
    """
    budget, failure = cel.Budget(cel.CONDITION_LIMIT), None
    for condition in conditions:
        try:
            if not condition.holds(request, budget):
                return False
        except Undecided as undecided:
            failure = failure or undecided
    if failure is not None:
        raise failure
    return True
