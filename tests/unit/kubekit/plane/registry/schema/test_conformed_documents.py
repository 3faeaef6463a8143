"""What is said of documents: what cannot be read, what is old, what a younger schema completes."""

import copy
import json

import pytest
from hypothesis import assume, given, settings

from kubekit.plane.registry.schema.conformance import MOST_NODES, MOST_VALUES, Conformance
from kubekit.plane.registry.schema.defaulting import UncleanDefault, filler
from tests.support.generated import conformance_strategies, depth

EITHER = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
}
POD = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("custom", "errors", "unreadable"),
    [
        (True, ["data.a", "data.b"], ""),
        (
            False,
            ["data.a", "data.b"],
            'data.a: Invalid value: "integer": data.a in body must be of type string: "integer"',
        ),
    ],
    ids=["custom", "native"],
)
def test_in_a_native_kind_the_wrong_type_is_unreadable(custom, errors, unreadable):
    """Kubernetes reads such a kind into a type of its own, and a custom one into anything."""
    schema = {
        "type": "object",
        "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}},
    }
    got = Conformance(schema, custom=custom).conform(CONFIG_MAP | {"data": {"a": 1, "b": 2}})

    assert ([error.path for error in got.errors], got.unreadable) == (errors, unreadable)


@pytest.mark.parametrize(("value", "is_read"), [(2**31 - 1, True), (2**31, False)])
def test_in_a_native_kind_integers_have_so_many_bits(value, is_read):
    """On both ways: what fits goes the quick one."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}}}
    document = {"n": value}

    got = Conformance(schema, custom=False).conform(document)

    assert (not got.unreadable, got.document is document) == (is_read, is_read)
    assert got.unreadable in (
        "",
        'n: Invalid value: "2147483648": n in body must be of type int32: "2147483648"',
    )


def test_errors_in_a_readable_native_kind_are_reported():
    """Only types make it unreadable."""
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}

    got = Conformance(schema, custom=False).conform({})

    assert ([*map(str, got.errors)], got.unreadable) == (["n: Required value"], "")


def test_embedded_metadata_that_cannot_be_read_makes_a_document_unreadable():
    """Also in a custom kind. Unknown fields are reported too."""
    schema = {"type": "object", "properties": {"e": POD}}
    document = {"e": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1}}, "x": 1}

    got = Conformance(schema).conform(document)

    assert got.unreadable == (
        'e.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field '
        "ObjectMeta.name of type string"
    )
    assert [error.path for error in got.unknown] == ["x"]
    assert [str(error) for error in got.errors] == [got.unreadable]


TIGHT = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "pattern": "^z"},
                "b": {"type": "string", "default": "b"},
            },
        }
    },
}


def test_errors_of_the_old_document_are_not_reported():
    """The old document is compared as it would be read now: pruned, and with its defaults."""
    old = {"spec": {"a": "x", "gone": 1}}
    conformance = Conformance(TIGHT)

    same = conformance.conform({"spec": {"a": "x"}}, old)
    other = conformance.conform({"spec": {"a": "y"}}, old)
    new = conformance.conform({"spec": {"a": "x"}})

    assert (same.errors, same.document) == ([], {"spec": {"a": "x", "b": "b"}})
    assert [len(other.errors), len(new.errors)] == [1, 1]


@pytest.mark.parametrize(
    ("schema", "document", "completed"),
    [
        (TIGHT, {"spec": {"a": "z", "b": "c"}}, None),
        (TIGHT, {"spec": {"a": "x", "b": "c"}}, None),
        (TIGHT, {"spec": {"a": "z"}}, {"spec": {"a": "z", "b": "b"}}),
        (TIGHT, {"spec": {"a": "x", "c": 1}}, {"spec": {"a": "x", "b": "b"}}),
        (TIGHT, {"spec": {"a": 5}}, {"spec": {"a": 5, "b": "b"}}),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "b"}, None),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": 5}, None),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "b", "c": 1}, {"a": "b"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": "b"}, None),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": None}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_a_stored_document_is_completed_by_a_younger_schema(schema, document, completed):
    """New defaults are there, forgotten fields are gone, and nothing is judged."""
    assert Conformance(schema).completed(copy.deepcopy(document)) == completed


@settings(max_examples=depth.examples(60), deadline=None)
@given(conformance_strategies.worlds())
def test_what_was_conformed_is_left_alone(world):
    """Pruned, completed and read once, a document is not changed again, nor unknown in anything."""
    schema, document = world
    conformance = Conformance(schema)
    once = conformance.conform(document)
    assume(not once.unreadable and _is_clean(schema))
    before = json.dumps(once.document)
    again = conformance.conform(once.document)

    assert (json.dumps(again.document), again.unknown) == (before, [])
    assert [*map(str, again.errors)] == [*map(str, once.errors)]
    assert conformance.completed(json.loads(before)) is None


def _is_clean(schema):
    """Whether no default holds fields that it should not: definitions may not have such."""
    if "default" in str(schema) and "embedded-resource" in str(schema):
        return False  # a default in embedded metadata may have unknown fields
    try:
        filler(schema)
    except UncleanDefault:
        return False
    return True


def test_a_schema_with_very_many_nodes_has_no_quick_way():
    """Making its types would take longer than judging many documents."""
    leaves = {f"p{n}": {"type": "string"} for n in range(MOST_NODES)}
    schema = {"type": "object", "properties": leaves}
    document = {"p1": "a"}

    got = Conformance(schema).conform(document)

    assert (got.errors, got.document, got.document is document) == ([], {"p1": "a"}, False)


def test_keywords_that_are_null_or_empty_say_nothing():
    """Definitions that were stored with them are worked with all the same."""
    node = {"type": "string", "minLength": None, "pattern": "", "enum": None, "items": None}
    schema = {"type": "object", "properties": {"a": node}, "additionalProperties": None}

    document = {"a": "b"}

    assert Conformance(schema).conform(document).document is document


def test_a_failed_alternative_of_a_huge_document_is_reported():
    """As a whole, since it is judged as a whole."""
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "integer"}}, "e": EITHER},
    }

    (error,) = Conformance(schema).conform({"l": [1] * MOST_VALUES, "e": {}}).errors

    assert "alternatives" in error.detail


def test_d4_a_catastrophic_pattern_takes_a_megabyte():
    """The engine that matches it has no such patterns."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    conformance = Conformance(schema)

    assert conformance.conform({"a": "a" * 10**6}).errors == []
    assert len(conformance.conform({"a": "a" * 10**6 + "!"}).errors) == 1
