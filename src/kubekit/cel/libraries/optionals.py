"""Values that may be missing."""

from typing import Any, Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations.views import Entries, Items
from kubekit.cel.types import BOOL, list_of, optional_of, param
from kubekit.cel.values import NONE, Duration, Optional, Timestamp, Value, some

_V: Final = param("V")
_OPTIONAL: Final = optional_of(_V)
_EMPTY: Final = frozenset({bool, int, float, str, bytes, list, dict, Items, Entries})
_YEAR_ONE: Final = -62_135_596_800 * 10**9  # what Go calls the zero of time


def _of_non_zero(value: Value) -> Optional:
    return NONE if _is_zero(value) else some(value)


def _is_zero(value: Value) -> bool:
    if type(value) is Timestamp:
        return value.nanos == _YEAR_ONE
    if type(value) is Duration:
        return value.nanos == 0
    return value is None or ((type(value) in _EMPTY or isinstance(value, int)) and not value)


def _none() -> Optional:
    return NONE


def _value(optional: Optional) -> Value:
    if not optional.has_value:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _has_value(optional: Optional) -> bool:
    return optional.has_value


def _first(items: Value) -> Optional:
    return some(items[0]) if len(items) else NONE


def _last(items: Value) -> Optional:
    return some(items[len(items) - 1]) if len(items) else NONE


def _unwrap(items: Value) -> list[Any]:
    values = list(items)
    for item in values:
        if type(item) is not Optional:
            raise EvaluationError("value is not optional")
    return [item.value for item in values if item.has_value]


def _planned(*_args: Value) -> Value:
    """Never called: a function that does not evaluate all its arguments has a plan in `planning`."""
    raise AssertionError


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("optional.of", "optional_of", (_V,), _OPTIONAL, some),
    function("optional.ofNonZeroValue", "optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero),
    function("optional.none", "optional_none", (), _OPTIONAL, _none),
    function("optional.unwrap", "optional_unwrap", (list_of(_OPTIONAL),), list_of(_V), _unwrap),
    method("unwrapOpt", "optional_unwrapOpt", (list_of(_OPTIONAL),), list_of(_V), _unwrap),
    method("value", "optional_value", (_OPTIONAL,), _V, _value),
    method("hasValue", "optional_hasValue", (_OPTIONAL,), BOOL, _has_value),
    method("or", "optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL, _planned),
    method("orValue", "optional_orValue_value", (_OPTIONAL, _V), _V, _planned),
    method("first", "list_first", (list_of(_V),), _OPTIONAL, _first),
    method("last", "list_last", (list_of(_V),), _OPTIONAL, _last),
)
