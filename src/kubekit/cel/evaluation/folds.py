"""The loops that macros become, one for each kind.

Each loop counts the cost that Kubernetes counts for the expansion of the macro: reading the
accumulator, evaluating the loop condition, and adding to the accumulator.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from kubekit.cel.costs.call_costs import LIST
from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.evaluation.steps import Frame, Run, Step, exceeded
from kubekit.cel.libraries.standard import shown
from kubekit.cel.operations.comparison import LISTS, MAPS, find
from kubekit.cel.operations.value_types import kind_name
from kubekit.cel.operations.views import MISSING
from kubekit.cel.syntax.tree import FoldKind
from kubekit.cel.values import Value, key_of, keys_of


@dataclass(frozen=True, slots=True)
class Loop:
    """The parts of a fold, planned. ``slots`` are the slots of its variables."""

    range: Run
    slots: tuple[int, ...]
    predicate: Step | None
    transform: Step | None


def fold(kind: FoldKind, loop: Loop) -> Step:
    return _FOLDS[kind](loop)


def _bindings(loop: Loop, frame: Frame) -> Iterator[Any]:
    """The elements of the range, each put in its slots as it comes."""
    values = loop.range(frame)
    slots = frame.slots
    if len(loop.slots) == 1:
        slot = loop.slots[0]
        for value in _iterated(values):
            slots[slot] = value
            yield value
            if frame.cost > frame.limit:
                raise exceeded()
        return
    first, second = loop.slots
    for key, value in _pairs(values):
        slots[first], slots[second] = key, value
        yield key
        if frame.cost > frame.limit:
            raise exceeded()


def _iterated(values: Value) -> Value:
    kind = type(values)
    if kind in LISTS:
        return values
    if kind in MAPS:
        return keys_of(values)
    raise EvaluationError(f"got '{kind_name(values)}', expected iterable type")


def _pairs(values: Value) -> Iterator[tuple[Any, Any]]:
    kind = type(values)
    if kind in LISTS:
        yield from enumerate(values)
    elif kind in MAPS:
        for key in keys_of(values):
            yield key, find(values, key)
    else:
        raise EvaluationError(f"unsupported comprehension range type: {kind_name(values)}")


def _quantifier(loop: Loop, *, stop: bool, condition_cost: int) -> Step:
    """Whether all, or any, elements match. An error counts only if no element decides the result."""
    assert loop.predicate is not None
    predicate = loop.predicate.run

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        is_decided = False
        for _ in _bindings(loop, frame):
            frame.cost += condition_cost
            if is_decided:
                break
            frame.cost += 1
            try:
                value = predicate(frame)
            except EvaluationError as error:
                failure = failure or error
                continue
            if value is stop:
                is_decided = True
            elif type(value) is not bool:
                failure = failure or NoSuchOverload()
        frame.cost += 1
        if failure is not None and not is_decided:
            raise failure
        return stop if is_decided else not stop

    return Step(run)


def _all(loop: Loop) -> Step:
    return _quantifier(loop, stop=False, condition_cost=2)


def _exists(loop: Loop) -> Step:
    return _quantifier(loop, stop=True, condition_cost=3)


def _exists_one(loop: Loop) -> Step:
    def keep(frame: Frame, _element: Value) -> None:
        frame.cost += 2

    collect = _collector(loop, keep, closing=2)
    return Step(lambda frame: collect(frame) == 1)


def _list(loop: Loop) -> Step:
    assert loop.transform is not None
    transform = loop.transform.run
    step_cost = 2 if loop.transform.is_constant else 2 + LIST

    def run(frame: Frame) -> list[Any]:
        result: list[Any] = []

        def keep(frame: Frame, _element: Value) -> None:
            frame.cost += step_cost
            result.append(transform(frame))

        _collector(loop, keep)(frame)
        return result

    return Step(run)


def _map(loop: Loop) -> Step:
    assert loop.transform is not None
    transform = loop.transform.run

    def run(frame: Frame) -> dict[Any, Any]:
        result: dict[Any, Any] = {}

        def keep(frame: Frame, element: Value) -> None:
            frame.cost += 3
            _insert(result, element, transform(frame))

        _collector(loop, keep)(frame)
        return result

    return Step(run)


def _entries(loop: Loop) -> Step:
    assert loop.transform is not None
    transform = loop.transform.run

    def run(frame: Frame) -> dict[Any, Any]:
        result: dict[Any, Any] = {}

        def keep(frame: Frame, _element: Value) -> None:
            frame.cost += 2
            added = transform(frame)
            if type(added) not in MAPS:
                raise NoSuchOverload
            for key in keys_of(added):
                _insert(result, key, find(added, key))

        _collector(loop, keep)(frame)
        return result

    return Step(run)


def _collector(
    loop: Loop, keep: Callable[[Frame, Any], None], closing: int = 1
) -> Callable[[Frame], int]:
    """The loop that counts the matching elements. ``closing`` is its last cost.

    An error does not end it: the remaining elements are still counted, and the error is raised at the
    end. An error of the condition replaces an earlier one.
    """
    predicate = loop.predicate.run if loop.predicate is not None else None

    def collect(frame: Frame) -> int:
        failure: EvaluationError | None = None
        count = 0
        for element in _bindings(loop, frame):
            try:
                matches = True if predicate is None else _decided(predicate(frame))
            except EvaluationError as error:
                failure = error
                continue
            if not matches:
                continue
            count += 1
            try:
                keep(frame, element)
            except EvaluationError as error:
                failure = failure or error
        frame.cost += closing
        if failure is not None:
            raise failure
        return count

    return collect


def _decided(value: Value) -> bool:
    if type(value) is not bool:
        raise NoSuchOverload
    return value


def _insert(result: dict[Any, Any], key: Value, value: Value) -> None:
    if result.setdefault(key_of(key), MISSING) is not MISSING:
        raise EvaluationError(f"insert failed: key {shown(key)} already exists")
    result[key_of(key)] = value


_FOLDS: Final[dict[FoldKind, Callable[[Loop], Step]]] = {
    FoldKind.ALL: _all,
    FoldKind.EXISTS: _exists,
    FoldKind.EXISTS_ONE: _exists_one,
    FoldKind.LIST: _list,
    FoldKind.MAP: _map,
    FoldKind.ENTRIES: _entries,
}
