"""Old errors: an error in an unchanged part is not reported again."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.structural import Judge, faults, found
from tests.support.generated import conformance_strategies, depth

FORM = {"type": "string", "pattern": "^z"}
TIGHT = {
    "type": "object",
    "required": ["must"],
    "properties": {
        "s": FORM,
        "i": {"type": "integer", "minimum": 10},
        "o": {
            "type": "object",
            "required": ["b"],
            "properties": {"a": {"type": "string", "minLength": 5}, "b": {"type": "string"}},
        },
        "l": {"type": "array", "items": FORM},
        "lm": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object",
                "properties": {"k": {"type": "string"}, "v": FORM, "w": {"type": "string"}},
            },
        },
        "m": {"type": "object", "additionalProperties": FORM},
        "ls": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "nt": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "not": {"required": ["a"]},
        },
        "must": {"type": "string"},
    },
}
OLD: dict[str, Any] = {
    "s": "a",
    "i": 1,
    "o": {"a": "x"},
    "l": ["a", "b"],
    "lm": [{"k": "1", "v": "a"}, {"k": "2", "v": "b"}],
    "m": {"x": "a"},
    "ls": ["a", "a"],
    "nt": {"a": "1"},
}
JUDGE = Judge(found)


def paths(new, old=OLD, schema=TIGHT):
    whole = {"type": "object", "properties": {"spec": schema, "kind": FORM}}
    got = faults({"spec": new}, whole, JUDGE, {"spec": old})
    return [error.path for error in got]


def test_errors_in_unchanged_parts_are_not_reported():
    """A change of a label does not require a fix of the object first."""
    assert paths(copy.deepcopy(OLD)) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"s": "b"}, ["spec.s", "spec.must"]),
        ({"i": 2}, ["spec.i", "spec.must"]),
        ({"i": 1.0}, ["spec.i", "spec.must"]),
        ({"o": {"a": "y"}}, ["spec.o.a", "spec.o.b", "spec.must"]),
        ({"o": {"a": "x", "b": "y"}}, ["spec.must"]),
        ({"o": ["x"]}, ["spec.o", "spec.must"]),
        ({"o": None}, ["spec.o", "spec.must"]),
        ({"l": ["a", "b", "z"]}, ["spec.l[0]", "spec.l[1]", "spec.must"]),
        ({"l": {}}, ["spec.l", "spec.must"]),
        ({"lm": [OLD["lm"][1], OLD["lm"][0]]}, []),
        ({"lm": [{"k": "1", "v": "a", "w": "n"}, {"k": "3", "v": "c"}]}, ["spec.lm[1].v", "spec.must"]),
        ({"lm": [{"k": "1", "v": "b"}]}, ["spec.lm[0].v", "spec.must"]),
        ({"lm": [{"v": "c"}, 5]}, ["spec.lm[0].v", "spec.lm[1]", "spec.must"]),
        ({"lm": {"k": 1}}, ["spec.lm", "spec.must"]),
        ({"m": {"x": "a", "y": "b"}}, ["spec.m.y", "spec.must"]),
        ({"nt": {"a": "1", "b": "2"}}, ["<nil>", "spec.must"]),
        ({"new": "b"}, ["spec.must"]),
        ({"must": "x"}, []),
    ],
    ids=str,
)  # fmt: skip
def test_what_changed_is_judged(change, expected):
    """Members are found again by name, items of list-maps by key; other lists are one value."""
    assert paths(OLD | change) == expected


def test_what_was_never_a_list_or_object_has_no_parts():
    """A list where an object was, or the other way round, is new altogether."""
    old = OLD | {"o": [1], "l": {}, "lm": 3, "m": None}

    assert paths(OLD, old) == ["spec.o.a", "spec.o.b", "spec.l[0]", "spec.l[1]", "spec.lm[0].v",
                               "spec.lm[1].v", "spec.m.x", "spec.must"]  # fmt: skip


def test_duplicates_are_reported_only_if_there_were_none():
    """Once the old document has a duplicate anywhere, no duplicate is reported."""
    repeating = OLD | {"must": "x", "ls": ["a", "a", "b", "b"]}

    assert paths(repeating) == []
    assert paths(repeating, OLD | {"ls": ["a"]}) == ["spec.ls[1]", "spec.ls[3]"]


def test_fields_without_a_schema_make_all_around_them_look_changed():
    """As in Kubernetes: what is preserved is not compared."""
    schema = {
        "type": "object",
        "required": ["q"],
        "properties": {"u": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }

    assert paths({"u": {}}, {"u": {}}, schema) == []
    assert paths({"u": {"n": 1}}, {"u": {"n": 1}}, schema) == ["spec.q"]


def test_kind_and_version_are_judged_anew():
    """Both documents are shown in the same version, so a fault there is never an old one."""
    schema = {"type": "object", "properties": {"kind": FORM}}

    assert [e.path for e in faults({"kind": "A"}, schema, JUDGE, {"kind": "A"})] == []
    nested = {"type": "object", "properties": {"kind": FORM, "spec": FORM}}
    old, new = {"kind": "A", "spec": "a"}, {"kind": "A", "spec": "b"}
    assert [e.path for e in faults(new, nested, JUDGE, old)] == ["kind", "spec"]


def test_embedded_objects_are_judged_each_time():
    """That an embedded object says what it is, is not a matter of its schema."""
    schema = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}}

    assert paths({}, {}, schema) == ["spec.apiVersion", "spec.kind"]


@settings(max_examples=depth.examples(40), deadline=None)
@given(conformance_strategies.worlds(), st.data())
def test_no_error_at_a_changed_leaf_is_hidden(world, data):
    """Compared with a document that shares nothing, everything is reported as if there were none."""
    schema, document = world

    other = data.draw(st.sampled_from(({"q": 1}, {"q": None, "r": []})))

    assert faults(document, schema, JUDGE, other) == faults(document, schema, JUDGE)


@settings(max_examples=depth.examples(40), deadline=None)
@given(conformance_strategies.worlds())
def test_errors_at_unchanged_members_are_hidden(world):
    """Compared with itself, a document is blamed for nothing inside members that are described."""
    schema, document = world
    closed = {k: v for k, v in schema.items() if k in ("type", "properties")}
    known = {k: v for k, v in document.items() if k in closed.get("properties", {})}
    paths = {error.path for error in faults(known, closed, JUDGE, copy.deepcopy(known))}
    hidden = {"apiVersion", "kind"}

    for name in known.keys() - hidden:
        inner = closed["properties"][name]
        if _is_described(known[name], inner) and not _embeds(inner):
            assert name not in paths


def _is_described(value, schema):
    """Whether a schema speaks of all that is in a value, so that it can be compared."""
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        inner = [(v, named.get(k, others)) for k, v in value.items()]
        return all(isinstance(s, dict) and _is_described(v, s) for v, s in inner)
    return schema.get("x-kubernetes-list-type") != "map" or not isinstance(value, list)


def _embeds(schema):
    return "x-kubernetes-embedded-resource" in str(schema) or "list-type" in str(schema)
