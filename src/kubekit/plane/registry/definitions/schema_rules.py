"""Whether Kubernetes would take a schema from a CustomResourceDefinition, in its own words.

First each keyword must have a value that can be read. Then two sets of rules are asked: the schema
must be structural (`structuralrules`, then `defaultrules`), and its keywords must fit together
(`keywordrules`). Rules in CEL are judged elsewhere.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid
from kubekit.plane.registry.definitions.default_rules import default_errors
from kubekit.plane.registry.definitions.keyword_rules import keyword_errors
from kubekit.plane.registry.definitions.schema_shapes import shape_errors
from kubekit.plane.registry.definitions.structural_rules import is_convertible, structural_errors
from kubekit.plane.registry.schema import patterns
from kubekit.plane.registry.schema.schema_nodes import count_nodes, nodes, normal, says_nothing

MOST_NODES: Final = 50_000  # a few seconds to judge; the largest that are in use have some 10,000
MOST_STEPS: Final = 1_000_000  # of all patterns; about half a second to make them ready
MOST_ERRORS: Final = 100

_BESIDE_STATUS: Final = frozenset(
    (
        "description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum",
        "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems",
        "uniqueItems", "multipleOf", "required", "items", "properties", "externalDocs", "example",
        "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    )
)  # fmt: skip


def schema_errors(schema: object, path: Path, *, status: bool = False) -> list[FieldError]:
    """What is wrong with the schema, each with the path of its keyword; the first so many.

    With a ``status`` subresource, the root may say only what is of no use to judge the status by.
    """
    unreadable = [*islice(shape_errors(schema, path), MOST_ERRORS)]
    if unreadable:
        return unreadable
    whole: dict[str, Any] = dict(normal(schema))  # type: ignore[arg-type]  # its shape is right
    if count_nodes(whole, MOST_NODES) > MOST_NODES:
        return [invalid(path, "...", f"must not hold more than {MOST_NODES} schemas")]
    if _has_too_many_steps(whole):
        words = f"must not hold patterns with more than {MOST_STEPS} steps together"
        return [invalid(path, "...", words)]
    return [*islice(_errors(whole, path, status=status), MOST_ERRORS)]


def _has_too_many_steps(schema: dict[str, Any]) -> bool:
    steps = 0
    for pattern in {node["pattern"] for node in nodes(schema) if "pattern" in node}:
        steps += patterns.steps_of(pattern)
        if steps > MOST_STEPS:
            return True
    return False


def _errors(schema: dict[str, Any], path: Path, *, status: bool) -> Iterator[FieldError]:
    if status:
        yield from _status_errors(schema, path)
    if schema.get("nullable"):
        yield forbidden(path.child("nullable"), "nullable cannot be true at the root")
    unfit = [*islice(keyword_errors(schema, path), MOST_ERRORS)]
    if is_convertible(schema):
        told = [*islice(structural_errors(schema, path), MOST_ERRORS)]
        yield from told or default_errors(schema, path)
    elif not unfit:  # of what cannot be asked, this alone is not told by keyword
        yield invalid(path, "", "OpenAPIV3Schema 'schema' is not supported")
    yield from unfit


def _status_errors(schema: dict[str, Any], path: Path) -> Iterator[FieldError]:
    said = [keyword for keyword, value in schema.items() if not says_nothing(value)]
    if schema.get("type", "object") != "object":
        yield invalid(
            path.child("type"),
            schema["type"],
            'only "object" is allowed as the type at the root of the schema if the status '
            "subresource is enabled",
        )
    elif any(keyword not in _BESIDE_STATUS for keyword in said):
        named = " ".join(sorted(_BESIDE_STATUS))
        words = "fields are allowed at the root of the schema if the status subresource is enabled"
        yield invalid(path, schema, f"only [{named}] {words}")
