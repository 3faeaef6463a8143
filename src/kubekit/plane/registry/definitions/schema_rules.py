"""Validates a schema of a CustomResourceDefinition, with the rules and errors of Kubernetes.

First each keyword must have a value that decodes. Then two sets of rules apply: the schema must be
structural (`structural_rules`, then `default_rules`), and its keywords must fit together
(`keyword_rules`). CEL rules are checked elsewhere.
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

MOST_NODES: Final = 50_000  # a few seconds to validate; the largest in use have some 10,000
MOST_STEPS: Final = 1_000_000  # of all patterns; about half a second to compile them
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
    """The errors in the schema, each with the path of its keyword, up to a limit.

    With a ``status`` subresource, only some keywords are allowed at the root.
    """
    unreadable = [*islice(shape_errors(schema, path), MOST_ERRORS)]
    if unreadable:
        return unreadable
    whole: dict[str, Any] = dict(normal(schema))  # type: ignore[arg-type]  # its shape is right
    if count_nodes(whole, MOST_NODES) > MOST_NODES:
        return [invalid(path, "...", f"must not hold more than {MOST_NODES} schemas")]
    if _has_too_many_steps(whole):
        reason = f"must not hold patterns with more than {MOST_STEPS} steps together"
        return [invalid(path, "...", reason)]
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
        errors = [*islice(structural_errors(schema, path), MOST_ERRORS)]
        yield from errors or default_errors(schema, path)
    elif not unfit:  # the only inconvertible schema that no keyword rule reports
        yield invalid(path, "", "OpenAPIV3Schema 'schema' is not supported")
    yield from unfit


def _status_errors(schema: dict[str, Any], path: Path) -> Iterator[FieldError]:
    used = [keyword for keyword, value in schema.items() if not says_nothing(value)]
    if schema.get("type", "object") != "object":
        yield invalid(
            path.child("type"),
            schema["type"],
            'only "object" is allowed as the type at the root of the schema if the status '
            "subresource is enabled",
        )
    elif any(keyword not in _BESIDE_STATUS for keyword in used):
        named = " ".join(sorted(_BESIDE_STATUS))
        message = (
            "fields are allowed at the root of the schema if the status subresource is enabled"
        )
        yield invalid(path, schema, f"only [{named}] {message}")
