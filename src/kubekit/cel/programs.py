"""Expressions ready to be evaluated, within a budget."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubekit.cel.checking.checker import check
from kubekit.cel.checking.validators import validate
from kubekit.cel.declarations import Environment
from kubekit.cel.errors import CompileError, CostExceeded, EvaluationError, compile_error
from kubekit.cel.evaluation.planning import Plan
from kubekit.cel.evaluation.steps import Frame, exceeded
from kubekit.cel.operations import work
from kubekit.cel.operations.views import MISSING
from kubekit.cel.syntax.parser import parse
from kubekit.cel.syntax.tree import Ident, Node, children
from kubekit.cel.types import Type
from kubekit.cel.values import Value

CALL_LIMIT: Final = 1_000_000
REQUEST_LIMIT: Final = 10_000_000


class ProgramError(CompileError):
    """A part of the expression that does not depend on the variables cannot be computed."""


class Budget:
    """The cost limits of the expressions of one request: of all together, and of each alone."""

    __slots__ = ("per_call", "remaining", "steps")

    def __init__(self, limit: int = REQUEST_LIMIT, per_call: int = CALL_LIMIT) -> None:
        self.remaining = limit
        self.per_call = per_call
        self.steps = work.MOST

    def spend(self, cost: int) -> None:
        """Subtract the cost. Raises `CostExceeded` if less is left."""
        if cost > self.remaining:
            raise CostExceeded("running out of cost budget", budget=True)
        self.remaining -= cost


class Program:
    """A compiled expression. It has no state of an evaluation, so it may be shared."""

    __slots__ = ("_plan", "source", "tree", "variables")

    def __init__(self, source: str, tree: Node, plan: Plan) -> None:
        self.source = source
        self.tree = tree
        self.variables = frozenset(_names(tree)) & plan.slots.keys()
        self._plan = plan

    @property
    def type(self) -> Type:
        return self.tree.type

    def evaluate(self, variables: Mapping[str, Any], budget: Budget) -> Value:
        """The value of the expression.

        Raises `EvaluationError`, or `CostExceeded` for a cost over the budget. A missing variable
        is an error only when the expression reads it.
        """
        return self.run([variables.get(name, MISSING) for name in self._plan.slots], budget)

    def run(self, values: Sequence[Any], budget: Budget) -> Value:
        """As `evaluate`, with the values in the order in which the variables were declared."""
        frame = Frame([*values, *[None] * (self._plan.size - len(values))], budget.per_call)
        work.start(budget.steps)
        try:
            value = self._plan.run(frame)
        except RecursionError as error:
            raise EvaluationError("the value is nested too deeply") from error
        except EvaluationError:
            _charge(frame, budget)
            raise
        except CostExceeded:
            budget.spend(frame.cost)
            raise
        finally:
            budget.steps = work.left()
        _charge(frame, budget)
        return value


def _charge(frame: Frame, budget: Budget) -> None:
    budget.spend(frame.cost)
    if frame.cost > frame.limit:
        raise exceeded()


def compile_expression(source: str, environment: Environment) -> Program:
    """The expression, checked against the declarations. Raises `CompileError`."""
    try:
        tree = parse(source)
        issues = check(tree, environment) or validate(tree)
        if issues:
            raise compile_error(source, issues)
        return Program(source, tree, Plan(tree, tuple(environment.variables)))
    except EvaluationError as error:
        raise ProgramError(str(error)) from error
    except RecursionError as error:
        raise CompileError("expression is nested too deeply") from error


def _names(tree: Node) -> set[str]:
    names = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if type(node) is Ident:
            names.add(node.name.removeprefix("."))
        pending += children(node)
    return names
