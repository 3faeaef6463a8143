import copy

import pytest
from hypothesis import given, settings

from kubekit.api.structural import with_defaults
from tests.support.generated import depth
from tests.support.generated.structural_strategies import worlds


def having(schema):
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    ("schema", "document", "expected"),
    [
        ({"type": "string", "default": "a"}, {}, {"x": "a"}),
        ({"type": "string", "default": "a"}, {"x": "b"}, {"x": "b"}),
        ({"type": "string", "default": ""}, {}, {"x": ""}),
        ({"type": "integer", "default": 0}, {}, {"x": 0}),
        ({"type": "string", "default": None}, {}, {}),
        ({"type": "string", "default": "a"}, {"x": None}, {"x": "a"}),
        ({"type": "string", "default": "a", "nullable": True}, {"x": None}, {"x": None}),
        ({"type": "string"}, {"x": None}, {}),
        ({"type": "string", "nullable": True}, {"x": None}, {"x": None}),
    ],
    ids=[
        "absent",
        "given",
        "empty",
        "zero",
        "null-is-no-default",
        "null",
        "nullable-stays",
        "null-is-dropped",
        "nullable-without-default",
    ],
)
def test_a_default_stands_in_for_what_is_not_there(schema, document, expected):
    """A default fills an absent field, and a null that the field may not be."""
    assert with_defaults(document, having(schema)) == expected


def test_a_default_brings_the_defaults_inside_it_along():
    """Objects that come from a default are completed like those that were written."""
    inner = {"type": "object", "properties": {"b": {"type": "integer", "default": 5}}}
    schema = having({"type": "object", "default": {"a": {}}, "properties": {"a": inner}})

    assert with_defaults({}, schema) == {"x": {"a": {"b": 5}}}
    assert with_defaults({"x": {}}, schema) == {"x": {}}


def test_nothing_is_filled_into_what_is_absent():
    """Defaults inside an object do not bring the object into being."""
    schema = having({"type": "object", "properties": {"b": {"type": "integer", "default": 5}}})

    assert with_defaults({}, schema) == {}


def test_defaults_reach_into_lists_and_maps():
    """Items and map values are completed too; a null item gets the item's default, if any."""
    item = {"type": "object", "properties": {"b": {"type": "integer", "default": 5}}}
    filled = {"type": "array", "items": item | {"default": {}}}
    mapped = {"type": "object", "additionalProperties": item}

    assert with_defaults({"x": [None, {"b": 1}]}, having(filled)) == {"x": [{"b": 5}, {"b": 1}]}
    assert with_defaults({"x": [None]}, having({"type": "array", "items": item})) == {"x": [None]}
    assert with_defaults({"x": {"k": {}, "n": None}}, having(mapped)) == {"x": {"k": {"b": 5}}}
    named = {"type": "object", "additionalProperties": {"type": "string", "default": "a"}}
    assert with_defaults({"x": {"k": None, "l": "b"}}, having(named)) == {"x": {"k": "a", "l": "b"}}


def test_what_the_schema_does_not_know_is_kept_as_it_is():
    """Unknown fields, nulls among them, are for pruning; a wrong type is for the validator."""
    document = {"x": {"a": None}, "y": {"z": None}}

    assert with_defaults(document, having({"type": "string", "default": "a"})) == document


def test_the_default_is_copied():
    """Editing a completed document does not edit the schema."""
    schema = having(
        {
            "type": "object",
            "default": {"a": [{"b": 1}]},
            "x-kubernetes-preserve-unknown-fields": True,
        }
    )
    before = copy.deepcopy(schema)

    with_defaults({}, schema)["x"]["a"][0]["b"] = 2

    assert schema == before


@settings(max_examples=depth.examples(100), deadline=None)
@given(worlds())
def test_defaults_are_filled_in_once(world):
    """A completed document is complete, and the original is not touched."""
    schema, document = world
    before = copy.deepcopy(document)

    filled = with_defaults(document, schema)

    assert with_defaults(filled, schema) == filled
    assert document == before
