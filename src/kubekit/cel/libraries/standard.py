"""The operators and functions of the language itself."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from kubekit.cel.declarations import Overload, function, method, operator
from kubekit.cel.errors import EvaluationError, NoSuchOverload
from kubekit.cel.libraries.regexes import matched
from kubekit.cel.operations import arithmetic, conversions
from kubekit.cel.operations.comparison import (
    COMPARABLE,
    LISTS,
    MAPS,
    compare,
    contains,
    equals,
    find,
)
from kubekit.cel.operations.times import in_zone
from kubekit.cel.operations.value_types import kind_name
from kubekit.cel.operations.views import MISSING
from kubekit.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    param,
    type_of,
)
from kubekit.cel.values import Timestamp, TypeValue, Uint, Value

_A: Final = param("A")
_B: Final = param("B")
_LIST: Final = list_of(_A)
_MAP: Final = map_of(_A, _B)
_NUMBERS: Final = {"int64": INT, "uint64": UINT, "double": DOUBLE}
_ORDERED: Final = {
    "bool": BOOL,
    **_NUMBERS,
    "string": STRING,
    "bytes": BYTES,
    "timestamp": TIMESTAMP,
    "duration": DURATION,
}


def index(container: Value, key: Value) -> Value:
    """The element at the index or under the key."""
    found = lookup(container, key)
    if found is MISSING:
        kind = "index out of bounds" if type(container) in LISTS else "no such key"
        raise EvaluationError(f"{kind}: {shown(key)}")
    return found


def lookup(container: Value, key: Value) -> Value:
    """The element, or `MISSING`."""
    if type(container) in MAPS:
        return find(container, key)
    if type(container) not in LISTS:
        return MISSING
    position = _position(key)
    return container[position] if 0 <= position < len(container) else MISSING


def shown(key: Value) -> str:
    """A key or an index as messages show it."""
    try:
        return conversions.to_string(key)
    except NoSuchOverload:
        return kind_name(key)


def size(value: Value) -> int:
    kind = type(value)
    if kind is str or kind is bytes or kind in LISTS or kind in MAPS:
        return len(value)
    raise NoSuchOverload("no such overload: size")


def contains_value(value: Value, container: Value) -> bool:
    if type(container) in LISTS:
        return contains(container, value)
    if type(container) in MAPS:
        return find(container, value) is not MISSING
    raise NoSuchOverload


def negated(value: Value) -> bool:
    if type(value) is not bool:
        raise NoSuchOverload
    return not value


def _position(key: Value) -> int:
    if type(key) is int or type(key) is Uint:
        return int(key)
    if type(key) is float and key.is_integer():
        return int(key)
    raise EvaluationError(f"unsupported index type '{kind_name(key)}' in list")


def _less(first: Value, second: Value) -> bool:
    if type(first) is int and type(second) is int:
        return first < second
    return _compared("_<_", first, second) < 0


def _less_or_equal(first: Value, second: Value) -> bool:
    if type(first) is int and type(second) is int:
        return first <= second
    return _compared("_<=_", first, second) <= 0


def _greater(first: Value, second: Value) -> bool:
    if type(first) is int and type(second) is int:
        return first > second
    return _compared("_>_", first, second) > 0


def _greater_or_equal(first: Value, second: Value) -> bool:
    if type(first) is int and type(second) is int:
        return first >= second
    return _compared("_>=_", first, second) >= 0


def _compared(name: str, first: Value, second: Value) -> int:
    if type(first) not in COMPARABLE:
        raise NoSuchOverload(f"no such overload: {name}")
    return compare(first, second)


_COMPARISONS: Final = {
    "_<_": ("less", _less),
    "_<=_": ("less_equals", _less_or_equal),
    "_>_": ("greater", _greater),
    "_>=_": ("greater_equals", _greater_or_equal),
}


def _unequal(first: Value, second: Value) -> bool:
    return not equals(first, second)


def _type_value(value: Value) -> TypeValue:
    return TypeValue(kind_name(value))


def _itself(value: Value) -> Value:
    return value


def _planned(*_args: Value) -> Value:
    """Never called: an operator that does not evaluate all its operands has a plan in `planning`."""
    raise AssertionError


def _arithmetic() -> Iterator[Overload]:
    for name, kind in (*_NUMBERS.items(), ("string", STRING), ("bytes", BYTES), ("list", _LIST)):
        yield operator("_+_", f"add_{name}", (kind, kind), kind, arithmetic.add)
    for name, first, second, result in (
        ("duration_duration", DURATION, DURATION, DURATION),
        ("duration_timestamp", DURATION, TIMESTAMP, TIMESTAMP),
        ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP),
    ):
        yield operator("_+_", f"add_{name}", (first, second), result, arithmetic.add)
    for name, first, second, result in (
        ("duration_duration", DURATION, DURATION, DURATION),
        ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP),
        ("timestamp_timestamp", TIMESTAMP, TIMESTAMP, DURATION),
    ):
        yield operator("_-_", f"subtract_{name}", (first, second), result, arithmetic.subtract)
    for name, kind in _NUMBERS.items():
        yield operator("_-_", f"subtract_{name}", (kind, kind), kind, arithmetic.subtract)
        yield operator("_*_", f"multiply_{name}", (kind, kind), kind, arithmetic.multiply)
        yield operator("_/_", f"divide_{name}", (kind, kind), kind, arithmetic.divide)
    for name, kind in (("int64", INT), ("uint64", UINT)):
        yield operator("_%_", f"modulo_{name}", (kind, kind), kind, arithmetic.modulo)
    for name, kind in (("int64", INT), ("double", DOUBLE)):
        yield operator("-_", f"negate_{name}", (kind,), kind, arithmetic.negate)


def _comparisons() -> Iterator[Overload]:
    for symbol, (word, run) in _COMPARISONS.items():
        for name, kind in _ORDERED.items():
            yield operator(symbol, f"{word}_{name}", (kind, kind), BOOL, run)
        for first, one in _NUMBERS.items():
            for second, other in _NUMBERS.items():
                if first != second:
                    yield operator(symbol, f"{word}_{first}_{second}", (one, other), BOOL, run)
    yield operator("_==_", "equals", (_A, _A), BOOL, equals)
    yield operator("_!=_", "not_equals", (_A, _A), BOOL, _unequal)


def _logic() -> Iterator[Overload]:
    yield operator("_?_:_", "conditional", (BOOL, _A, _A), _A, _planned)
    yield operator("_&&_", "logical_and", (BOOL, BOOL), BOOL, _planned)
    yield operator("_||_", "logical_or", (BOOL, BOOL), BOOL, _planned)
    yield operator("!_", "logical_not", (BOOL,), BOOL, negated)
    yield operator("@not_strictly_false", "not_strictly_false", (BOOL,), BOOL, _planned)


def _containers() -> Iterator[Overload]:
    optional_list, optional_map = optional_of(_LIST), optional_of(_MAP)
    yield operator("_[_]", "index_list", (_LIST, INT), _A, _planned)
    yield operator("_[_]", "index_map", (_MAP, _A), _B, _planned)
    yield operator(
        "_[_]", "optional_list_index_int", (optional_list, INT), optional_of(_A), _planned
    )
    yield operator(
        "_[_]", "optional_map_index_value", (optional_map, _A), optional_of(_B), _planned
    )
    yield operator("_[?_]", "list_optindex_optional_int", (_LIST, INT), optional_of(_A), _planned)
    yield operator(
        "_[?_]",
        "optional_list_optindex_optional_int",
        (optional_list, INT),
        optional_of(_A),
        _planned,
    )
    yield operator("_[?_]", "map_optindex_optional_value", (_MAP, _A), optional_of(_B), _planned)
    yield operator(
        "_[?_]",
        "optional_map_optindex_optional_value",
        (optional_map, _A),
        optional_of(_B),
        _planned,
    )
    yield operator("@in", "in_list", (_A, _LIST), BOOL, contains_value)
    yield operator("@in", "in_map", (_A, _MAP), BOOL, contains_value)
    for name, kind in (("bytes", BYTES), ("list", _LIST), ("map", _MAP), ("string", STRING)):
        yield operator("size", f"size_{name}", (kind,), INT, size)
        yield Overload("size", f"{name}_size", (kind,), INT, size, member=True, open=True)
    yield operator("cel.@mapInsert", "map_insert_key_value", (_MAP, _A, _B), _MAP, _planned)
    yield operator("cel.@mapInsert", "map_insert_map", (_MAP, _MAP), _MAP, _planned)


def _conversions() -> Iterator[Overload]:
    table = (
        ("bool", BOOL, conversions.to_bool, (BOOL, STRING)),
        ("bytes", BYTES, conversions.to_bytes, (BYTES, STRING)),
        ("double", DOUBLE, conversions.to_double, (DOUBLE, INT, STRING, UINT)),
        ("duration", DURATION, conversions.to_duration, (DURATION, INT, STRING)),
        ("int", INT, conversions.to_int, (INT, DOUBLE, DURATION, STRING, TIMESTAMP, UINT)),
        (
            "string",
            STRING,
            conversions.to_string,
            (STRING, BOOL, BYTES, DOUBLE, DURATION, INT, TIMESTAMP, UINT),
        ),
        ("timestamp", TIMESTAMP, conversions.to_timestamp, (TIMESTAMP, INT, STRING)),
        ("uint", UINT, conversions.to_uint, (UINT, DOUBLE, INT, STRING)),
    )
    for name, result, run, sources in table:
        for source in sources:
            yield function(name, f"{source}_to_{name}", (source,), result, run)
    yield operator("dyn", "to_dyn", (_A,), DYN, _itself)
    yield operator("type", "type", (_A,), type_of(_A), _type_value)


def _texts() -> Iterator[Overload]:
    for name, id_, run in (
        ("contains", "contains_string", lambda text, part: part in text),
        ("endsWith", "ends_with_string", str.endswith),
        ("startsWith", "starts_with_string", str.startswith),
    ):
        yield method(name, id_, (STRING, STRING), BOOL, run)
    yield function("matches", "matches", (STRING, STRING), BOOL, matched)
    yield method("matches", "matches_string", (STRING, STRING), BOOL, matched)


_FIELDS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda at: at.year,
    "getMonth": lambda at: at.month - 1,
    "getDayOfYear": lambda at: at.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda at: at.day - 1,
    "getDate": lambda at: at.day,
    "getDayOfWeek": lambda at: at.isoweekday() % 7,
    "getHours": lambda at: at.hour,
    "getMinutes": lambda at: at.minute,
    "getSeconds": lambda at: at.second,
    "getMilliseconds": lambda at: at.microsecond // 1000,
}
_UNITS: Final = {
    "getHours": 3600 * 10**9,
    "getMinutes": 60 * 10**9,
    "getSeconds": 10**9,
    "getMilliseconds": 10**6,
}


def _times() -> Iterator[Overload]:
    for name in _FIELDS:
        run = _field_reader(name)
        yield method(name, f"timestamp_{name}", (TIMESTAMP,), INT, run)
        yield method(name, f"timestamp_{name}_with_tz", (TIMESTAMP, STRING), INT, run)
    for name in _UNITS:
        yield method(name, f"duration_{name}", (DURATION,), INT, _unit_reader(name))


def _field_reader(name: str) -> Value:
    read = _FIELDS[name]

    def run(value: Timestamp, zone: str = "UTC") -> int:
        return read(in_zone(value, zone))

    return run


def _unit_reader(name: str) -> Value:
    unit = _UNITS[name]
    return lambda value: arithmetic.divide(value.nanos, unit)


OVERLOADS: Final[tuple[Overload, ...]] = (
    *_logic(),
    *_arithmetic(),
    *_comparisons(),
    *_containers(),
    *_conversions(),
    *_texts(),
    *_times(),
)
TYPES: Final[dict[str, Type]] = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "google.protobuf.Duration": DURATION,
    "google.protobuf.Timestamp": TIMESTAMP,
    "int": INT,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "optional_type": optional_of(DYN),
    "string": STRING,
    "type": TYPE,
    "uint": UINT,
}
