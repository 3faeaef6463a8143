"""Schemas as they are worked with: only what says something, and every part of them in reach."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from kubekit.api.structural.nodes import Schema

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("items", "additionalProperties", "not")
_KEPT: Final = frozenset({"$ref", "default", "enum", "example"})  # even if they are empty
_NO_ITEMS: Final[tuple[str, object]] = ("items", [])


def says_nothing(said: object) -> bool:
    """Whether a keyword with this value might as well not be there."""
    return said is False or said in ([], {})


def normal(schema: Schema) -> Schema:
    """The schema without keywords that are null or an empty text: to Kubernetes they are absent."""
    made: dict[str, Any] = {}
    for keyword, said in schema.items():
        if said is None or (said == "" and keyword not in _KEPT) or (keyword, said) == _NO_ITEMS:
            continue
        if keyword == "properties":
            made[keyword] = {name: normal(inner) for name, inner in said.items()}
        elif keyword in _LISTS:
            made[keyword] = [normal(inner) for inner in said]
        else:
            is_schema = keyword in _SINGLE and isinstance(said, Mapping)
            made[keyword] = normal(said) if is_schema else said
    return made


def nodes(schema: Schema) -> Iterator[Schema]:
    """All schemas that are in it, itself first."""
    todo = [schema]
    while todo:
        node = todo.pop()
        yield node
        todo += parts(node)


def count_nodes(schema: Schema, most: int) -> int:
    """How many schemas are in it; the count ends when it passes ``most``."""
    return sum(1 for _ in islice(nodes(schema), most + 1))


def parts(schema: Schema) -> Iterator[Schema]:
    """The schemas right inside this one."""
    yield from schema.get("properties", {}).values()
    for keyword in _SINGLE:
        if isinstance(schema.get(keyword), Mapping):
            yield schema[keyword]
    for keyword in _LISTS:
        yield from schema.get(keyword) or ()
