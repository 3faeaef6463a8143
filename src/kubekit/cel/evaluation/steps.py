"""The steps of a planned expression.

Each step is a function of the frame, which has the variables and the cost so far. Costs are added as
in Kubernetes, also before an error. The limit is checked in loops, in calls with large arguments, and
at the end.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from kubekit.cel.costs.call_costs import Cost
from kubekit.cel.declarations import Overload
from kubekit.cel.errors import CostExceeded, EvaluationError, NoSuchOverload
from kubekit.cel.libraries.standard import index, lookup
from kubekit.cel.operations.comparison import LISTS, MAPS, find
from kubekit.cel.operations.value_types import accepted, kind_name
from kubekit.cel.operations.views import MISSING, Entries
from kubekit.cel.values import NONE, Optional, Uint, Value, some

_NUMBERS: Final = frozenset({int, float, Uint})
_TERSE: Final = frozenset({"contains", "endsWith", "startsWith", "matches"})


class Frame:
    """One evaluation: its variables, its cost so far, and its limit."""

    __slots__ = ("cost", "limit", "slots")

    def __init__(self, slots: list[Any], limit: int) -> None:
        self.slots = slots
        self.cost = 0
        self.limit = limit


Run = Callable[[Frame], Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A planned node.

    ``resolve``, if any, evaluates the node as part of a longer path. A path is counted once, or not at
    all if it starts with a choice: then it is ``free``. ``constant`` is the value of a constant node.
    """

    run: Run
    resolve: Run | None = None
    constant: Value = MISSING
    free: bool = False

    @property
    def path(self) -> Run:
        return self.resolve or self.run

    @property
    def is_constant(self) -> bool:
        return self.constant is not MISSING


def exceeded() -> CostExceeded:
    return CostExceeded("operation cancelled: actual cost limit exceeded")


def constant(value: Value) -> Step:
    return Step(lambda _frame: value, None, value)


def path(resolve: Run, *, free: bool = False) -> Step:
    """A path, which costs 1 in addition to its parts."""
    if free:
        return Step(resolve, resolve, free=True)

    def run(frame: Frame) -> Value:
        frame.cost += 1
        return resolve(frame)

    return Step(run, resolve)


def variable(slot: int, name: str, *, may_miss: bool) -> Step:
    if not may_miss:
        return path(lambda frame: frame.slots[slot])

    def resolve(frame: Frame) -> Value:
        value = frame.slots[slot]
        if value is MISSING:
            raise EvaluationError(f"no such attribute(s): {name}")
        return value

    return path(resolve)


def selected(operand: Step, name: str) -> Step:
    target = operand.path

    def resolve(frame: Frame) -> Value:
        value = target(frame)
        frame.cost += 1
        if type(value) is Optional:  # its type was not known at compile time
            field = _field(value.value, name)
            return NONE if field is MISSING else some(field)
        field = value.find(name) if type(value) is Entries else _field(value, name)
        if field is MISSING:
            raise EvaluationError(f"no such key: {name}")
        return field

    return path(resolve, free=operand.free)


def tested(operand: Step, name: str) -> Step:
    """Whether the field is present."""
    target, cost = operand.path, 0 if operand.free else 1

    def run(frame: Frame) -> bool:
        value = target(frame)
        if type(value) is Optional:
            if not value.has_value:
                return False
            value = value.value
        frame.cost += cost
        return _field(value, name) is not MISSING

    return Step(run)


def indexed(operand: Step, key: Run) -> Step:
    target = operand.path

    def resolve(frame: Frame) -> Value:
        value = target(frame)
        try:
            position = key(frame)
        finally:
            frame.cost += 1
        return index(value, position)

    return path(resolve, free=operand.free)


def optionally(operand: Step, key: Run) -> Step:
    """A field or element that may be missing, of a value that may be missing itself."""
    target = operand.path

    def resolve(frame: Frame) -> Optional:
        value = target(frame)
        if type(value) is Optional:
            if not value.has_value:
                return NONE
            value = value.value
        element = lookup(value, key(frame))
        if element is MISSING:
            return NONE
        frame.cost += 1
        return some(element)

    return path(resolve, free=operand.free)


def _field(value: Value, name: str) -> Value:
    kind = type(value)
    if kind in MAPS:
        return find(value, name)
    if kind in LISTS:
        raise EvaluationError("unsupported index type 'string' in list")
    return MISSING


def conjunction(terms: Sequence[Run], *, stop: bool) -> Step:
    """All terms, or with ``stop`` true any of them. An error counts only if no term decides the result."""

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for term in terms:
            try:
                value = term(frame)
            except EvaluationError as error:
                failure = failure or error
                continue
            if value is stop:
                return bool(stop)
            if type(value) is not bool:
                failure = failure or NoSuchOverload()
        if failure is not None:
            raise failure
        return not stop

    return Step(run)


def choice(condition: Run, first: Run, second: Run) -> Step:
    def run(frame: Frame) -> Value:
        decided = condition(frame)
        if decided is True:
            return first(frame)
        if decided is False:
            return second(frame)
        raise NoSuchOverload

    return Step(run, run, free=True)


def either(first: Run, second: Run, *, unwrap: bool) -> Step:
    """The first optional if it has a value, else the second argument."""

    def run(frame: Frame) -> Value:
        value = first(frame)
        if type(value) is not Optional:
            return value
        if not value.has_value:
            return second(frame)
        return value.value if unwrap else value

    return Step(run)


def member_of(value: Run, items: Sequence[Any]) -> Step:
    """Whether the value equals one of the constants. Numbers are compared across their types."""
    kinds = {type(item) for item in items}
    constants = frozenset(items)
    number = bool(kinds - {str, bool})

    def run(frame: Frame) -> bool:
        candidate = value(frame)
        kind = type(candidate)
        if kind is str or kind is bool:
            return kind in kinds and candidate in constants
        return number and kind in _NUMBERS and candidate in constants

    return Step(run)


def operation(overloads: Sequence[Overload]) -> Callable[..., Any]:
    """The function of the overloads. It refuses values that no overload accepts."""
    first = overloads[0]
    if first.open and all(other.run is first.run for other in overloads):
        return first.run
    if len(overloads) == 1 and len(first.args) == 2:  # noqa: PLR2004 - by far the most
        return _guarded_pair(first)
    guarded = [([accepted(kind) for kind in overload.args], overload.run) for overload in overloads]

    def operate(*args: Value) -> Value:
        for guards, run in guarded:
            if len(guards) == len(args) and all(
                guard is None or type(arg) in guard for guard, arg in zip(guards, args, strict=True)
            ):
                return run(*args)
        raise _refused(first.function, args)

    return operate


def _guarded_pair(overload: Overload) -> Callable[..., Any]:
    first, second = (accepted(kind) for kind in overload.args)
    run, name = overload.run, overload.function

    def operate(one: Value, other: Value) -> Value:
        if (first is None or type(one) in first) and (second is None or type(other) in second):
            return run(one, other)
        raise _refused(name, (one, other))

    return operate


def _refused(function: str, args: Sequence[Value]) -> NoSuchOverload:
    if function in _TERSE:
        return NoSuchOverload()
    return NoSuchOverload(f"no such overload: {function}({', '.join(map(kind_name, args))})")


_FAILED: Final = object()  # an argument that could not be evaluated, when its call is counted


def unary(operate: Callable[..., Any], cost: Cost | None, arg: Run) -> Step:
    def run(frame: Frame) -> Value:
        try:
            value = arg(frame)
        except EvaluationError:
            _spend(frame, 1 if cost is None else cost((_FAILED,)))
            raise
        if cost is None:
            frame.cost += 1
        else:
            _spend(frame, cost((value,)))
        return operate(value)

    return Step(run)


def binary(operate: Callable[..., Any], cost: Cost | None, first: Run, second: Run) -> Step:
    """A call of two arguments. The second is evaluated, and counted, even if the first fails."""

    def run(frame: Frame) -> Value:
        try:
            one = first(frame)
        except EvaluationError:
            other: Value = _FAILED
            with suppress(EvaluationError):
                other = second(frame)
            _spend(frame, 1 if cost is None else cost((_FAILED, other)))
            raise
        try:
            other = second(frame)
        except EvaluationError:
            _spend(frame, 1 if cost is None else cost((one, _FAILED)))
            raise
        if cost is None:
            frame.cost += 1
        else:
            _spend(frame, cost((one, other)))
        return operate(one, other)

    return Step(run)


def call(operate: Callable[..., Any], cost: Cost | None, args: Sequence[Run]) -> Step:
    """A call of any number of arguments, which is counted if all but the last can be evaluated."""
    *firsts, last = args or (lambda _frame: None,)

    def run(frame: Frame) -> Value:
        values = [arg(frame) for arg in firsts]
        if args:
            try:
                values.append(last(frame))
            except EvaluationError:
                _spend(frame, 1 if cost is None else cost((*values, _FAILED)))
                raise
        if cost is None:
            frame.cost += 1
        else:
            _spend(frame, cost(values))
        return operate(*values)

    return Step(run)


def _spend(frame: Frame, cost: int) -> None:
    frame.cost += cost
    if frame.cost > frame.limit:
        raise exceeded()
