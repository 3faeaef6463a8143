"""Drops unknown keywords from a definition's schemas, and reports them.

Kubernetes decodes a schema into its own type and keeps nothing else.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubekit.api.fields import Path

_DEEPEST: Final = 110  # the rules refuse deeper schemas, so they need no cleaning
_PLAIN: Final = frozenset(
    (
        "$ref", "$schema", "default", "description", "enum", "example", "exclusiveMaximum",
        "exclusiveMinimum", "format", "id", "maxItems", "maxLength", "maxProperties", "maximum",
        "minItems", "minLength", "minProperties", "minimum", "multipleOf", "nullable", "pattern",
        "required", "title", "type", "uniqueItems", "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
        "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields",
    )
)  # fmt: skip
_ANY_VALUE: Final = frozenset({"default", "example"})


def cleaned(schema: object, path: Path, unknown: list[str], depth: int = 0) -> Any:  # noqa: ANN401 -- JSON
    """The schema without unknown keywords, whose paths are added to ``unknown``.

    It is the same object if there is nothing to drop. The rules refuse a value that is no schema.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    kept: dict[str, Any] = {}
    for word, value in schema.items():
        here = path.child(word)
        if value is None and word not in _ANY_VALUE:
            continue
        if word in _PLAIN:
            kept[word] = value
        elif word in _BRANCHES:
            kept[word] = _BRANCHES[word](value, here, unknown, depth + 1)
        else:
            unknown.append(here)
    return schema if _is_same(kept, schema) else kept


def _is_same(kept: Mapping[str, object], given: Mapping[str, object]) -> bool:
    return len(kept) == len(given) and all(kept[word] is value for word, value in given.items())


def _named(value: object, path: Path, unknown: list[str], depth: int) -> object:
    """Schemas by name."""
    if not isinstance(value, dict):
        return value
    result = {name: cleaned(s, path.child(name), unknown, depth) for name, s in value.items()}
    return value if _is_same(result, value) else result


def _listed(value: object, path: Path, unknown: list[str], depth: int) -> object:
    """Schemas in a list."""
    if not isinstance(value, list):
        return value
    result = [cleaned(s, path.at(at), unknown, depth) for at, s in enumerate(value)]
    return value if all(a is b for a, b in zip(result, value, strict=True)) else result


def _object_of(*known: str) -> Callable[[object, Path, list[str], int], object]:
    """Objects with these fields, alone or in a list."""

    def clean(value: object, path: Path, unknown: list[str], depth: int) -> object:
        if isinstance(value, list):
            result = [clean(one, path.at(at), unknown, depth) for at, one in enumerate(value)]
            return value if result == value else result
        if not isinstance(value, dict):
            return value
        unknown += [path.child(name) for name in value if name not in known]
        kept = {name: inner for name, inner in value.items() if name in known and inner is not None}
        return value if len(kept) == len(value) else kept

    return clean


_BRANCHES: Final[Mapping[str, Callable[[object, Path, list[str], int], Any]]] = {
    "additionalItems": cleaned,
    "additionalProperties": cleaned,
    "allOf": _listed,
    "anyOf": _listed,
    "definitions": _named,
    "dependencies": _named,
    "externalDocs": _object_of("description", "url"),
    "items": cleaned,
    "not": cleaned,
    "oneOf": _listed,
    "patternProperties": _named,
    "properties": _named,
    "x-kubernetes-validations": _object_of(
        "fieldPath", "message", "messageExpression", "optionalOldSelf", "reason", "rule"
    ),
}
