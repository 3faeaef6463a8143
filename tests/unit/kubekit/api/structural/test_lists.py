"""Lists whose items must differ."""

from datetime import date

import pytest

from kubekit.api.fields import duplicate, invalid, required
from kubekit.api.structural import validate

NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
BY_NAME = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": NAMED,
}
BY_PORT = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["protocol", "port"],
    "items": {
        "type": "object",
        "properties": {
            "port": {"type": "integer"},
            "protocol": {"type": "string", "default": "TCP"},
        },
    },
}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}


def errors(value, schema):
    return validate({"x": value}, {"type": "object", "properties": {"x": schema}})


def test_a_duplicate_in_a_list_map_is_reported_once():
    """Items of a list-map are identified by their keys; a third equal one is not reported again."""
    items = [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"name": "a"}]

    assert errors(items, BY_NAME) == [duplicate("x[2]", {"name": "a"})]


def test_a_missing_key_is_a_key_too():
    """Items without their key are incomplete, and alike in that."""
    assert errors([{}, {}], BY_NAME) == [
        required("x[0].name"),
        required("x[1].name"),
        duplicate("x[1]", {}),
    ]


def test_the_default_of_a_key_counts():
    """An item that leaves a key to its default is the same as one that spells it out."""
    items = [{"port": 80}, {"port": 80, "protocol": "UDP"}, {"port": 80, "protocol": "TCP"}]

    assert errors(items, BY_PORT) == [duplicate("x[2]", {"port": 80, "protocol": "TCP"})]


def test_a_duplicate_in_a_set_is_reported():
    """Items of a set are compared as a whole, members in any order."""
    atomic = {"type": "object", "additionalProperties": {"type": "integer"}}

    assert errors(["a", "b", "a"], SET) == [duplicate("x[2]", "a")]
    assert errors([{"a": 1, "b": 2}, {"b": 2, "a": 1}], SET | {"items": atomic}) == [
        duplicate("x[1]", {"b": 2, "a": 1})
    ]


def test_items_that_json_tells_apart_differ():
    """One is neither true nor 1.0."""
    anything = {"x-kubernetes-preserve-unknown-fields": True}

    assert errors([1, True, 1.0, "1", [1], [True]], SET | {"items": anything}) == []


def test_what_is_no_object_is_in_no_list_map():
    """The first such item is reported, and the others are not compared."""
    got = errors([{"name": "a"}, 5, {"name": "a"}], BY_NAME)

    assert got[-1] == invalid("x[1]", 5, "must be an object for an array of list-type map")
    assert [error.path for error in got] == ["x[1]", "x[1]"]


def test_lists_are_found_in_members_items_and_maps():
    """A member of a map is named by its key."""
    lists = {"type": "array", "items": {"type": "object", "properties": {"s": SET}}}
    maps = {"type": "object", "additionalProperties": SET}
    schema = {"type": "object", "properties": {"l": lists, "m": maps}}
    value = {"l": [{"s": ["a", "a"]}, 3], "m": {"k": ["b", "b"]}, "n": ["c", "c"]}

    assert [e.path for e in errors(value, schema) if e.problem.label == "Duplicate value"] == [
        "x.l[0].s[1]",
        "x.m[k][1]",
    ]


@pytest.mark.parametrize("value", [["a", "a"], [date(2026, 6, 1)] * 2], ids=["texts", "dates"])
def test_plain_lists_may_repeat(value):
    """Only sets and list-maps forbid it; and a list without a schema is asked nothing."""
    plain = {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}

    assert errors(value, plain) == []
    assert errors([value], {"type": "array"}) == []
