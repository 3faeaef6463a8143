"""Compiles checked expressions into functions, once, to be called often.

As in Kubernetes, parts that do not depend on the variables are computed here: they cost nothing when
the expression is evaluated, and if one fails the expression is refused.
"""

from typing import Any, Final

from kubekit.cel.costs.call_costs import LIST, MAP, call_cost
from kubekit.cel.environments import OVERLOADS
from kubekit.cel.errors import EvaluationError
from kubekit.cel.evaluation import steps
from kubekit.cel.evaluation.folds import Loop, fold
from kubekit.cel.evaluation.steps import Frame, Run, Step
from kubekit.cel.libraries import regexes
from kubekit.cel.syntax.tree import (
    AnyNode,
    Call,
    Fold,
    FoldKind,
    Ident,
    ListExpr,
    Literal,
    MapEntry,
    MapExpr,
    Node,
    Select,
    children,
)
from kubekit.cel.types import is_optional
from kubekit.cel.values import Optional, Uint, Value, key_of

_CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})
_PRIMITIVE: Final = frozenset({bool, float, int, str, Uint})


class Plan:
    """An expression to run. ``slots`` has the slot of each variable, ``size`` the number of slots."""

    def __init__(self, tree: Node, variables: tuple[str, ...]) -> None:
        self.slots = {name: position for position, name in enumerate(variables)}
        self.size = len(variables)
        self._scopes: list[dict[str, int]] = []
        self.run: Run = self._step(tree).run

    def _step(self, node: Node) -> Step:
        return self._PLANS[type(node)](self, node)

    def _literal(self, node: AnyNode) -> Step:
        return steps.constant(node.value)

    def _ident(self, node: AnyNode) -> Step:
        if node.constant is not None:
            return steps.constant(node.constant)
        for scope in reversed(self._scopes):
            if node.name in scope:
                return steps.variable(scope[node.name], node.name, may_miss=False)
        name = node.name.removeprefix(".")
        return steps.variable(self.slots[name], name, may_miss=True)

    def _select(self, node: AnyNode) -> Step:
        if node.constant is not None:
            return steps.constant(node.constant)
        operand = self._step(node.operand)
        if node.test:
            return steps.tested(operand, node.name)
        if is_optional(node.operand.type):
            return steps.optionally(operand, steps.constant(node.name).run)
        return steps.selected(operand, node.name)

    def _call(self, node: AnyNode) -> Step:
        plan = self._SPECIAL.get(node.function)
        if plan is not None:
            return plan(self, node)
        planned = [self._step(arg) for arg in _arguments(node)]
        if node.function in _CONVERSIONS and len(planned) == 1 and planned[0].is_constant:
            return _computed(node, planned[0].constant)
        if node.function == "@in" and node.overloads == ["in_list"] and planned[1].is_constant:
            membership = _membership(planned[0], planned[1].constant)
            if membership is not None:
                return membership
        if node.function in _PATTERNS and planned[1].is_constant:
            _check_pattern(planned[1].constant)
            return _called(node, planned, strict=True)
        return _called(node, planned)

    def _conjunction(self, node: Call) -> Step:
        terms = [self._step(arg).run for arg in node.args]
        return steps.conjunction(terms, stop=node.function == "_||_")

    def _choice(self, node: Call) -> Step:
        condition, first, second = map(self._step, node.args)
        return steps.choice(condition.run, first.path, second.path)

    def _index(self, node: Call) -> Step:
        operand, key = map(self._step, node.args)
        if is_optional(node.args[0].type):
            return steps.optionally(operand, key.path)
        return steps.indexed(operand, key.path)

    def _optional(self, node: Call) -> Step:
        operand, key = map(self._step, node.args)
        return steps.optionally(operand, key.path)

    def _either(self, node: Call) -> Step:
        assert node.target is not None
        first, second = self._step(node.target), self._step(node.args[0])
        return steps.either(first.run, second.run, unwrap=node.function == "orValue")

    def _list(self, node: AnyNode) -> Step:
        planned = [self._step(element) for element in node.elements]
        if all(step.is_constant for step in planned) and not node.optionals:
            return steps.constant([step.constant for step in planned])
        runs = [(step.run, at in node.optionals) for at, step in enumerate(planned)]

        def run(frame: Frame) -> list[Any]:
            frame.cost += LIST
            values = [(element(frame), may_miss) for element, may_miss in runs]
            return [
                value.value if may_miss else value
                for value, may_miss in values
                if not may_miss or _present(value)
            ]

        return Step(run)

    def _map(self, node: AnyNode) -> Step:
        planned = [self._entry(entry) for entry in node.entries]
        is_constant = all(
            key.is_constant and value.is_constant and not may_miss
            for key, value, may_miss in planned
        )

        def run(frame: Frame) -> dict[Any, Any]:
            frame.cost += MAP
            result: dict[Any, Any] = {}
            for key, value, may_miss in planned:
                name, content = _key(key.run(frame)), value.run(frame)
                if not may_miss:
                    result[name] = content
                elif _present(content):
                    result[name] = content.value
                else:
                    result.pop(name, None)
            return result

        return steps.constant(run(Frame([], 0))) if is_constant else Step(run)

    def _entry(self, entry: MapEntry) -> tuple[Step, Step, bool]:
        return self._step(entry.key), self._step(entry.value), entry.optional

    def _fold(self, node: AnyNode) -> Step:
        if node.kind is FoldKind.BIND:
            return self._bound(node)
        ranged = self._step(node.range).run
        slots = self._opened(node.variables)
        predicate = self._step(node.predicate) if node.predicate is not None else None
        transform = self._step(node.transform) if node.transform is not None else None
        self._scopes.pop()
        return fold(node.kind, Loop(ranged, slots, predicate, transform))

    def _bound(self, node: Fold) -> Step:
        """A bound value, which is computed only if it is used."""
        start = self._step(node.start).run
        (slot,) = self._opened((node.accumulator,))
        result = self._step(node.result).run
        self._scopes.pop()
        if not _uses(node.result, node.accumulator):
            return Step(result)

        def run(frame: Frame) -> Value:
            frame.slots[slot] = start(frame)
            return result(frame)

        return Step(run)

    def _opened(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """A scope with new variables."""
        slots = tuple(range(self.size, self.size + len(names)))
        self.size += len(names)
        self._scopes.append(dict(zip(names, slots, strict=True)))
        return slots

    _PLANS: Final = {
        Literal: _literal,
        Ident: _ident,
        Select: _select,
        Call: _call,
        ListExpr: _list,
        MapExpr: _map,
        Fold: _fold,
    }
    _SPECIAL: Final = {
        "_&&_": _conjunction,
        "_||_": _conjunction,
        "_?_:_": _choice,
        "_[_]": _index,
        "_[?_]": _optional,
        "_?._": _optional,
        "or": _either,
        "orValue": _either,
    }


def _arguments(node: Call) -> list[Node]:
    return [*([] if node.target is None else [node.target]), *node.args]


def _called(node: Call, planned: list[Step], *, strict: bool = False) -> Step:
    operate = steps.operation([OVERLOADS[id_] for id_ in node.overloads])
    cost = call_cost(node.function, node.overloads)
    runs = [step.run for step in planned]
    if not strict and len(runs) == 1:
        return steps.unary(operate, cost, runs[0])
    if not strict and len(runs) == 2:  # noqa: PLR2004 - a call of two
        return steps.binary(operate, cost, *runs)
    return steps.call(operate, cost, runs)


def _computed(node: Call, value: Value) -> Step:
    return steps.constant(steps.operation([OVERLOADS[id_] for id_ in node.overloads])(value))


def _membership(value: Step, items: Value) -> Step | None:
    if not items:
        return steps.constant(False)  # noqa: FBT003 - the value
    if all(type(item) in _PRIMITIVE for item in items):
        return steps.member_of(value.run, items)
    return None


def _check_pattern(value: Value) -> None:
    if type(value) is str:
        try:
            regexes.pattern(value)
        except regexes.BadPattern as error:
            raise EvaluationError(str(error)) from error


def _present(value: Value) -> bool:
    if type(value) is not Optional:
        raise EvaluationError("cannot initialize optional entry from a value that is not optional")
    return value.has_value


def _key(value: Value) -> Value:
    try:
        hash(value)
    except TypeError as error:
        raise EvaluationError("unsupported key type") from error
    return key_of(value)


def _uses(node: Node, name: str) -> bool:
    pending = [node]
    while pending:
        current = pending.pop()
        if type(current) is Ident and current.name == name:
            return True
        pending += children(current)
    return False
