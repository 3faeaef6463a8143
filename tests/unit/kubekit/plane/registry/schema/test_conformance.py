"""The quick way and the exact way through a schema give the same answer."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.structural import (
    Judge,
    coerced,
    faults,
    found,
    prune,
    unknown_fields,
    with_defaults,
)
from kubekit.client import documents
from kubekit.plane.registry.schema import patterns
from kubekit.plane.registry.schema.conformance import (
    MOST_BESIDE,
    MOST_ERRORS,
    MOST_VALUES,
    Conformance,
)
from tests.support.compute import served_kinds
from tests.support.generated import conformance_strategies, depth, structural_strategies

ROOT = Path(__file__).parents[6]
FILES = (
    *(ROOT / "examples").glob("*.yaml"),
    ROOT / "tests/unit/compute/api/documents/compute.yaml",
)
SAMPLES: list[Any] = [document for file in FILES for document in documents.read(file.read_bytes())]


def kind_of(document):
    return served_kinds.everything().by_kind(document["apiVersion"], document["kind"])


def exactly(schema, document, *, native=False):
    """What the exact functions say; as text, which also tells the order of keys and 1 from true."""
    read = coerced(with_defaults(prune(document, schema), schema), schema)
    unknown = [*sorted(map(str, unknown_fields(document, schema))), *map(str, read.unknown)]
    if read.fault is not None:
        return json.dumps(read.document), unknown, str(read.fault)
    errors = faults(read.document, schema, Judge(patterns.matches, native=native))
    return json.dumps(read.document), unknown, [*map(str, errors)]


def conformed(schema, document):
    return shown(Conformance(schema).conform(copy.deepcopy(document)))


def shown(got):
    errors = got.unreadable or [*map(str, got.errors)]
    return json.dumps(got.document), [*map(str, got.unknown)], errors


def is_quick(schema, document):
    """Whether the document itself comes back: the exact way makes another."""
    return Conformance(schema).conform(document).document is document


@settings(max_examples=depth.examples(200), deadline=None)
@given(structural_strategies.worlds() | conformance_strategies.worlds())
def test_the_answer_is_that_of_the_exact_functions(world):
    """Whatever the schema and the document, going the quick way changes nothing."""
    assert conformed(*world) == exactly(*world)


@st.composite
def damaged(draw):
    """One of our documents, with a few values at random places taken, replaced or doubled."""
    sample = draw(st.sampled_from(SAMPLES))
    document = copy.deepcopy(sample)
    for _ in range(draw(st.integers(0, 3))):
        node = document
        while isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else range(len(node))
            key = draw(st.sampled_from(keys))
            if not isinstance(node[key], dict | list) or draw(st.integers(0, 4)) == 0:
                _damage(draw, node, key)
                break
            node = node[key]
    return kind_of(sample), document


def _damage(draw, node, key):
    match draw(st.sampled_from(("take", "replace", "double"))):
        case "take":
            del node[key]
        case "replace":
            node[key] = draw(conformance_strategies.VALUES)
        case _ if isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        case _:
            node["unheardOf"] = node[key]


@settings(max_examples=depth.examples(150), deadline=None)
@given(damaged())
def test_damaged_documents_of_ours_are_judged_exactly(world):
    """Our own schemas, which are large, lead to the same answer on both ways."""
    kind, document = world
    got = Conformance(kind.schema).conform(copy.deepcopy(document))

    assert shown(got) == exactly(kind.schema, document)


@settings(max_examples=depth.examples(150), deadline=None)
@given(damaged(), st.data())
def test_parts_that_stay_need_not_be_judged_again(world, data):
    """A part that is the very one of the stored document leads to the same answer as its copy."""
    kind, document = world
    sample = next(s for s in SAMPLES if kind_of(s) is kind)
    old = Conformance(kind.schema).conform(copy.deepcopy(sample)).document
    kept = data.draw(st.sets(st.sampled_from([name for name in old if name != "metadata"])))
    shared = {**copy.deepcopy(document), **{name: old[name] for name in kept}}
    copied = {**document, **{name: copy.deepcopy(old[name]) for name in kept}}
    conformance = Conformance(kind.schema)

    assert shown(conformance.conform(shared, old)) == shown(
        conformance.conform(copy.deepcopy(copied), old)
    )


@pytest.mark.parametrize("document", SAMPLES, ids=lambda d: f"{d['kind']}-{d['metadata']['name']}")
def test_sound_documents_go_the_quick_way(document):
    """What a cluster stores all day is not walked in Python."""
    document = copy.deepcopy(document)

    assert kind_of(document).conform(document).document is document


@pytest.mark.parametrize(
    "kind", served_kinds.everything().members, ids=lambda k: k.resource.crd_name
)
def test_every_kind_of_ours_has_a_quick_way(kind):
    """Each schema accepts its smallest object, or says what is missing from it."""
    got = kind.conform({"apiVersion": "x", "kind": "x", "metadata": {"name": "a"}})

    assert not got.unknown
    assert all("Required value" in str(error) for error in got.errors)


PORTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "protocol"],
    "items": {
        "type": "object",
        "required": ["port"],
        "properties": {
            "port": {"type": "integer"},
            "protocol": {"type": "string", "default": "TCP"},
        },
    },
}


def test_defaults_count_as_keys_of_items():
    """An item that leaves a key to its default is the same as one that spells it out."""
    schema = {"type": "object", "properties": {"ports": PORTS}}
    document = {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}

    (error,) = Conformance(schema).conform(document).errors

    assert error.path == "ports[1]"


def test_defaults_are_never_shared():
    """Changing one document does not change the default that the next one gets."""
    schema = {"type": "object", "properties": {"a": {"type": "object", "default": {"b": [1]},
              "properties": {"b": {"type": "array", "items": {"type": "integer"}}}}}}  # fmt: skip
    conformance = Conformance(schema)
    conformance.conform({}).document["a"]["b"].append(2)

    assert conformance.conform({}).document == {"a": {"b": [1]}}


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


@pytest.mark.parametrize(
    ("schema", "value", "quick"),
    [
        ({"type": "string", "pattern": "^[a-z]+$"}, "abc", True),
        ({"type": "string", "pattern": "^[a-z]+$"}, "abc\n", False),
        ({"type": "string", "pattern": r"^\w$"}, "é", False),
        ({"type": "string", "format": "date-time"}, "2024-12-31T23:59:59.123456Z", True),
        ({"type": "string", "format": "date-time"}, "2024-02-30T00:00:00Z", False),
        ({"type": "integer", "format": "int32"}, 2**31, True),
        ({"type": "integer"}, True, False),
        ({"type": "number", "maximum": 2}, 1.5, True),
        ({"type": "string", "enum": ["a"]}, "a", True),
        ({"type": "string", "nullable": True}, None, True),
        ({"type": "string"}, None, False),
        ({"x-kubernetes-int-or-string": True}, "1", True),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"a": [None]}, True),
        ({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, ["a"], True),
        ({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, ["a", "a"], False),
        (PORTS, [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}], True),
        ({"properties": {"a": {"type": "string"}}}, {"a": "b"}, True),
        ({"properties": {"a": {"type": "string"}}}, {"b": "b"}, False),
        ({"type": "string", "format": "date-time", "pattern": "^2"}, "2024-01-01T00:00:00Z", True),
        ({"type": "integer", "format": "double"}, 1, True),
        ({"type": "number", "maximum": 2**60}, 1.5, True),
        ({"type": "odd"}, 1, False),
        ({}, [{"a": None}], False),
        ({}, {}, True),
        ({}, {"a": None}, False),
        ({"type": "array", "items": {}}, [{"a": None}], False),
        ({"type": "array"}, ["a", None], True),
        ({"type": "array"}, [{}], False),
        ({"type": "integer", "multipleOf": 3, "exclusiveMaximum": True, "maximum": 6}, 3, True),
        ({"type": "integer", "multipleOf": 3, "exclusiveMaximum": True, "maximum": 6}, 6, False),
        ({"type": "number", "multipleOf": 0.5}, 1.5, True),
        ({"type": "object", "additionalProperties": True}, {"a": 1, "b": None}, True),
        ({"type": "object", "additionalProperties": True}, {"a": {}}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1}, {"a": "b"}, True),
        ({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1},
         {"a": "b", "c": "d"}, False),
        (EITHER, {"a": "b"}, True),
        (EITHER, {"a": "b", "b": "c"}, False),
        ({"type": "object", "additionalProperties": EITHER}, {"x": {"b": "c"}}, True),
        ({"type": "array", "items": EITHER}, [{"b": "c"}, {}], False),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, 1, True),
        ({"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+$", "maximum": 3}, "12", True),
        ({"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+$", "maximum": 3}, 3, True),
        ({"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+$", "maximum": 3}, 4, False),
        ({"type": "string", "format": "ipv4"}, "1.2.3.4", True),
        ({"type": "string", "format": "ipv4"}, "1.2.3", False),
        ({"type": "string", "nullable": True, "enum": ["a"]}, None, False),
        (POD, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"a": 1}}, True),
        (POD, {"apiVersion": "v1", "kind": "Pod", "metadata": {"odd": "a"}}, False),
        (POD, {"apiVersion": "v1", "metadata": {"name": "a"}}, False),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 30, True),
        ({"type": "string", "minLength": -1}, "", True),
        ({"type": "string", "maxLength": -1}, "", False),
    ],
)  # fmt: skip
def test_what_is_accepted_quickly(schema, value, quick):
    """Types accept valid values, and refuse invalid values and values that would be changed."""
    assert is_quick({"type": "object", "properties": {"x": schema}}, {"x": value}) is quick


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        ({"type": "array", "items": {"type": "integer", "default": 3}}, [1, None], [1, 3]),
        ({"type": "array", "items": {"nullable": True, "default": 3}}, [None], [None]),
        ({"type": "object", "additionalProperties": {"properties": {"a": {"default": 3}}}},
         {"b": {}, "c": 1}, {"b": {"a": 3}, "c": 1}),
        ({"properties": {"a": {"default": 3}}, "items": {"properties": {"b": {"default": 4}}}},
         {}, {"a": 3}),
        ({"properties": {"a": {"default": 3}}, "items": {"properties": {"b": {"default": 4}}}},
         [{}], [{"b": 4}]),
        ({"type": "object", "default": {}, "properties": {"a": {"default": 3}}}, None, {"a": 3}),
        ({"type": "integer", "minimum": 2, "maximum": 1}, 1, 1),
    ],
)  # fmt: skip
def test_defaults_are_filled_in_wherever_they_stand(schema, value, filled):
    """In items, in members of maps, and below a default that was itself filled in."""
    whole = {"type": "object", "properties": {"x": schema}}

    assert Conformance(whole).conform({"x": value}).document == {"x": filled}


def test_a_default_with_unknown_fields_takes_the_exact_way():
    """Such a default is filled in after unknown fields were dropped, and stays."""
    schema = {"type": "object", "properties": {"a": {"type": "object", "default": {"b": 1}}}}

    assert conformed(schema, {}) == exactly(schema, {}) == ('{"a": {"b": 1}}', [], [])


@pytest.mark.parametrize("keyword", ["maxLength", "minLength"])
def test_limits_beyond_all_counting_take_the_exact_way(keyword):
    """A schema may name a length that no text ever has."""
    schema = {"type": "object", "properties": {"a": {"type": "string", keyword: 2**70}}}

    assert conformed(schema, {"a": "b"}) == exactly(schema, {"a": "b"})


def test_patterns_of_strangers_are_matched_by_the_matcher_given():
    """A pattern is only ever tried by what was handed in for it."""
    tried = []

    def matches(pattern, text):
        tried.append((pattern, text))
        return found(pattern, text)

    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^b"}}}
    got = Conformance(schema, matches).conform({"a": "bc"})

    assert (got.errors, tried) == ([], [("^b", "bc")])


HUGE = {
    "wrong items": ("Namespace", {"spec": {"finalizers": [1] * 1_500_000}}),
    "wrong members": ("ConfigMap", {"data": {f"k{n}": 1 for n in range(250_000)}}),
    "unknown fields": ("ConfigMap", {f"k{n}": 1 for n in range(250_000)}),
    "unknown at the end": ("ConfigMap", {"data": {f"k{n}": "" for n in range(250_000)}, "x": 1}),
    "unknown in items": ("ServiceAccount", {"secrets": [{"x": 1}] * 400_000}),
    "nulls": ("ServiceAccount", {"secrets": [None] * 600_000}),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("kind", "parts"), HUGE.values(), ids=list(HUGE))
def test_whatever_three_megabytes_hold_they_are_judged_in_a_moment(kind, parts):
    """No other request is served meanwhile, so a document that large is checked as a whole."""
    found = served_kinds.everything().require("v1", kind)
    found.conform({"metadata": {"name": "a"}})
    document = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, **parts}
    got = found.conform(document)

    (error,) = got.errors
    assert f"of more than {MOST_VALUES} values" in error.detail


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"spec": {"n": "x"}}, "spec.n: Forbidden: Expected `int`, got `str`; a document of more"),
        ({"spec": {"u": 1}}, "spec.u: Forbidden: unknown field; a document of more"),
        ({"spec": {"m": {}}}, "spec.m.r: Forbidden: missing required field; a document of more"),
        ({"u": 1}, "u: Forbidden: unknown field; a document of more"),
        ({"` - at `$.x`": 1}, "` - at `$.x`: Forbidden: unknown field; a document of more"),
        ({"spec": 3}, "spec: Forbidden: Expected `object`, got `int`; a document of more"),
        ({"e": "x" * 10**6}, f"e: Forbidden: Invalid enum value '{'x' * 180}; a document of more"),
    ],
    ids=["type", "unknown", "missing", "at the root", "like a place", "object", "a long value"],
)
def test_the_error_of_a_huge_document_has_its_path(parts, words):
    """Only the first error is reported."""
    spec = {
        "n": {"type": "integer"},
        "m": {"type": "object", "required": ["r"], "properties": {"r": {"type": "string"}}},
    }
    properties = {"spec": {"type": "object", "properties": spec},
                  "e": {"type": "string", "enum": ["a"]},
                  "long": {"type": "array", "items": {"type": "integer"}}}  # fmt: skip
    document = {"long": [1] * MOST_VALUES, **parts}

    (error,) = Conformance({"type": "object", "properties": properties}).conform(document).errors

    assert str(error).startswith(words)


def test_a_large_document_without_a_quick_way_is_judged_exactly():
    """Where no types can be made of the schema, there is only the one way."""
    schema = {"type": "object", "properties": {"a": {"type": "object", "default": {"b": 1}},
              "l": {"type": "array", "items": {"type": "string"}}}}  # fmt: skip

    got = Conformance(schema).conform({"l": [""] * MOST_VALUES, "x": 1})

    assert ([error.path for error in got.unknown], got.errors) == (["x"], [])


def test_the_number_of_errors_is_limited():
    """Clients do not read more, and a list of all of them would be larger than the document."""
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}}
    document = {"l": [1] * 1000} | {f"k{n}": 1 for n in range(1000)}

    got = Conformance(schema).conform(document)

    assert (len(got.errors), len(got.unknown)) == (MOST_ERRORS, MOST_ERRORS)
    assert list(got.document) == ["l"]


def huge(**spec):
    return {"apiVersion": "a/v1", "kind": "K", "metadata": {}, "spec": spec}


def listing(item):
    """The schema of an object that has a list of such items."""
    spec = {"type": "object", "properties": {"list": {"type": "array", "items": item}}}
    return {"type": "object", "properties": {"spec": spec}}


def wide(count, field):
    return {"type": "object", "properties": {f"f{at}": field for at in range(count)}}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("item", "values"),
    [
        ({"type": "integer", "anyOf": [{"minimum": n} for n in range(9, 1009)]}, [1008] * 500),
        ({"type": "string", "pattern": "(a|aa){500}b"}, ["a" * n for n in range(9000, 9020)]),
        ({"type": "integer", "enum": [*range(9999)]}, [9998] * 500),
        (wide(1, {"type": "string", "default": "x" * 10_000}), [{} for _ in range(2000)]),
        (wide(2000, {"type": "integer", "default": 1}), [{} for _ in range(2000)]),
        (wide(2000, {"type": "integer"}), [{} for _ in range(99_000)]),
        (wide(20, {"type": "integer"}), [{} for _ in range(300_000)]),
        (wide(2000, {"type": "object", "anyOf": [{}]}), [{} for _ in range(99_000)]),
    ],
    ids=["anyOf", "pattern", "enum", "large", "many", "wider", "wide", "opaque"],
)
def test_d4_what_takes_long_under_its_schema_is_refused(item, values):
    """Many small costs must not block other requests together."""
    (error,) = Conformance(listing(item)).conform(huge(list=values)).errors

    assert "its validation takes too long" in error.detail


def test_d4_what_was_spent_on_one_document_is_not_held_against_the_next():
    """Each request has its own time."""
    item = {"type": "integer", "anyOf": [{"minimum": n} for n in range(9, 1009)]}
    conformance = Conformance(listing(item))
    conformance.conform(huge(list=[1008] * 500))

    assert conformance.conform(huge(list=[1008])).errors == []


def test_d1_a_stored_object_does_not_grow_without_end_when_it_is_read():
    """A younger schema may have defaults for each of many items; then it is shown as it is."""
    item = wide(1, {"type": "string", "default": "x" * 10_000})

    assert Conformance(listing(item)).completed(huge(list=[{} for _ in range(5000)])) is None


@pytest.mark.parametrize("keys", [["f0"], ["f0", "f1"]], ids=["one", "two"])
def test_entries_of_a_list_map_with_many_fields_must_be_unique(keys):
    """What is not kept while it is checked must still differ."""
    item = wide(30, {"type": "string"}) | {"required": keys}
    schema = listing(item)
    schema["properties"]["spec"]["properties"]["list"] |= {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": keys,
    }
    entry = dict.fromkeys(keys, "a")

    assert is_quick(schema, huge(list=[entry, entry | {"f0": "b"}]))
    (error,) = Conformance(schema).conform(huge(list=[entry, dict(entry)])).errors
    assert error.path == "spec.list[1]"


def test_d1_quicker_ways_beside_unchanged_parts_are_few():
    """There is one per set of parts; a client must not fill the cache without limit."""
    properties = {f"p{n}": wide(2, {"type": "string"}) for n in range(6)}
    conformance = Conformance({"type": "object", "properties": properties})
    old = {name: {"f0": "a"} for name in properties}

    for kept in range(64):
        parts = {n: p if kept >> at & 1 else dict(p) for at, (n, p) in enumerate(old.items())}
        assert conformance.conform(parts, old).errors == []

    assert len(conformance._beside) <= MOST_BESIDE  # memory is not seen outside


def test_many_texts_under_a_large_pattern_are_accepted():
    """What is quickly matched costs little, however many steps its pattern has."""
    label = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
    item = {"type": "string", "pattern": rf"^{label}(\.{label})*$"}
    names = [f"{n}.{'a' * 60}.example.com" for n in range(5000)]

    assert Conformance(listing(item)).conform(huge(list=names)).errors == []
