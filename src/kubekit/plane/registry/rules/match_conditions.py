"""The conditions of webhooks: expressions about a request, which say whether to ask at all."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubekit import cel


class Undecided(Exception):
    """Whether the conditions hold cannot be told; the text says why, in Kubernetes' words."""


class CompiledCondition:
    """One expression, made ready when it is first needed."""

    __slots__ = ("_expression", "_program")

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._program: cel.Program | None = None

    def holds(self, request: Mapping[str, Any], budget: cel.Budget) -> bool:
        """Whether it is true of the request of a review. `Undecided` if that cannot be told."""
        try:
            if self._program is None:
                self._program = cel.condition(self._expression)
            return cel.holds(self._program, request, budget)
        except cel.CelError as error:
            words = f"expression '{self._expression}' resulted in error: {error}"
            raise Undecided(words) from error


def fault(expression: str) -> str | None:
    """What is wrong with the expression; None when nothing."""
    try:
        cel.condition(expression)
    except cel.CompileError as error:
        told = str(error)
        return f"compilation failed: {told}" if told.startswith("ERROR:") else told
    return None


def conditions(expressions: Iterable[str]) -> Iterator[CompiledCondition]:
    return map(CompiledCondition, expressions)


def all_hold(those: Iterable[CompiledCondition], request: Mapping[str, Any]) -> bool:
    """Whether every condition is true.

    One that is false decides the matter, also when others cannot be told; otherwise the first of
    those is `Undecided`.
    """
    budget, doubt = cel.Budget(cel.CONDITION_LIMIT), None
    for condition in those:
        try:
            if not condition.holds(request, budget):
                return False
        except Undecided as undecided:
            doubt = doubt or undecided
    if doubt is not None:
        raise doubt
    return True
