"""Values against their own nodes. The texts are those of kube-apiserver v1.34."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from kubekit.api.fields import Problem
from kubekit.api.structural import Judge, faults, found, validate

INT_OR_STRING = {"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+$"}
TIME = {"type": "string", "format": "date-time"}
LIST = {"type": "array", "items": {"type": "string"}}
MAP = {"type": "object", "additionalProperties": {"type": "integer"}}


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
        (1.0000000001, {"type": "integer"}),
        (-(2.0**53) + 1, {"type": "integer"}),
        (3, {"type": "number"}),
        (10**30, {"type": "number"}),
        (10**400, {"type": "number", "minimum": 5}),
        (-(10**400), {"type": "number", "maximum": 5}),
        (3.5, {"type": "number"}),
        ("a", {"type": "string"}),
        ([], LIST),
        ({}, {"type": "object"}),
        (80, INT_OR_STRING),
        (80.0, INT_OR_STRING),
        ("80", INT_OR_STRING),
        ({"a": [1]}, {"x-kubernetes-preserve-unknown-fields": True}),
        (2**31, {"type": "integer", "format": "int32"}),
        (1e300, {"type": "number", "format": "float"}),
        (None, {"x-kubernetes-preserve-unknown-fields": True, "nullable": True}),
    ],
    ids=str,
)
def test_values_of_the_right_type_pass(value, schema):
    """JSON has one kind of number, and formats of numbers say nothing in a custom resource."""
    assert errors(value, schema) == []


@pytest.mark.parametrize(
    ("value", "wanted", "given"),
    [
        ("a", "integer", "string"),
        (True, "integer", "boolean"),
        (1.5, "integer", "number"),
        (-1.0000000001, "integer", "number"),
        (0.0000000001, "integer", "number"),
        (2.0**53, "integer", "number"),
        (2**63, "integer", "number"),
        (-(2**63) - 1, "integer", "number"),
        (math.inf, "integer", "number"),
        (math.nan, "integer", "number"),
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
    """The error shows what was given and what is wanted."""
    assert texts(value, {"type": wanted}) == [
        f'x: Invalid value: "{given}": x in body must be of type {wanted}: "{given}"'
    ]
    assert errors(value, {"type": wanted})[0].problem is Problem.TYPE_INVALID


@pytest.mark.parametrize(
    ("value", "given"),
    [(1, "int64"), (1.5, "float64"), (True, ""), ({}, "")],
    ids=str,
)
def test_where_a_format_is_checked_the_wrong_type_is_reported_by_format(value, given):
    """Kubernetes names the format that is wanted and the one that numbers have."""
    assert texts(value, TIME) == [
        f'x: Invalid value: "{given}": x in body must be of type date-time: "{given}"'
    ]


def test_a_list_is_no_text_of_any_format():
    """Here we are stricter than Kubernetes, which takes a list for a date."""
    assert texts(["a"], TIME) == [
        'x: Invalid value: "array": x in body must be of type string: "array"'
    ]


def test_a_format_without_a_type_still_judges_texts():
    """Where anything may stand, a number is refused by the format alone."""
    schema = {"x-kubernetes-preserve-unknown-fields": True, "format": "date"}

    assert texts("a", schema) == ['x: Invalid value: "a": x in body must be of type date: "a"']
    assert texts(1, schema) == [
        'x: Invalid value: "int64": x in body must be of type date: "int64"'
    ]
    assert errors(["a"], schema) == []


def test_an_int_or_string_names_both_types():
    """A value that is neither gets both errors."""
    assert texts(1.5, INT_OR_STRING) == [
        'x: Invalid value: "number": x in body must be of type integer,string: "number"'
    ]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("c", {"type": "string", "enum": ["a", "b"]}, 'Unsupported value: "c": supported values: "a", "b"'),
        (3, {"type": "integer", "enum": [1, 2]}, 'Unsupported value: 3: supported values: "1", "2"'),
        ({"a": 2}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "enum": [{"a": [1]}]},
         'Unsupported value: {"a":2}: supported values: "{\\"a\\":[1]}"'),
        ("", {"type": "string", "minLength": 1}, 'Invalid value: "": x in body should be at least 1 chars long'),
        ("éééé", {"type": "string", "maxLength": 3}, "Too long: may not be more than 3 bytes"),
        ("b", {"type": "string", "pattern": "^a+$"}, "Invalid value: \"b\": x in body should match '^a+$'"),
        ("a", INT_OR_STRING, "Invalid value: \"a\": x in body should match '^[0-9]+$'"),
        ("abc", TIME, 'Invalid value: "abc": x in body must be of type date-time: "abc"'),
        (0, {"type": "integer", "minimum": 1}, "Invalid value: 0: x in body should be greater than or equal to 1"),
        (6, {"type": "integer", "maximum": 5}, "Invalid value: 6: x in body should be less than or equal to 5"),
        (6, {"type": "integer", "maximum": 5.5}, "Invalid value: 6: x in body should be less than or equal to 5"),
        (6.0, {"type": "integer", "maximum": 5.5}, "Invalid value: 6: x in body should be less than or equal to 5.5"),
        (1, {"type": "integer", "minimum": 1, "exclusiveMinimum": True}, "Invalid value: 1: x in body should be greater than 1"),
        (5, {"type": "integer", "maximum": 5, "exclusiveMaximum": True}, "Invalid value: 5: x in body should be less than 5"),
        (0.25, {"type": "number", "minimum": 0.5}, "Invalid value: 0.25: x in body should be greater than or equal to 0.5"),
        (1e22, {"type": "number", "maximum": 1e21}, "Invalid value: 1e+22: x in body should be less than or equal to 1e+21"),
        (4, {"type": "integer", "multipleOf": 3}, "Invalid value: 4: x in body should be a multiple of 3"),
        (4, {"type": "integer", "multipleOf": 0.5},
         "Invalid value: 0: factor MultipleOf declared for x must be positive: 0"),
        (0.35, {"type": "number", "multipleOf": 0.1}, "Invalid value: 0.35: x in body should be a multiple of 0.1"),
        (5.5, {"type": "number", "multipleOf": 2}, "Invalid value: 5.5: x in body should be a multiple of 2"),
        (["a"], LIST | {"minItems": 2}, "Invalid value: 1: x in body should have at least 2 items"),
        (["a", "b"], LIST | {"maxItems": 1}, "Too many: 2: must have at most 1 item"),
        (["a", "b", "c"], LIST | {"maxItems": 2}, "Too many: 3: must have at most 2 items"),
        (["a", "b", "a"], LIST | {"uniqueItems": True}, 'Invalid value: "": x in body shouldn\'t contain duplicates'),
        ({}, MAP | {"minProperties": 1}, "Invalid value: 0: x in body should have at least 1 properties"),
        ({"a": 1, "b": 2}, MAP | {"maxProperties": 1}, "Too many: 2: must have at most 1 item"),
        ({"a": 1}, {"type": "object", "additionalProperties": False},
         'Invalid value: "a": x.a in body is a forbidden property'),
    ],
)  # fmt: skip
def test_errors_are_worded_as_kubernetes_words_them(value, schema, expected):
    """Users look these sentences up, so they are the very ones."""
    assert texts(value, schema) == [f"x: {expected}"]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("b", {"type": "string", "enum": ["a", "b"]}),
        ("b", {"type": "string", "enum": []}),
        (1.0, {"type": "integer", "enum": [1]}),
        (
            {"a": 1},
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "enum": [{"a": 1}]},
        ),
        ("äöü", {"type": "string", "minLength": 3, "maxLength": 3}),
        ("", {"type": "string", "minLength": -1, "pattern": ""}),
        (1, {"type": "integer", "minimum": 1, "maximum": 1}),
        (0, {"type": "integer", "minimum": 0.5}),
        (0, {"type": "integer", "minimum": -(2**70), "maximum": 2**70}),
        (2, {"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
        (2, {"type": "integer", "maximum": 3, "exclusiveMaximum": True}),
        (-6, {"type": "integer", "multipleOf": 3}),
        (0.3, {"type": "number", "multipleOf": 0.1}),
        (["a"], LIST | {"minItems": 1, "maxItems": 1}),
        (["a", "b"], LIST | {"uniqueItems": True}),
        ({"a": 1}, MAP | {"minProperties": 1, "maxProperties": 1}),
        ("2026-06-01T12:00:00Z", TIME),
        ("2026-06-01t12:00:00.25+02:00", TIME),
        ("anything", {"type": "string", "format": "password"}),
        ("anything", {"type": "string", "format": "unheard-of"}),
        ("anything", {"type": "string", "format": "k8s-short-name"}),
    ],
    ids=str,
)
def test_values_on_the_bound_pass(value, schema):
    """Bounds include themselves, lengths count characters, and unknown formats say nothing."""
    assert errors(value, schema) == []


def test_a_null_is_in_no_enum():
    """Even where null is allowed, and even where it is listed."""
    schema = {"type": "string", "nullable": True, "enum": ["a", None]}

    assert texts(None, schema) == ['x: Unsupported value: null: supported values: "a", "null"']


def test_other_errors_are_reported_beside_the_type():
    """A value of the wrong type may be none of the words either."""
    assert texts("a", {"type": "integer", "enum": [1]}) == [
        'x: Invalid value: "string": x in body must be of type integer: "string"',
        'x: Unsupported value: "a": supported values: "1"',
    ]


def test_a_text_that_is_too_long_is_not_matched():
    """The pattern is not tried on a text that is refused for its length anyway."""
    schema = {"type": "string", "maxLength": 2, "minLength": 1, "pattern": "^a"}

    assert [error.problem for error in errors("bbbb", schema)] == [Problem.TOO_LONG]


@pytest.mark.parametrize(
    ("value", "form", "wrong"),
    [
        (2**31 - 1, "int32", False),
        (-(2**31), "int32", False),
        (2**31, "int32", True),
        (-(2**31) - 1, "int32", True),
        (2**31, "int64", False),
        (2**31, "", False),
    ],
)
def test_in_a_native_kind_integers_have_so_many_bits(value, form, wrong):
    """Kubernetes reads such a kind into a type of its own, where a larger number has no room."""
    schema = {"type": "object", "properties": {"x": {"type": "integer", "format": form}}}

    got = faults({"x": value}, schema, Judge(found, native=True))

    assert [error.problem for error in got] == [Problem.TYPE_INVALID] * wrong


@given(st.integers(-(2**53), 2**53), st.integers(1, 10**6))
def test_multiples_of_an_integer_are_exact(times, factor):
    """No rounding lets a number pass that is no multiple, nor refuses one that is."""
    schema = {"type": "integer", "multipleOf": factor}

    assert errors(times, schema) == [] or times % factor
    assert not (times * factor < 2**63 and errors(times * factor % 2**63, schema)) or times < 0
