import re

import pytest
from hypothesis import given, settings

from kubekit.api.fields import FieldError, Problem, invalid, required
from kubekit.api.structural import found, prune, unknown_fields, validate, with_defaults
from kubekit.api.structural.nodes import has_more_values
from tests.support.generated import depth
from tests.support.generated.structural_strategies import documents, worlds

NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
BY_NAME = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": NAMED,
}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}


def having(schema, **more):
    """The schema of an object whose field ``x`` has this schema."""
    return {"type": "object", "properties": {"x": schema}} | more


def messages(document, schema):
    return [str(error) for error in validate(document, schema)]


def nested(depth=50_000):
    """A list in a list in a list: deeper than any stack."""
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


def test_every_error_is_reported_in_the_order_of_the_checks():
    """Nothing hides behind the first error: what is inside, how many, and last what is missing."""
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "kind": {"type": "string"},
            "spec": {
                "type": "object",
                "required": ["template"],
                "properties": {
                    "replicas": {"type": "integer", "minimum": 1},
                    "placements": {"type": "array", "items": NAMED, "minItems": 2},
                },
            },
        },
    }
    document = {"spec": {"placements": [{"name": 3}], "replicas": 0}, "kind": 5}

    assert messages(document, schema) == [
        'spec.placements[0].name: Invalid value: "integer": spec.placements[0].name in body '
        'must be of type string: "integer"',
        "spec.placements: Invalid value: 1: spec.placements in body should have at least 2 items",
        "spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1",
        "spec.template: Required value",
        'kind: Invalid value: "integer": kind in body must be of type string: "integer"',
    ]


def test_the_search_ends_after_as_many_errors_as_were_asked_for():
    """A server that also serves other requests does not list a million."""
    schema = having({"type": "array", "items": {"type": "string"}})
    document = {"x": ["a", 1, 2, 3]}

    assert [error.path for error in validate(document, schema, most=2)] == ["x[1]", "x[2]"]
    assert len(validate(document, schema)) == 3


def test_members_of_a_map_are_checked_by_their_key():
    """The values of a map have paths like fields."""
    schema = having({"type": "object", "additionalProperties": {"type": "string"}})

    assert messages({"x": {"a.b/c": 5, "d": "e"}}, schema) == [
        'x.a.b/c: Invalid value: "integer": x.a.b/c in body must be of type string: "integer"'
    ]


def test_fields_without_a_schema_are_not_judged():
    """What the schema does not know is for pruning, not for validation."""
    preserving = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    assert validate({"x": {"y": [None, {}]}, "z": 1}, having(preserving)) == []


def test_a_document_that_is_no_object_is_refused():
    """The root has no name, and its error no path."""
    assert validate(5, having({"type": "string"})) == [
        FieldError(
            "", Problem.TYPE_INVALID, ' in body must be of type object: "integer"', "integer"
        )
    ]


def test_a_field_with_a_default_is_never_missing():
    """The default will be there when the object is stored."""
    schema = having({"type": "string", "default": "a"}, required=["x", "y"])

    assert validate({}, schema) == [required("y")]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, [required("x")]),
        ({"type": "string", "default": "a"}, []),
        ({"type": "string", "nullable": True}, []),
    ],
    ids=["absent", "defaulted", "nullable"],
)
def test_a_null_is_an_absent_field_unless_it_is_allowed(schema, expected):
    """Go writes null for what is not there, so Kubernetes reads it that way."""
    assert validate({"x": None}, having(schema, required=["x"])) == expected


def test_a_null_in_a_list_is_an_item_of_the_wrong_type():
    """An item cannot be absent; only a default can stand in for it."""
    assert messages({"x": [None]}, having({"type": "array", "items": {"type": "string"}})) == [
        'x[0]: Invalid value: "null": x[0] in body must be of type string: "null"'
    ]
    defaulted = {"type": "array", "items": {"type": "string", "default": "a"}}
    assert validate({"x": [None]}, having(defaulted)) == []


def test_the_matcher_can_be_replaced():
    """Foreign patterns are matched by a matcher that is safe for them."""
    asked = []

    def never(pattern, text):
        asked.append((pattern, text))
        return False

    got = validate({"x": "b"}, having({"type": "string", "pattern": "^b$"}), matches=never)

    assert got == [invalid("x", "b", "x in body should match '^b$'")]
    assert asked == [("^b$", "b")]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a+$", "aa", True),
        ("^a+$", "aa\n", False),
        ("b", "abc", True),
        (r"\$", "5$", True),
        (r"^\d$", "\N{ARABIC-INDIC DIGIT FIVE}", False),
    ],
)
def test_patterns_mean_what_they_mean_to_kubernetes(pattern, text, expected):
    """A pattern may match anywhere, ``$`` is the very end, and digits are the ten ASCII ones."""
    assert found(pattern, text) is expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "enum": ["a"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"x-kubernetes-preserve-unknown-fields": True},
        BY_NAME,
        SET,
    ],
    ids=["string", "enum", "array", "map", "anything", "list-map", "set"],
)
def test_no_document_is_too_deep(schema):
    """The walk ends where the schema ends, however far the document goes on."""
    document = {"x": nested(), "y": nested()}

    for error in validate(document, having(schema)):
        assert re.match(r"x[:.\[]", str(error))
    assert [error.path for error in unknown_fields(document, having(schema))] == ["y"]
    assert list(prune(document, having(schema))) == ["x"]
    assert list(with_defaults(document, having(schema))) == ["x", "y"]


def test_the_errors_of_members_and_lists_are_limited():
    """The limit holds for all errors together."""
    document = {"x": ["a"] * 3 + ["b"] * 3, "y": 1, "z": 2}
    schema = having(SET | {"items": {"type": "string", "maxLength": 0}})
    schema["properties"] |= {"y": {"type": "string"}, "z": {"type": "string"}}

    assert [len(validate(document, schema, most=most)) for most in (1, 7, 9, 20)] == [1, 7, 9, 10]
    assert [error.path for error in validate({"z": 2, "y": 1}, schema, most=1)] == ["z"]


@settings(max_examples=depth.examples(100), deadline=None)
@given(worlds())
def test_a_document_is_judged_by_what_it_would_become(world):
    """Filling in the defaults beforehand changes no verdict."""
    schema, document = world

    assert validate(document, schema) == validate(with_defaults(document, schema), schema)


@settings(max_examples=depth.examples(100), deadline=None)
@given(worlds(), documents())
def test_any_document_gets_an_answer(world, document):
    """Whatever JSON is thrown at a schema, each error names a place in it."""
    schema, _ = world

    for error in validate(document, schema):
        assert str(error).startswith(f"{error.path}: ")


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^$|^a$", "\n", False),
        ("^$|^a$", "", True),
        ("^a$", "a\n", False),
        (r"^a\$", "a$", True),
        ("^[$]$", "$", True),
        ("^[]$]$", "$", True),
        (r"^[\]$]$", "$", True),
    ],
)
def test_the_end_is_the_very_end(pattern, text, expected):
    """Every anchor of a pattern stands at the end of the text, never before a last newline."""
    assert found(pattern, text) is expected


@pytest.mark.parametrize(
    ("document", "most", "more"),
    [
        ({}, 0, False),
        ({"a": 1}, 1, False),
        ({"a": [1, {"b": 2}]}, 4, False),
        ({"a": [1, 2]}, 2, True),
    ],
    ids=["nothing", "as many", "nested", "more"],
)
def test_values_are_counted_until_there_are_too_many(document, most, more):
    """Each member of an object or a list counts, at any depth."""
    assert has_more_values(document, most) is more
