"""One value against its own node of a structural schema; what lies inside it is checked elsewhere.

The words are those of Kubernetes, so that a user finds them where others have asked before. Two
answers are clearer than its own: a value of the wrong type is told once, not again for each
keyword, and an integer that does not fit its format is told the bound.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from compute.api import times
from compute.api.fields import FieldError, Problem, invalid, not_supported, too_long

Matcher = Callable[[str, str], bool]
"""Whether a pattern is found in a text."""

_TYPE_NAMES: Final[Mapping[type, str]] = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}
_LARGEST_EXACT: Final = 2**53 - 1  # beyond it a float no longer tells one integer from the next
_INTEGERS: Final = {"int32": 2**31, "int64": 2**63}
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_JUDGED: Final = frozenset({"enum", "format", "maxLength", "minLength", "pattern"})


def is_plain(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether this is a text or a truth value, and nothing but that is asked of it.

    Most values are. Telling them first spares `own_errors`, and the making of a path, for each.
    """
    kind = type(value)
    return (kind is str or kind is bool) and (
        schema.get("type") == _TYPE_NAMES[kind]
        and _JUDGED.isdisjoint(schema)
        and not schema.get(_INT_OR_STRING)
    )


def own_errors(
    path: str, value: object, schema: Mapping[str, Any], matches: Matcher
) -> Iterator[FieldError]:
    """What is wrong with the value itself, apart from its members and items."""
    wrong_type = _type_error(path, value, schema)
    if wrong_type:
        yield wrong_type
        return
    enum = schema.get("enum")
    if enum is not None and not any(value == word and type(value) is type(word) for word in enum):
        yield not_supported(path, value, map(str, enum))
    if isinstance(value, str):
        yield from _text_errors(path, value, schema, matches)
    elif isinstance(value, int | float):
        yield from _number_errors(path, value, schema)
    elif isinstance(value, list):
        yield from _size_errors(path, len(value), schema)


def _type_error(path: str, value: object, schema: Mapping[str, Any]) -> FieldError | None:
    allowed = _allowed_types(schema)
    given = _TYPE_NAMES.get(type(value), type(value).__name__)
    if not allowed or given in allowed or _passes_as(value, allowed):
        return None
    return _type_invalid(path, given, ",".join(allowed))


def _allowed_types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types a value may have; none are named where anything goes."""
    if schema.get(_INT_OR_STRING):
        return "integer", "string"
    return (schema["type"],) if "type" in schema else ()


def _passes_as(value: object, allowed: tuple[str, ...]) -> bool:
    """JSON has one kind of number: 1.0 is an integer, and an integer is a number."""
    if isinstance(value, float):
        return "integer" in allowed and value.is_integer() and abs(value) <= _LARGEST_EXACT
    return "number" in allowed and type(value) is int


def _text_errors(
    path: str, value: str, schema: Mapping[str, Any], matches: Matcher
) -> Iterator[FieldError]:
    """The first of these, as Kubernetes does: nobody wants a pattern tried on a megabyte."""
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield too_long(path, value, schema["maxLength"])
    elif "minLength" in schema and len(value) < schema["minLength"]:
        yield _should(path, value, f"be at least {schema['minLength']} chars long")
    elif "pattern" in schema and not matches(schema["pattern"], value):
        yield _should(path, value, f"match '{schema['pattern']}'")
    elif schema.get("format") == "date-time" and not _is_instant(value):
        yield _type_invalid(path, value, "date-time")


def _is_instant(text: str) -> bool:
    try:
        times.parse(text.upper())  # RFC 3339 lets `t` and `z` be small
    except times.TimeError:
        return False
    return True


def _number_errors(path: str, value: float, schema: Mapping[str, Any]) -> Iterator[FieldError]:
    least, most = schema.get("minimum"), schema.get("maximum")
    beyond = _INTEGERS.get(schema.get("format", "int64")) if isinstance(value, int) else None
    if beyond is not None and not -beyond <= value < beyond:
        least = -beyond if least is None else least
        most = beyond - 1 if most is None else most
    if least is not None and schema.get("exclusiveMinimum") and value <= least:
        yield _should(path, value, f"be greater than {least}")
    elif least is not None and value < least:
        yield _should(path, value, f"be greater than or equal to {least}")
    if most is not None and value > most:
        yield _should(path, value, f"be less than or equal to {most}")


def _size_errors(path: str, size: int, schema: Mapping[str, Any]) -> Iterator[FieldError]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", size)
    if size < least:
        yield _should(path, size, f"have at least {least} items")
    if size > most:
        items = "item" if most == 1 else "items"
        yield FieldError(path, Problem.TOO_MANY, f"must have at most {most} {items}", size)


def _should(path: str, value: object, what: str) -> FieldError:
    return invalid(path, value, f"{path} in body should {what}".lstrip())


def _type_invalid(path: str, given: str, wanted: str) -> FieldError:
    shown = json.dumps(given, ensure_ascii=False)
    detail = f"{path} in body must be of type {wanted}: {shown}".lstrip()
    return FieldError(path, Problem.TYPE_INVALID, detail, given)
