"""Schemas as types: what they are called, how large their values may be, and how they are seen."""

import pytest

from kubekit.cel import EvaluationError
from kubekit.cel.schema_types import declared, with_metadata

REQUEST = 3 * 1024 * 1024
TEXT = {"type": "string"}


def sized(schema):
    kind = declared(schema)
    return kind and (str(kind.type), kind.size, kind.smallest)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "boolean"}, ("bool", 0, 4)),
        ({"type": "integer"}, ("int", 0, 1)),
        ({"type": "number"}, ("double", 0, 1)),
        (TEXT, ("string", REQUEST - 2, 2)),
        ({"type": "string", "maxLength": 5}, ("string", 20, 2)),
        ({"type": "string", "maxLength": -5}, ("string", 0, 2)),
        ({"type": "string", "enum": ["a", "h\u00e9"]}, ("string", 3, 2)),
        ({"type": "string", "enum": [1]}, ("string", 0, 2)),
        ({"type": "string", "enum": ["a"], "maxLength": 9}, ("string", 36, 2)),
        ({"type": "string", "format": "byte", "maxLength": 5}, ("bytes", 5, 2)),
        ({"type": "string", "format": "byte"}, ("bytes", REQUEST - 2, 2)),
        ({"type": "string", "format": "duration"}, ("duration", 32, 3)),
        ({"type": "string", "format": "date"}, ("timestamp", 12, 12)),
        ({"type": "string", "format": "date-time"}, ("timestamp", 32, 21)),
        ({"type": "string", "format": "email"}, ("string", REQUEST - 2, 2)),
        ({"x-kubernetes-int-or-string": True}, ("dyn", REQUEST - 2, 1)),
        ({"x-kubernetes-int-or-string": True, "maxLength": 2}, ("dyn", 8, 1)),
        ({"type": "array", "items": TEXT}, ("list(string)", (REQUEST - 2) // 3, 2)),
        ({"type": "array", "items": TEXT, "maxItems": 4}, ("list(string)", 4, 2)),
        (
            {"type": "object", "additionalProperties": TEXT},
            ("map(string, string)", (REQUEST - 2) // 8, 2),
        ),
        (
            {"type": "object", "additionalProperties": TEXT, "maxProperties": 3},
            ("map(string, string)", 3, 2),
        ),
        (
            {
                "type": "object",
                "required": ["a", "d"],
                "properties": {
                    "a": TEXT,
                    "b": TEXT,
                    "d": {"type": "integer", "default": 1},
                    "e": {"x-kubernetes-preserve-unknown-fields": True},
                },
            },
            ("selfType", 0, 9),
        ),
        ({"type": "array"}, None),
        ({"x-kubernetes-preserve-unknown-fields": True}, None),
        ({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}, None),
        (
            {
                "type": "object",
                "additionalProperties": {"x-kubernetes-preserve-unknown-fields": True},
            },
            None,
        ),
    ],
)
def test_types_and_sizes(schema, expected):
    """A schema gives a type, and without limits its values may fill a request."""
    assert sized(schema) == expected


@pytest.mark.parametrize(
    ("schema", "document", "words"),
    [
        ({"type": "string", "format": "date"}, "x", "Invalid date formatted string x"),
        ({"type": "string", "format": "date-time"}, "x", "Invalid date-time formatted string x"),
        ({"type": "string", "format": "duration"}, "x", "Invalid duration x"),
        ({"type": "string", "format": "byte"}, "a", "Invalid byte formatted string a"),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            "invalid data, expected XIntOrString value to be either a string or integer",
        ),
    ],
)
def test_a_value_that_is_not_of_its_format_is_an_error(schema, document, words):
    """What the schema should have refused is no value."""
    kind = declared(schema)
    assert kind is not None
    with pytest.raises(EvaluationError) as caught:
        kind.wrap(document)
    assert str(caught.value) == words


def test_a_null_item_is_an_error_only_if_it_may_not_be():
    """An item that may not be null is an error when it is read."""
    item = {"type": "object", "properties": {"a": TEXT}}
    strict = declared({"type": "array", "items": item})
    lenient = declared({"type": "array", "items": {**item, "nullable": True}})
    assert strict is not None
    assert lenient is not None
    with pytest.raises(EvaluationError, match="got null for schema with nullable=false"):
        strict.wrap([None])[0]
    assert lenient.wrap([None])[0] is None


def test_a_root_that_knows_its_names_is_left_alone():
    """A schema with the names of its own objects is not given them again."""
    names = {"type": "object", "properties": {"name": TEXT, "generateName": TEXT, "labels": {}}}
    properties = {"kind": TEXT, "apiVersion": TEXT, "metadata": names}
    schema = {"type": "object", "properties": properties}
    assert with_metadata(schema) is schema
    assert "metadata" in with_metadata({"type": "object"})["properties"]
