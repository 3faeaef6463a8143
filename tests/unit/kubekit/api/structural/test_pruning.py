import pytest
from hypothesis import given, settings

from kubekit.api.fields import forbidden
from kubekit.api.structural import prune, unknown_fields
from tests.support.generated import depth
from tests.support.generated.structural_strategies import worlds

SCHEMA = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "placements": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"cityCodes": {"type": "array"}}},
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
    },
}

KEEPING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
KEEPING_LIST = {
    "type": "array",
    "x-kubernetes-preserve-unknown-fields": True,
    "items": {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}},
}


def having(schema):
    return {"type": "object", "properties": {"x": schema}}


def paths(document, schema):
    return [error.path for error in unknown_fields(document, schema)]


def test_an_unknown_field_comes_with_the_name_that_was_meant():
    """The error says what Kubernetes says of it, and the nearest field that exists."""
    assert unknown_fields({"spec": {"placment": []}}, SCHEMA) == [
        forbidden("spec.placment", 'unknown field "spec.placment"; did you mean "placements"?')
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("citycodes", '; did you mean "cityCodes"?'),
        ("cityCode", '; did you mean "cityCodes"?'),
        ("zzz", ""),
        ("cityCodes" * 8, ""),
    ],
    ids=["case", "singular", "nothing-near", "too-long"],
)
def test_a_hint_is_given_only_where_one_helps(name, hint):
    """Case and small slips are recognised; nothing is guessed for what is nothing like a field."""
    [error] = unknown_fields({"spec": {"placements": [{name: 1}]}}, SCHEMA)

    assert error.detail == f'unknown field "spec.placements[0].{name}"{hint}'


def test_rubbish_buys_few_hints():
    """Every unknown field is listed, but only the first ones are compared with all the others."""
    document = {"spec": {f"placements{n}": 1 for n in range(100)}}

    got = unknown_fields(document, SCHEMA)

    assert len(got) == 100
    assert sum("did you mean" in error.detail for error in got) == 20


def test_the_search_ends_after_as_many_as_were_asked_for():
    """A server that also serves other requests does not list a million."""
    document = {"spec": {"a": 1, "b": {"c": 1}, "d": 1}}

    got = unknown_fields(document, SCHEMA, most=2)

    assert [error.path for error in got] == ["spec.a", "spec.b"]


def test_metadata_is_not_the_schemas_to_know():
    """Whatever the metadata holds is left alone, at the root and in embedded objects."""
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}}
    inner = {"kind": "Pod", "metadata": {"odd": 1}, "spec": {}}
    document = {"apiVersion": "v1", "metadata": {"odd": 1}, "x": inner}

    assert paths(document, having(embedded)) == ["x.spec"]
    assert prune(document, having(embedded)) == {
        "apiVersion": "v1",
        "metadata": {"odd": 1},
        "x": {"kind": "Pod", "metadata": {"odd": 1}},
    }


def test_template_metadata_is_a_field_like_any_other():
    """Metadata that the schema spells out below the root is pruned by it."""
    template = {
        "type": "object",
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }
    document = {"x": {"metadata": {"name": "a", "uid": "b"}, "kind": "Pod"}}

    assert paths(document, having(template)) == ["x.metadata.uid", "x.kind"]


def test_maps_know_every_key():
    """A map has no unknown fields, and neither has an object that keeps what it does not know."""
    keeping = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"known": {"type": "object", "properties": {}}},
    }

    assert paths({"spec": {"labels": {"app": "web"}}}, SCHEMA) == []
    assert paths({"x": {"a": {"b": 1}, "known": {"c": 1}}}, having(keeping)) == ["x.known.c"]
    assert prune({"x": {"a": {"b": 1}, "known": {"c": 1}}}, having(keeping)) == {
        "x": {"a": {"b": 1}, "known": {}}
    }


@pytest.mark.parametrize(
    ("schema", "value", "unknown", "pruned"),
    [
        ({"type": "object", "additionalProperties": True}, {"a": {"b": {"c": 1}}, "d": [{"e": 1}]},
         ["x.a.b", "x.d[0].e"], {"a": {}, "d": [{}]}),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, [], {"a": 1}),
        ({"type": "object", "additionalProperties": {"type": "object"}}, {"a": {"b": 1}}, ["x.a.b"], {"a": {}}),
        ({"type": "string"}, {"a": 1}, ["x.a"], {}),
        ({"type": "string"}, [[{"a": 1}], 2, [3]], ["x[0][0].a"], [[{}], 2, [3]]),
        ({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
         [{"a": 1, "b": 1}, 2], ["x[0].b"], [{"a": 1}, 2]),
        (KEEPING, {"a": {"b": [{"c": None}]}}, [], {"a": {"b": [{"c": None}]}}),
        (KEEPING | {"additionalProperties": {"type": "object"}}, {"a": {"b": 1}}, ["x.a.b"], {"a": {}}),
        (KEEPING_LIST, [{"z": 1, "a": {"y": 1}}], ["x[0].a.y"], [{"z": 1, "a": {}}]),
        ({"type": "array", "x-kubernetes-preserve-unknown-fields": True}, [{"z": 1}], [], [{"z": 1}]),
    ],
    ids=["map-of-anything", "no-others", "map", "text", "lists-in-text", "items", "kept",
         "kept-but-described", "kept-in-items", "kept-items"],
)  # fmt: skip
def test_what_is_known_where(schema, value, unknown, pruned):
    """As Kubernetes has it: what no schema describes has only unknown fields, whatever its type."""
    assert paths({"x": value}, having(schema)) == unknown
    assert prune({"x": value}, having(schema)) == {"x": pruned}


def test_pruning_goes_into_lists_and_leaves_the_document_alone():
    """The pruned document is a new one."""
    document = {"spec": {"placements": [{"cityCodes": ["DFW"], "zone": 1}]}, "extra": 1}

    assert prune(document, SCHEMA) == {"spec": {"placements": [{"cityCodes": ["DFW"]}]}}
    assert document["extra"] == 1


@settings(max_examples=depth.examples(100), deadline=None)
@given(worlds())
def test_pruning_takes_away_exactly_the_unknown_fields(world):
    """A pruned document has no unknown fields, and one without them is not changed."""
    schema, document = world

    pruned = prune(document, schema)

    assert unknown_fields(pruned, schema) == []
    assert prune(pruned, schema) == pruned
    assert (pruned == document) == (unknown_fields(document, schema) == [])


def test_d4_among_very_many_names_none_is_looked_for():
    """A hint is a kindness; one that takes seconds is none."""
    known = {f"name{n}": {"type": "string"} for n in range(200)}

    (error,) = unknown_fields({"nam1": "x"}, {"type": "object", "properties": known})

    assert error.detail == 'unknown field "nam1"'
