"""Schemas that cannot be read, and schemas that are too large to be served."""

import pytest

from kubekit.api.fields import Path, Problem
from kubekit.plane.registry.definitions.schema_rules import (
    MOST_ERRORS,
    MOST_NODES,
    MOST_STEPS,
    schema_errors,
)
from kubekit.plane.registry.schema.conformance import Conformance

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("node", "path", "words"),
    [
        (3, "", "must be an object"),
        ({"type": ["string"]}, ".type", "must be a text"),
        ({"pattern": 3}, ".pattern", "must be a text"),
        ({"minimum": "3"}, ".minimum", "must be a number"),
        ({"minLength": 1.5}, ".minLength", "must be a whole number"),
        ({"maxItems": 2**64}, ".maxItems", "must be a whole number"),
        ({"enum": "a"}, ".enum", "must be a list"),
        ({"required": [1]}, ".required", "must be a list of names"),
        ({"nullable": "yes"}, ".nullable", "must be true or false"),
        ({"properties": []}, ".properties", "must be an object"),
        ({"items": 3}, ".items", "must be a schema"),
        ({"allOf": {}}, ".allOf", "must be a list"),
        ({"allOf": [3]}, ".allOf[0]", "must be an object"),
        ({"not": 3}, ".not", "must be an object"),
        ({"additionalProperties": 3}, ".additionalProperties", "must be a schema or true or false"),
        ({"additionalProperties": {"type": 1}}, ".additionalProperties.type", "must be a text"),
        ({"items": [{"type": 1}]}, ".items[0].type", "must be a text"),
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_read_is_refused(node, path, words):
    """Kubernetes refuses it when it decodes the definition; nothing else is said of it then."""
    (error,) = schema_errors({"type": "object", "properties": {"x": node}}, Path("r"))

    assert (error.path, error.detail) == (f"r.properties[x]{path}", words)
    assert error.problem is Problem.TYPE_INVALID


def test_keywords_that_are_null_are_not_there():
    """As JSON has it that was written by a program."""
    node = {"type": "string", "items": None, "minLength": None, "default": None}

    assert schema_errors({"type": "object", "properties": {"x": node}}, Path("r")) == []


def test_d7_a_schema_is_not_nested_without_end():
    """A recursion over it must end."""
    schema: dict[str, object] = {"type": "object"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"x": schema}}

    (error,) = schema_errors(schema, Path("r"))

    assert error.detail == "must not be nested deeper than 100 levels"


def test_d7_a_schema_has_not_more_parts_than_can_be_judged():
    """A definition does not block other requests for long."""
    schema = {"type": "object", "properties": {f"p{n}": TEXT for n in range(MOST_NODES)}}

    (error,) = schema_errors(schema, Path("r"))

    assert error.detail == f"must not hold more than {MOST_NODES} schemas"


@pytest.mark.parametrize("form", ["^[^/]{1,1000}%d$", r"\pL{1000}%d"], ids=["large", "too-large"])
def test_d7_patterns_together_are_not_larger_than_can_be_made_ready(form):
    """Each alone is accepted; all together would block other requests."""
    properties = {f"p{n}": {"type": "string", "pattern": form % n} for n in range(120)}

    (error,) = schema_errors({"type": "object", "properties": properties}, Path("r"))

    assert error.detail == f"must not hold patterns with more than {MOST_STEPS} steps together"


def test_d7_the_number_of_errors_is_limited():
    """Clients do not read more."""
    schema = {"type": "object", "properties": {f"p{n}": {} for n in range(1000)}}
    unreadable = {"type": "object", "properties": {f"p{n}": 3 for n in range(1000)}}

    assert len(schema_errors(schema, Path("r"))) == MOST_ERRORS
    assert len(schema_errors(unreadable, Path("r"))) == MOST_ERRORS


def test_d7_the_deepest_schema_that_is_taken_can_be_worked_with():
    """Rules, types and judgement all come back from a hundred levels."""
    schema: dict[str, object] = {"type": "object", "properties": {"x": {"type": "string"}}}
    document: dict[str, object] = {"x": 3}
    for _ in range(98):
        schema = {"type": "object", "properties": {"x": schema}}
        document = {"x": document}

    assert schema_errors(schema, Path("r")) == []
    assert len(Conformance(schema).conform(document, document).errors) == 0
    assert len(Conformance(schema).conform(document).errors) == 1


@pytest.mark.timeout(60)
def test_d7_many_keys_of_a_list_map_are_judged_in_proportion():
    """Each key is looked up among the others; that must not take the square of them."""
    keys = [f"k{n}" for n in range(20_000)]
    item = {"type": "object", "properties": dict.fromkeys(keys, TEXT), "required": keys}
    node = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": keys,
    }

    assert schema_errors({"type": "object", "properties": {"x": node}}, Path("r")) == []
