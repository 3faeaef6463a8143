"""Functions over schemas: normalization, and iteration over the nested schemas."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from kubekit.api.structural.nodes import Schema

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("items", "additionalProperties", "not")
_KEPT: Final = frozenset({"$ref", "default", "enum", "example"})  # even if they are empty
_NO_ITEMS: Final[tuple[str, object]] = ("items", [])


def says_nothing(value: object) -> bool:
    """Whether a keyword with this value is the same as an absent one."""
    return value is False or value in ([], {})


def normal(schema: Schema) -> Schema:
    """The schema without null or empty keywords, which Kubernetes treats as absent."""
    normalized: dict[str, Any] = {}
    for keyword, value in schema.items():
        if value is None or (value == "" and keyword not in _KEPT) or (keyword, value) == _NO_ITEMS:
            continue
        if keyword == "properties":
            normalized[keyword] = {name: normal(inner) for name, inner in value.items()}
        elif keyword in _LISTS:
            normalized[keyword] = [normal(inner) for inner in value]
        else:
            is_schema = keyword in _SINGLE and isinstance(value, Mapping)
            normalized[keyword] = normal(value) if is_schema else value
    return normalized


def nodes(schema: Schema) -> Iterator[Schema]:
    """The schema and all schemas nested in it."""
    todo = [schema]
    while todo:
        node = todo.pop()
        yield node
        todo += parts(node)


def count_nodes(schema: Schema, most: int) -> int:
    """The number of nested schemas; the count stops once it exceeds ``most``."""
    return sum(1 for _ in islice(nodes(schema), most + 1))


def parts(schema: Schema) -> Iterator[Schema]:
    """The schemas directly inside this one."""
    yield from schema.get("properties", {}).values()
    for keyword in _SINGLE:
        if isinstance(schema.get(keyword), Mapping):
            yield schema[keyword]
    for keyword in _LISTS:
        yield from schema.get(keyword) or ()
