"""What is dropped from the schemas of a definition."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api.fields import Path
from kubekit.plane.registry.definitions.schema_keywords import cleaned

ROOT = Path("schema")


def clean(schema):
    unknown: list[str] = []
    return cleaned(schema, ROOT, unknown), unknown


@pytest.mark.parametrize(
    ("schema", "kept", "unknown"),
    [
        ({"type": "object", "foo": 1}, {"type": "object"}, ["schema.foo"]),
        ({"items": {"foo": 1}}, {"items": {}}, ["schema.items.foo"]),
        ({"properties": {"a": {"foo": 1}}}, {"properties": {"a": {}}}, ["schema.properties.a.foo"]),
        ({"allOf": [{}, {"foo": 1}]}, {"allOf": [{}, {}]}, ["schema.allOf[1].foo"]),
        ({"not": {"foo": 1}}, {"not": {}}, ["schema.not.foo"]),
        ({"additionalProperties": {"foo": 1}}, {"additionalProperties": {}},
         ["schema.additionalProperties.foo"]),
        ({"x-kubernetes-validations": [{"rule": "true", "foo": 1}]},
         {"x-kubernetes-validations": [{"rule": "true"}]},
         ["schema.x-kubernetes-validations[0].foo"]),
        ({"externalDocs": {"url": "x", "foo": 1}}, {"externalDocs": {"url": "x"}},
         ["schema.externalDocs.foo"]),
        ({"type": "string", "format": None}, {"type": "string"}, []),
    ],
)  # fmt: skip
def test_unknown_keywords_are_dropped_and_reported(schema, kept, unknown):
    """At any depth, by their path."""
    assert clean(schema) == (kept, unknown)


@pytest.mark.parametrize(
    "schema",
    [
        {"default": {"foo": None}, "enum": ["a", None], "example": {"bar": 1}},
        {"default": None},
        {"properties": {"foo": {"type": "string"}, "items": {"type": "array", "items": {}}}},
        {"additionalProperties": True, "x-kubernetes-preserve-unknown-fields": True},
        {"x-kubernetes-validations": [{"rule": "true", "message": "x"}]},
        3,
        [],
        {"properties": 3, "allOf": {}, "items": [], "x-kubernetes-validations": 3},
    ],
    ids=str,
)
def test_what_is_known_is_the_same_object(schema):
    """Values are not checked here, and the rules refuse a value that is no schema."""
    kept, unknown = clean(schema)
    assert kept is schema
    assert unknown == []


WORDS = st.sampled_from(["type", "items", "properties", "allOf", "not", "default", "foo", "bar"])
SCHEMAS = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(WORDS, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=20,
)


@given(SCHEMAS)
def test_what_is_clean_stays_so(schema):
    """Cleaning twice is cleaning once."""
    kept, _ = clean(schema)
    assert clean(kept) == (kept, [])
