"""The equality and the order of values."""

import math
from collections.abc import Callable
from typing import Any, Final

from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.operations import work
from kubekit.cel.operations.views import MISSING, Entries, Items, item_key
from kubekit.cel.values import (
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    key_of,
    keys_of,
)

LISTS: Final = frozenset({list, Items})
MAPS: Final = frozenset({dict, Entries})
_NUMBERS: Final = frozenset({int, Uint, float})
_PLAIN: Final = frozenset(
    {str, int, bool, bytes, float, Uint, type(None), Timestamp, Duration, TypeValue}
)


def equals(first: Value, second: Value) -> bool:
    """Whether the values are equal. Numbers are compared across their types."""
    one, other = type(first), type(second)
    if one is other and one in _PLAIN:
        return bool(first == second)
    if one in _NUMBERS and other in _NUMBERS:
        return _numbers_equal(first, second)
    if one in LISTS and other in LISTS:
        return _lists_equal(first, second)
    if one in MAPS and other in MAPS:
        return _maps_equal(first, second)
    return one is other and _opaques_equal(first, second)


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1. Raises where the values have no order."""
    one, other = type(first), type(second)
    if one in _NUMBERS and other in _NUMBERS:
        return _compare_numbers(first, second)
    if one is not other or one not in _ORDERED:
        raise NoSuchOverload
    key = _ORDERED[one]
    return _sign(key(first), key(second))


def find(mapping: Value, key: Value) -> Value:
    """The value under the key, or `MISSING`. A number finds any key that equals it."""
    if type(mapping) is Entries:
        return mapping.find(key)
    if type(key) in LISTS or type(key) in MAPS:
        return MISSING
    return mapping.get(key_of(key), MISSING)


def contains(items: Value, value: Value) -> bool:
    work.spend(len(items))
    return any(equals(item, value) for item in items)


def _numbers_equal(first: float, second: float) -> bool:
    if type(first) is float or type(second) is float:
        return _as_double(first) == _as_double(second)
    return int(first) == int(second)


def _compare_numbers(first: float, second: float) -> int:
    if type(first) is float or type(second) is float:
        low, high = _as_double(first), _as_double(second)
        if math.isnan(low) or math.isnan(high):
            raise EvaluationError("NaN values cannot be ordered")
        return _sign(low, high)
    return _sign(first, second)


def _as_double(value: float) -> float:
    """A number as Go compares it with a double: rounded to one."""
    return float(value)


def _lists_equal(first: Value, second: Value) -> bool:
    if len(first) != len(second):
        return False
    work.spend(len(first))
    if type(first) is Items and (first.shape.keys or first.shape.is_set):
        return _collections_equal(first, second)
    return all(equals(one, other) for one, other in zip(first, second, strict=True))


def _collections_equal(first: Items, second: Value) -> bool:
    """Whether a set or a list-map has the same items as another list, in any order."""
    by_key = {item_key(first, item): item for item in first}
    for item in second:
        match = by_key.get(item_key(first, item), MISSING)
        if match is MISSING or not equals(match, item):
            return False
    return True


def _maps_equal(first: Value, second: Value) -> bool:
    if len(first) != len(second):
        return False
    work.spend(len(first))
    for key in keys_of(first):
        one, other = find(first, key), find(second, key)
        if one is MISSING and other is MISSING:
            continue
        if one is MISSING or other is MISSING or not equals(one, other):
            return False
    if type(first) is Entries and type(second) is Entries:
        return _hidden_equal(first, second)
    return True


def _hidden_equal(first: Entries, second: Entries) -> bool:
    """Whether the members that are not in the schema are the same, if both documents have them."""
    if first.shape.every is not None:
        return True
    known = {key for key, _ in first.shape.fields.values()}
    return all(
        same(value, second.document[key])
        for key, value in first.document.items()
        if key not in known and key in second.document
    )


def same(first: Value, second: Value) -> bool:
    """Whether two documents are the same; true is not 1, and 1 is not 1.0."""
    if type(first) is not type(second):
        return False
    if type(first) is dict:
        return first.keys() == second.keys() and all(
            same(value, second[key]) for key, value in first.items()
        )
    if type(first) is list:
        return len(first) == len(second) and all(
            same(one, other) for one, other in zip(first, second, strict=True)
        )
    return bool(first == second)


def _opaques_equal(first: Value, second: Value) -> bool:
    if type(first) is not Optional:
        return bool(first == second)
    if first.has_value != second.has_value:
        return False
    return not first.has_value or equals(first.value, second.value)


def _sign(low: Value, high: Value) -> int:
    return int(low > high) - int(low < high)


def _itself(value: Value) -> Value:
    return value


_ORDERED: Final[dict[type, Callable[[Any], Any]]] = {
    bool: _itself,
    str: _itself,  # by code point, which is also the order of the bytes in UTF-8
    bytes: _itself,
    Timestamp: lambda value: value.nanos,
    Duration: lambda value: value.nanos,
}
COMPARABLE: Final = _NUMBERS | _ORDERED.keys()
