"""The operators on numbers, times, texts and lists. Operands must have the same type; overflow is an error."""

import math
from collections.abc import Callable
from typing import Any, Final

from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.operations import work
from kubekit.cel.operations.comparison import LISTS
from kubekit.cel.operations.times import checked_duration, checked_timestamp
from kubekit.cel.operations.views import Items, merged
from kubekit.cel.values import Duration, Timestamp, Uint, Value

_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1
_RECEIVERS: Final = frozenset({str, Duration, Timestamp})
_HIGHEST_UINT: Final = 2**64 - 1


def add(first: Value, second: Value) -> Value:
    if type(first) is int and type(second) is int:
        return checked_int(first + second)
    if type(first) in LISTS and type(second) in LISTS:
        return _joined(first, second)
    return _operated("_+_", _ADDITIONS, first, second)


def subtract(first: Value, second: Value) -> Value:
    return _operated("_-_", _SUBTRACTIONS, first, second)


def multiply(first: Value, second: Value) -> Value:
    return _operated("_*_", _MULTIPLICATIONS, first, second)


def divide(first: Value, second: Value) -> Value:
    return _operated("_/_", _DIVISIONS, first, second)


def modulo(first: Value, second: Value) -> Value:
    return _operated("_%_", _REMAINDERS, first, second)


def negate(value: Value) -> Value:
    if type(value) is int:
        return checked_int(-value)
    if type(value) is float:
        return -value
    raise _refused("-_", value, frozenset({bool}))


def checked_int(value: int) -> int:
    if _LOWEST <= value <= _HIGHEST:
        return value
    raise EvaluationError("integer overflow")


def checked_uint(value: int) -> Uint:
    if 0 <= value <= _HIGHEST_UINT:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


_Operate = Callable[[Any, Any], Any]
_Table = dict[tuple[type, type], _Operate]


def _operated(name: str, table: _Table, first: Value, second: Value) -> Value:
    operate = table.get((type(first), type(second)))
    if operate is not None:
        return operate(first, second)
    operands = frozenset({kind for kind, _ in table})
    raise _refused(name, first, operands | LISTS if name == "_+_" else operands)


def _refused(name: str, first: Value, operands: frozenset[type]) -> NoSuchOverload:
    """The error names the operator only if no operand of that type is possible, as in Kubernetes."""
    if type(first) in operands | _RECEIVERS:
        return NoSuchOverload()
    return NoSuchOverload(f"no such overload: {name}")


def _joined(first: Value, second: Value) -> Value:
    work.spend(len(first) + len(second))
    if type(first) is Items and (first.shape.is_set or first.shape.keys):
        return merged(first, second)
    return [*first, *second]


def _quotient(first: int, second: int) -> int:
    """The quotient, rounded towards zero."""
    if second == 0:
        raise EvaluationError("division by zero")
    whole = abs(first) // abs(second)
    return whole if (first < 0) == (second < 0) else -whole


def _remainder(first: int, second: int) -> int:
    """The remainder, with the sign of the first operand."""
    if second == 0:
        raise EvaluationError("modulus by zero")
    if first == _LOWEST and second == -1:
        raise EvaluationError("integer overflow")
    rest = abs(first) % abs(second)
    return -rest if first < 0 else rest


def _divided(first: float, second: float) -> float:
    if second != 0:
        return first / second
    if first == 0 or math.isnan(first):
        return math.nan
    return math.copysign(math.inf, first) * math.copysign(1, second)


_ADDITIONS: Final[_Table] = {
    (int, int): lambda a, b: checked_int(a + b),
    (Uint, Uint): lambda a, b: checked_uint(int(a) + b),
    (float, float): lambda a, b: a + b,
    (str, str): lambda a, b: a + b,
    (bytes, bytes): lambda a, b: a + b,
    (Duration, Duration): lambda a, b: checked_duration(a.nanos + b.nanos),
    (Duration, Timestamp): lambda a, b: checked_timestamp(a.nanos + b.nanos, b.offset),
    (Timestamp, Duration): lambda a, b: checked_timestamp(a.nanos + b.nanos, a.offset),
}
_SUBTRACTIONS: Final[_Table] = {
    (int, int): lambda a, b: checked_int(a - b),
    (Uint, Uint): lambda a, b: checked_uint(int(a) - b),
    (float, float): lambda a, b: a - b,
    (Duration, Duration): lambda a, b: checked_duration(a.nanos - b.nanos),
    (Timestamp, Duration): lambda a, b: checked_timestamp(a.nanos - b.nanos, a.offset),
    (Timestamp, Timestamp): lambda a, b: checked_duration(a.nanos - b.nanos),
}
_MULTIPLICATIONS: Final[_Table] = {
    (int, int): lambda a, b: checked_int(a * b),
    (Uint, Uint): lambda a, b: checked_uint(int(a) * b),
    (float, float): lambda a, b: a * b,
}
_DIVISIONS: Final[_Table] = {
    (int, int): lambda a, b: checked_int(_quotient(a, b)),
    (Uint, Uint): lambda a, b: checked_uint(_quotient(a, b)),
    (float, float): _divided,
}
_REMAINDERS: Final[_Table] = {
    (int, int): _remainder,
    (Uint, Uint): lambda a, b: checked_uint(_remainder(a, b)),
}
