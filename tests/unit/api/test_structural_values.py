import math
from datetime import UTC, datetime

import pytest

from compute.api.fields import FieldError, Problem, too_long
from compute.api.structural import validate

INT_OR_STRING = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
    "pattern": "^[0-9]+$",
}
TIME = {"type": "string", "format": "date-time"}


def errors(value, schema):
    return validate({"x": value}, {"type": "object", "properties": {"x": schema}})


def texts(value, schema):
    return [str(error) for error in errors(value, schema)]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (True, {"type": "boolean"}),
        (3, {"type": "integer"}),
        (3.0, {"type": "integer"}),
        (-(2.0**53) + 1, {"type": "integer"}),
        (3, {"type": "number"}),
        (3.5, {"type": "number"}),
        ("a", {"type": "string"}),
        ([], {"type": "array", "items": {"type": "string"}}),
        ({}, {"type": "object"}),
        (80, INT_OR_STRING),
        (80.0, INT_OR_STRING),
        ("80", INT_OR_STRING),
        ({"a": [1]}, {"x-kubernetes-preserve-unknown-fields": True}),
    ],
    ids=str,
)
def test_values_of_the_right_type_pass(value, schema):
    """JSON has one kind of number: a whole float is an integer, and an integer is a number."""
    assert errors(value, schema) == []


@pytest.mark.parametrize(
    ("value", "wanted", "given"),
    [
        ("a", "integer", "string"),
        (True, "integer", "boolean"),
        (1.5, "integer", "number"),
        (2.0**53, "integer", "number"),
        (math.inf, "integer", "number"),
        (True, "number", "boolean"),
        ("1", "number", "string"),
        (1, "string", "integer"),
        (1.5, "string", "number"),
        (datetime(2026, 1, 1, tzinfo=UTC), "string", "datetime"),
        (1, "boolean", "integer"),
        ({}, "array", "object"),
        ([], "object", "array"),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_named_by_its_type(value, wanted, given):
    """The error shows what was given and what is wanted, and nothing else is said of the value."""
    schema = {"type": wanted, "enum": ["a"], "minimum": 1}

    assert texts(value, schema) == [
        f'x: Invalid value: "{given}": x in body must be of type {wanted}: "{given}"'
    ]
    assert errors(value, schema)[0].problem is Problem.TYPE_INVALID


def test_an_int_or_string_names_both_types():
    """A value that is neither is told both."""
    assert texts(1.5, INT_OR_STRING) == [
        'x: Invalid value: "number": x in body must be of type integer,string: "number"'
    ]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("c", {"type": "string", "enum": ["a", "b"]}, 'Unsupported value: "c": supported values: "a", "b"'),
        ("", {"type": "string", "minLength": 1}, 'Invalid value: "": x in body should be at least 1 chars long'),
        ("b", {"type": "string", "pattern": "^a+$"}, "Invalid value: \"b\": x in body should match '^a+$'"),
        ("a", INT_OR_STRING, "Invalid value: \"a\": x in body should match '^[0-9]+$'"),
        ("abc", TIME, 'Invalid value: "abc": x in body must be of type date-time: "abc"'),
        (0, {"type": "integer", "minimum": 1}, "Invalid value: 0: x in body should be greater than or equal to 1"),
        (6, {"type": "integer", "maximum": 5}, "Invalid value: 6: x in body should be less than or equal to 5"),
        (
            1,
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            "Invalid value: 1: x in body should be greater than 1",
        ),
        (0.25, {"type": "number", "minimum": 0.5}, "Invalid value: 0.25: x in body should be greater than or equal to 0.5"),
        (
            [],
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "Invalid value: 0: x in body should have at least 1 items",
        ),
    ],
)  # fmt: skip
def test_errors_are_worded_as_kubernetes_words_them(value, schema, expected):
    """Users look these sentences up, so they are the very ones."""
    assert texts(value, schema) == [f"x: {expected}"]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("b", {"type": "string", "enum": ["a", "b"]}),
        ("äöü", {"type": "string", "minLength": 3, "maxLength": 3}),
        (1, {"type": "integer", "minimum": 1, "maximum": 1}),
        (2, {"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
        (["a"], {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}),
        ("2026-06-01T12:00:00Z", TIME),
        ("2026-06-01t12:00:00.25+02:00", TIME),
        ("anything", {"type": "string", "format": "password"}),
    ],
)
def test_values_on_the_bound_pass(value, schema):
    """Bounds include themselves, lengths count characters, and unknown formats say nothing."""
    assert errors(value, schema) == []


@pytest.mark.parametrize(
    ("most", "words"), [(1, "at most 1 item"), (2, "at most 2 items")], ids=["one", "more"]
)
def test_too_many_items_are_counted(most, words):
    """The error carries how many there are and how many may be."""
    schema = {"type": "array", "items": {"type": "string"}, "maxItems": most}

    assert errors(["a", "b", "c"], schema) == [
        FieldError("x", Problem.TOO_MANY, f"must have {words}", 3)
    ]


def test_a_text_that_is_too_long_is_not_matched():
    """The pattern is not tried on a text that is refused for its length anyway."""
    schema = {"type": "string", "maxLength": 2, "minLength": 1, "pattern": "^a"}

    assert errors("bbbb", schema) == [too_long("x", "bbbb", 2)]


@pytest.mark.parametrize(
    ("value", "shape", "bound"),
    [
        (2**31, "int32", "less than or equal to 2147483647"),
        (-(2**31) - 1, "int32", "greater than or equal to -2147483648"),
        (2**63, "int64", "less than or equal to 9223372036854775807"),
        (-(2**63) - 1, "int64", "greater than or equal to -9223372036854775808"),
        (2**63, None, "less than or equal to 9223372036854775807"),
    ],
    ids=str,
)
def test_an_integer_must_fit_its_format(value, shape, bound):
    """A number that the wire cannot carry is told the bound; without a format that is 64 bits."""
    schema = {"type": "integer"} | ({"format": shape} if shape else {})

    assert texts(value, schema) == [f"x: Invalid value: {value}: x in body should be {bound}"]


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_the_largest_and_smallest_integers_fit(value):
    """The bounds of a format belong to it."""
    assert errors(value, {"type": "integer", "format": "int32", "minimum": -(2**40)}) == []


def test_a_float_is_bound_by_the_schema_only():
    """A number in a format of floats has no range of integers."""
    assert errors(1e300, {"type": "number", "format": "double"}) == []
    assert errors(10**30, {"type": "number", "format": "double"}) == []
