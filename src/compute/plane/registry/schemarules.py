"""Whether a schema from a CustomResourceDefinition can be worked with.

Only that is judged: each keyword that we read has a value we can read. Keywords that we do not read
are left alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from compute.api.fields import FieldError, Path, invalid, not_supported, required
from compute.api.structural import validate

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_MOST_NESTED: Final = 100
_LIST_TYPE: Final = "x-kubernetes-list-type"
_LIST_KEYS: Final = "x-kubernetes-list-map-keys"

_Judge = Callable[[Any], bool]


def schema_errors(schema: object, path: Path, depth: int = 0) -> Iterator[FieldError]:
    """What is wrong with the schema, each with the path of its keyword."""
    if not isinstance(schema, Mapping):
        yield invalid(path, schema, "must be an object")
        return
    if depth > _MOST_NESTED:
        yield invalid(path, "...", f"must not be nested deeper than {_MOST_NESTED} levels")
        return
    if depth == 0 and schema.get("type") != "object":
        yield invalid(path.child("type"), schema.get("type"), "must be object at the root")
    wrong = [*_keyword_errors(schema, path)]
    if not wrong:
        for here, inner in _inside(schema, path):
            wrong += schema_errors(inner, here, depth + 1)
    yield from wrong
    if not wrong:  # only now can the schema be worked with
        yield from _list_errors(schema, path)
        yield from _default_errors(schema, path)


def _keyword_errors(schema: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    if schema.get("type", "object") not in _TYPES:
        yield not_supported(path.child("type"), schema["type"], _TYPES)
    for keyword, (is_right, words) in _KEYWORDS.items():
        if keyword in schema and not is_right(schema[keyword]):
            yield invalid(path.child(keyword), schema[keyword], f"must be {words}")


def _list_errors(schema: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    if schema.get("type") == "array" and "items" not in schema:
        yield required(path.child("items"), "must be specified for arrays")
    if schema.get(_LIST_TYPE) == "map":
        keys, items = schema.get(_LIST_KEYS, ()), schema.get("items", {})
        if not keys:
            yield required(path.child(_LIST_KEYS), "a list of type map is told apart by its keys")
        for position, key in enumerate(keys):
            if key not in items.get("properties", {}):
                here = path.child(_LIST_KEYS).at(position)
                yield invalid(here, key, "must be a property of the items")


def _default_errors(schema: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """A default must itself be right, or nobody could leave the field out."""
    around = {"properties": {"default": schema}}
    for error in validate({"default": schema.get("default")}, around, most=1):
        yield replace(error, path=f"{path}.{error.path}")


def _inside(schema: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, object]]:
    for name, inner in schema.get("properties", {}).items():
        yield path.child("properties").key(name), inner
    for keyword in ("items", "additionalProperties"):
        if keyword in schema and not isinstance(schema[keyword], bool):
            yield path.child(keyword), schema[keyword]


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_size(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_pattern(value: object) -> bool:
    try:
        re.compile(value if isinstance(value, str) else "(")
    except (re.error, OverflowError, RecursionError):
        return False
    return True


_KEYWORDS: Final[Mapping[str, tuple[_Judge, str]]] = {
    "properties": (_is_object, "an object"),
    "items": (_is_object, "one schema, as an object"),
    "additionalProperties": (lambda v: _is_object(v) or _is_flag(v), "a schema or a boolean"),
    "required": (_is_list_of_names, "a list of names"),
    "enum": (_is_list, "a list"),
    "format": (lambda v: isinstance(v, str), "a word"),
    "pattern": (_is_pattern, "a regular expression"),
    "minimum": (_is_number, "a number"),
    "maximum": (_is_number, "a number"),
    "exclusiveMinimum": (_is_flag, "a boolean"),
    "exclusiveMaximum": (_is_flag, "a boolean"),
    "minLength": (_is_size, "a whole number from 0"),
    "maxLength": (_is_size, "a whole number from 0"),
    "minItems": (_is_size, "a whole number from 0"),
    "maxItems": (_is_size, "a whole number from 0"),
    "nullable": (_is_flag, "a boolean"),
    _LIST_TYPE: (lambda v: v in ("atomic", "map", "set"), "atomic, map or set"),
    _LIST_KEYS: (_is_list_of_names, "a list of names"),
    "x-kubernetes-int-or-string": (_is_flag, "a boolean"),
    "x-kubernetes-preserve-unknown-fields": (_is_flag, "a boolean"),
    "x-kubernetes-embedded-resource": (_is_flag, "a boolean"),
}
