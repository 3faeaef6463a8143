"""Functions on lists, both those of Kubernetes and those of the language's extension."""

from collections.abc import Callable, Iterator
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations import arithmetic, work
from kubekit.cel.operations.comparison import LISTS, compare, contains, equals
from kubekit.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    param,
)
from kubekit.cel.values import Duration, Uint, Value

COMPARABLE: Final[dict[str, Type]] = {
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "bool": BOOL,
    "duration": DURATION,
    "timestamp": TIMESTAMP,
    "string": STRING,
    "bytes": BYTES,
}
_ZEROS: Final[dict[str, Any]] = {
    "int": 0,
    "uint": Uint(0),
    "double": 0.0,
    "duration": Duration(0),
}
_T: Final = param("T")
_LIST: Final = list_of(_T)


def _is_sorted(items: Value) -> bool:
    return all(compare(low, high) <= 0 for low, high in pairwise(items))


def _sum_from(zero: Value) -> Callable[[Any], Any]:
    def run(items: Value) -> Value:
        total = zero
        for item in items:
            total = arithmetic.add(total, item)
        return total

    return run


def _extreme(name: str, sign: int) -> Callable[[Any], Any]:
    def run(items: Value) -> Value:
        values = list(items)
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        best = values[0]
        for value in values[1:]:
            if compare(value, best) == sign:
                best = value
        return best

    return run


def _index_of(items: Value, value: Value) -> int:
    return next((at for at, item in enumerate(items) if equals(item, value)), -1)


def _last_index_of(items: Value, value: Value) -> int:
    values = list(items)
    return next((at for at in reversed(range(len(values))) if equals(values[at], value)), -1)


def _slice(items: Value, start: int, end: int) -> list[Any]:
    asked = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{asked}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{asked}, start index must be less than or equal to end index")
    if len(items) < end:
        raise EvaluationError(f"{asked}, list is length {len(items)}")
    return list(items)[start:end]


def _flatten(items: Value, depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if type(item) in LISTS and depth > 0:
            flat += _flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def _sort(items: Value) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: Value, keys: Value) -> list[Any]:
    order = list(keys)
    if any(type(key) is not type(order[0]) for key in order):
        raise EvaluationError("list elements must have the same type")
    values = list(items)

    def ranked(one: int, other: int) -> int:
        return compare(order[one], order[other])

    return [values[at] for at in sorted(range(len(values)), key=cmp_to_key(ranked))]


def _range(count: int) -> list[int]:
    work.spend(max(count, 0))
    return list(range(count))


def _reverse(items: Value) -> list[Any]:
    return list(items)[::-1]


def _distinct(items: Value) -> list[Any]:
    unique: list[Any] = []
    for item in items:
        if not contains(unique, item):
            unique.append(item)
    return unique


def _of_comparable() -> Iterator[Overload]:
    for name, kind in COMPARABLE.items():
        listed = list_of(kind)
        yield method("isSorted", f"list_{name}_is_sorted_bool", (listed,), BOOL, _is_sorted)
        yield method("max", f"list_{name}_max_{name}", (listed,), kind, _extreme("max", 1))
        yield method("min", f"list_{name}_min_{name}", (listed,), kind, _extreme("min", -1))
        yield method("sort", f"list_{name}_sort", (listed,), listed, _sort)
        sort_by = f"list_{name}_sortByAssociatedKeys"
        yield method("@sortByAssociatedKeys", sort_by, (_LIST, listed), _LIST, _sort_by)


def _of_summable() -> Iterator[Overload]:
    for name, zero in _ZEROS.items():
        kind = COMPARABLE[name]
        yield method("sum", f"list_{name}_sum_{name}", (list_of(kind),), kind, _sum_from(zero))


OVERLOADS: Final[tuple[Overload, ...]] = (
    *_of_comparable(),
    *_of_summable(),
    method("indexOf", "list_a_index_of_int", (_LIST, _T), INT, _index_of),
    method("lastIndexOf", "list_a_last_index_of_int", (_LIST, _T), INT, _last_index_of),
    method("slice", "list_slice", (_LIST, INT, INT), _LIST, _slice),
    method("flatten", "list_flatten", (list_of(_LIST),), _LIST, _flatten),
    method("flatten", "list_flatten_int", (list_of(DYN), INT), list_of(DYN), _flatten),
    method("reverse", "list_reverse", (_LIST,), _LIST, _reverse),
    method("distinct", "list_distinct", (_LIST,), _LIST, _distinct),
    function("lists.range", "lists_range", (INT,), list_of(INT), _range),
)
