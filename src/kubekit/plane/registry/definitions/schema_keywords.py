"""What a definition's schemas may hold: keywords that nobody knows are dropped, and told.

Kubernetes reads a schema into a type of its own and keeps nothing else of it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubekit.api.fields import Path

_DEEPEST: Final = 110  # rules refuse what is nested that deep, and need not have it cleaned
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
    """The schema without what nobody knows, of which the paths are added to ``unknown``.

    It is the same object if there is nothing to drop. What is no schema is left to the rules.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    kept: dict[str, Any] = {}
    for word, said in schema.items():
        here = path.child(word)
        if said is None and word not in _ANY_VALUE:
            continue
        if word in _PLAIN:
            kept[word] = said
        elif word in _BRANCHES:
            kept[word] = _BRANCHES[word](said, here, unknown, depth + 1)
        else:
            unknown.append(here)
    return schema if _is_same(kept, schema) else kept


def _is_same(kept: Mapping[str, object], given: Mapping[str, object]) -> bool:
    return len(kept) == len(given) and all(kept[word] is said for word, said in given.items())


def _named(said: object, path: Path, unknown: list[str], depth: int) -> object:
    """Schemas by name."""
    if not isinstance(said, dict):
        return said
    found = {name: cleaned(s, path.child(name), unknown, depth) for name, s in said.items()}
    return said if _is_same(found, said) else found


def _listed(said: object, path: Path, unknown: list[str], depth: int) -> object:
    """Schemas in a list."""
    if not isinstance(said, list):
        return said
    found = [cleaned(s, path.at(at), unknown, depth) for at, s in enumerate(said)]
    return said if all(a is b for a, b in zip(found, said, strict=True)) else found


def _object_of(*known: str) -> Callable[[object, Path, list[str], int], object]:
    """Objects, in a list or alone, that have these fields."""

    def clean(said: object, path: Path, unknown: list[str], depth: int) -> object:
        if isinstance(said, list):
            found = [clean(one, path.at(at), unknown, depth) for at, one in enumerate(said)]
            return said if found == said else found
        if not isinstance(said, dict):
            return said
        unknown += [path.child(name) for name in said if name not in known]
        kept = {name: value for name, value in said.items() if name in known and value is not None}
        return said if len(kept) == len(said) else kept

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
