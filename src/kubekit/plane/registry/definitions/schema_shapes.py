"""Checks the types of keyword values in a schema: lists, numbers, schemas.

Kubernetes makes these checks when it decodes the definition.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, Problem

DEEPEST: Final = 100  # levels; a limit for recursive functions over schemas

_Judge = Callable[[Any], bool]


def shape_errors(schema: object, path: Path, depth: int = 0) -> Iterator[FieldError]:
    """Each keyword whose value has the wrong type. A null counts as absent."""
    if not isinstance(schema, Mapping):
        yield _wrong(path, schema, "must be an object")
        return
    if depth > DEEPEST:
        yield _wrong(path, "...", f"must not be nested deeper than {DEEPEST} levels")
        return
    for keyword, value in schema.items():
        if value is None:
            continue
        if keyword in _SCHEMAS:
            for here, inner in _SCHEMAS[keyword](path.child(keyword), value):
                yield from shape_errors(inner, here, depth + 1)
        is_right, expected = _KEYWORDS.get(keyword, _ANYTHING)
        if not is_right(value):
            yield _wrong(path.child(keyword), value, f"must be {expected}")


def _wrong(path: Path, value: object, message: str) -> FieldError:
    return FieldError(path, Problem.TYPE_INVALID, message, value)


def _named(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    if isinstance(value, Mapping):
        yield from ((path.key(str(name)), inner) for name, inner in value.items())


def _listed(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    if isinstance(value, list):
        yield from ((path.at(position), inner) for position, inner in enumerate(value))


def _single(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    if isinstance(value, Mapping):
        yield path, value
    else:
        yield from _listed(path, value)


_SCHEMAS: Final[Mapping[str, Callable[[Path, object], Iterator[tuple[Path, object]]]]] = {
    "properties": _named,
    "items": _single,
    "additionalProperties": _single,
    "not": _single,
    "allOf": _listed,
    "anyOf": _listed,
    "oneOf": _listed,
}


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_whole(value: object) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_ANYTHING: Final[tuple[_Judge, str]] = (lambda _value: True, "")
_OBJECT: Final = (_is_object, "an object")
_NUMBER: Final = (_is_number, "a number")
_WHOLE: Final = (_is_whole, "a whole number")
_FLAG: Final = (_is_flag, "true or false")
_TEXT: Final = (_is_text, "a text")
_LIST: Final = (_is_list, "a list")
_NAMES: Final = (_is_list_of_names, "a list of names")
_EITHER: Final = (lambda value: _is_object(value) or _is_flag(value), "a schema or true or false")
_KEYWORDS: Final[Mapping[str, tuple[_Judge, str]]] = {
    **dict.fromkeys(("$ref", "$schema", "description", "format", "id", "pattern"), _TEXT),
    **dict.fromkeys(("title", "type", "x-kubernetes-list-type", "x-kubernetes-map-type"), _TEXT),
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("maxItems", "maxLength", "maxProperties"), _WHOLE),
    **dict.fromkeys(("minItems", "minLength", "minProperties"), _WHOLE),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "nullable", "uniqueItems"), _FLAG),
    **dict.fromkeys(("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"), _FLAG),
    "x-kubernetes-preserve-unknown-fields": _FLAG,
    **dict.fromkeys(("allOf", "anyOf", "enum", "oneOf", "x-kubernetes-validations"), _LIST),
    **dict.fromkeys(("required", "x-kubernetes-list-map-keys"), _NAMES),
    **dict.fromkeys(("definitions", "dependencies", "patternProperties", "properties"), _OBJECT),
    "not": _OBJECT,
    "additionalItems": _EITHER,
    "additionalProperties": _EITHER,
    "items": (lambda value: _is_object(value) or _is_list(value), "a schema"),
}
