"""Traversals of a schema, for tests."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from kubekit.api.crd_generation import crd
from kubekit.api.meta import Object


def no_docs(_cls: type) -> dict[str, str]:
    return {}


@cache
def schema_of_kind(kind: type[Object]) -> dict[str, Any]:
    """The schema in the kind's CRD."""
    schema: dict[str, Any] = crd(kind, no_docs)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def at(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """The node of a field, by a path such as ``spec.placements[].name``."""
    for part in path.replace("[]", ".[]").split("."):
        schema = schema["items"] if part == "[]" else schema["properties"][part]
    return schema


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every node and its path, the root first. Alternatives in ``anyOf`` are not nodes."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}".lstrip("."))
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if keyword in schema:
            yield from nodes(schema[keyword], path + mark)
