"""One value against its own node of a structural schema; its members are checked elsewhere.

The messages are those of Kubernetes, so that a user finds them on the web. Numbers do not
overflow as there: a bound that no integer reaches excludes no integer.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubekit.api.fields import FieldError, Problem, invalid, not_supported, too_long
from kubekit.api.structural.formats import check_of
from kubekit.api.structural.nodes import INT_OR_STRING, Schema, same, showable

Matcher = Callable[[str, str], bool]
"""Whether a pattern is found in a text."""

_TYPES: Final[Mapping[type, tuple[str, str]]] = {
    bool: ("boolean", ""),
    dict: ("object", ""),
    float: ("number", "float64"),
    int: ("integer", "int64"),
    list: ("array", ""),
    str: ("string", ""),
    type(None): ("null", ""),
}
_LARGEST_EXACT: Final = 2**53 - 1  # beyond it a float cannot represent every integer
_LONGEST_SHOWN: Final = 1024  # characters of a pattern, which each error repeats
_NEARLY: Final = 1e-9
_BEYOND: Final = {"int32": 2**31, "int64": 2**63}
_SMALLEST_SPELLED: Final = 1e21  # from here on a float is shown with an exponent
_CONSTRAINTS: Final = frozenset(
    {"allOf", "anyOf", "enum", "format", "maxLength", "minLength", "not", "oneOf", "pattern"}
)


def is_plain(value: object, schema: Schema) -> bool:
    """Whether this is a string or a boolean with no constraint but its type.

    Most values are plain. Checking this first saves building the path of each.
    """
    kind = type(value)
    return (kind is str or kind is bool) and (
        schema.get("type") == _TYPES[kind][0]
        and _CONSTRAINTS.isdisjoint(schema)
        and not schema.get(INT_OR_STRING)
    )


def is_typed(schema: Schema) -> bool:
    """Whether the schema restricts the type of a value."""
    return bool(schema.get(INT_OR_STRING) or schema.get("type") or check_of(schema.get("format")))


def is_integer(value: object) -> bool:
    """Whether Kubernetes reads this as an integer of 64 bits and not as a float."""
    return type(value) is int and -(2**63) <= value < 2**63


def type_error(path: str, value: object, schema: Schema, *, native: bool) -> FieldError | None:
    """The value is of the wrong type. In a native kind, integers have a width too."""
    allowed = _allowed_types(schema)
    kind, width = _type_of(value)
    if value is None and (schema.get("nullable") or not allowed):
        return None
    if kind in allowed or _passes_as(value, allowed):
        beyond = _BEYOND.get(schema.get("format", "")) if native and type(value) is int else None
        if beyond is not None and not -beyond <= value < beyond:  # type: ignore[operator]  # an int
            return type_invalid(path, str(value), schema["format"])
        return None
    is_formatted = check_of(schema.get("format")) is not None
    if is_formatted and value is not None and not isinstance(value, str | list):
        return type_invalid(path, width, schema["format"])
    return type_invalid(path, kind, ",".join(allowed)) if allowed else None


def enum_error(path: str, value: object, schema: Schema) -> FieldError | None:
    """The value is not in the enum. A null is never in it, even if the type allows null."""
    enum = schema.get("enum")
    if not enum or (value is not None and _is_among(value, enum)):
        return None
    names = (name if isinstance(name, str) else _compact(name) for name in enum)
    return not_supported(path, _shown(value), names)


def text_error(path: str, value: str, schema: Schema, matches: Matcher) -> FieldError | None:
    """The first error only, as in Kubernetes: a pattern must not be matched against a megabyte."""
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        return too_long(path, value, schema["maxLength"])
    if "minLength" in schema and len(value) < schema["minLength"]:
        return _should(path, value, f"be at least {schema['minLength']} chars long")
    if schema.get("pattern") and not matches(schema["pattern"], value):
        return _should(path, value, f"match '{schema['pattern'][:_LONGEST_SHOWN]}'")
    return None


def format_error(path: str, value: str, schema: Schema) -> FieldError | None:
    check = check_of(schema.get("format"))
    return None if check is None or check(value) else type_invalid(path, value, schema["format"])


def number_errors(path: str, value: float, schema: Schema) -> Iterator[FieldError]:
    """What is wrong with the size of a number. An integer is compared with whole bounds."""
    value = value if is_integer(value) else _as_float(value)
    if "multipleOf" in schema:
        yield from _multiple_errors(path, value, bound_for(value, schema["multipleOf"]))
    if "minimum" in schema:
        least = bound_for(value, schema["minimum"])
        if schema.get("exclusiveMinimum") and value <= least:
            yield _should(path, value, f"be greater than {_spelled(least)}")
        elif value < least:
            yield _should(path, value, f"be greater than or equal to {_spelled(least)}")
    if "maximum" in schema:
        most = bound_for(value, schema["maximum"])
        if schema.get("exclusiveMaximum") and value >= most:
            yield _should(path, value, f"be less than {_spelled(most)}")
        elif value > most:
            yield _should(path, value, f"be less than or equal to {_spelled(most)}")


def bound_for(value: float, bound: float) -> float:
    """The bound as this number is compared with it: for an integer, without its fraction."""
    exact = _as_float(bound)
    if isinstance(value, int):
        return min(int(min(max(exact, -(2.0**63)), 2.0**63)), 2**63 - 1)
    return exact


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def size_errors(path: str, size: int, schema: Schema, what: str) -> Iterator[FieldError]:
    """Too few or too many. ``what`` is items, or properties."""
    least, most = schema.get(f"min{what.capitalize()}"), schema.get(f"max{what.capitalize()}")
    if least is not None and size < least:
        yield _should(path, size, f"have at least {least} {what}")
    if most is not None and size > most:
        items = "item" if most == 1 else "items"
        yield FieldError(path, Problem.TOO_MANY, f"must have at most {most} {items}", size)


def type_invalid(path: str, given: str, wanted: str) -> FieldError:
    shown = json.dumps(given, ensure_ascii=False)
    detail = f"{path} in body must be of type {wanted}: {shown}"
    return FieldError(path, Problem.TYPE_INVALID, detail, given)


def _type_of(value: object) -> tuple[str, str]:
    if type(value) is int and not is_integer(value):
        return _TYPES[float]
    return _TYPES.get(type(value), (type(value).__name__, ""))


def _allowed_types(schema: Schema) -> tuple[str, ...]:
    """The types that a value may have; empty if it may have any."""
    if schema.get(INT_OR_STRING):
        return "integer", "string"
    return (schema["type"],) if schema.get("type") else ()


def _passes_as(value: object, allowed: tuple[str, ...]) -> bool:
    """JSON has one kind of number: 1.0 is an integer, and an integer is a number."""
    if type(value) is int:
        return "number" in allowed
    return "integer" in allowed and isinstance(value, float) and _is_whole(value)


def _is_whole(value: float) -> bool:
    """Whether a float is an integer, or so close above one that Kubernetes treats it as one."""
    if not abs(value) <= _LARGEST_EXACT:
        return False
    whole = int(value)
    return value == whole or (whole > 0 and (value - whole) / (value + whole) < _NEARLY)


def _is_among(value: object, enum: list[Any]) -> bool:
    if type(value) is str:  # the most frequent type, and no other value equals a text
        return value in enum
    return any(_is_alike(value, word) for word in enum)


def _is_alike(value: object, word: object) -> bool:
    if type(value) in (int, float) and type(word) in (int, float):
        return value == word
    return same(value, word)


def _multiple_errors(path: str, value: float, factor: float) -> Iterator[FieldError]:
    if factor <= 0:
        detail = f"factor MultipleOf declared for {path} must be positive: {_spelled(factor)}"
        yield invalid(path, _shown(factor), detail)
    elif not _is_multiple(value, factor):
        yield _should(path, value, f"be a multiple of {_spelled(factor)}")


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int):
        return not value % factor
    return _is_whole(1 / factor * value if factor < 1 else value / factor)


def _should(path: str, value: object, what: str) -> FieldError:
    return invalid(path, _shown(value), f"{path} in body should {what}")


def _shown(value: object) -> object:
    """The value as Kubernetes shows it: a whole float without its fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _SMALLEST_SPELLED:
        return int(value)
    return showable(value)


def _spelled(number: float) -> str:
    return str(_shown(number))


def _compact(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
