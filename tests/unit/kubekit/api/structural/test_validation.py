"""Alternatives. The texts and the choice among them are those of kube-apiserver v1.34."""

import pytest

from kubekit.api.structural import Judge, found, validate

AB = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
ONE = AB | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
ANY = AB | {
    "anyOf": [{"required": ["a"], "properties": {"a": {"minLength": 3}}}, {"required": ["b"]}]
}
ALL = {"type": "string", "allOf": [{"minLength": 3}, {"pattern": "^x"}]}
NOT = {"type": "string", "not": {"pattern": "^x"}}
EITHER = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
DEEP = {
    "type": "object",
    "properties": {
        "a": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        },
        "b": {"type": "array", "items": {"type": "string"}},
    },
    "oneOf": [
        {"required": ["a"], "properties": {"a": {"required": ["x", "y"]}}},
        {"required": ["b"], "properties": {"b": {"minItems": 2, "items": {"minLength": 2}}}},
    ],
}
NUMBERS = {
    "type": "integer",
    "anyOf": [
        {"minimum": 5, "multipleOf": 2},
        {"maximum": 1},
        {"enum": [3]},
        {"not": {"minimum": 0}},
    ],
}
FORMS = {
    "type": "string",
    "nullable": True,
    "anyOf": [
        {"allOf": [{"minLength": 3}, {"pattern": "a"}]},
        {"oneOf": [{"maxLength": 1}, {"pattern": "^b"}]},
    ],
}
NONE_FITS = (
    '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid'
)
NO_ANY = '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)'
NOT_ALL = '<nil>: Invalid value: "": "x" must validate all the schemas (allOf)'


def texts(value, schema):
    schema = {"type": "object", "properties": {"x": schema}}
    return [str(error) for error in validate({"x": value}, schema)]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (ONE, {}, [NONE_FITS, "x.a: Required value"]),
        (ONE, {"a": "x", "b": "y"},
         ['<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). '
          "Found 2 valid alternatives"]),
        (ONE, {"a": "x"}, []),
        (ANY, {}, [NO_ANY, "x.a: Required value"]),
        (ANY, {"a": "x"}, [NO_ANY, 'x.a: Invalid value: "x": x.a in body should be at least 3 chars long']),
        (ANY, {"a": 1}, ['x.a: Invalid value: "integer": x.a in body must be of type string: "integer"']),
        (ALL, "a", ['x: Invalid value: "a": x in body should be at least 3 chars long',
                    "x: Invalid value: \"a\": x in body should match '^x'", f"{NOT_ALL}. None validated"]),
        (ALL, "xa", ['x: Invalid value: "xa": x in body should be at least 3 chars long', NOT_ALL]),
        (ALL, "xab", []),
        (NOT, "xa", ['<nil>: Invalid value: "": "x" must not validate the schema (not)']),
        (NOT, "b", []),
        (EITHER, True, ['x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
                        NO_ANY, 'x: Invalid value: "boolean": x in body must be of type integer: "boolean"']),
        (DEEP, {}, [NONE_FITS, "x.a: Required value"]),
        (DEEP, {"a": {"x": 1}}, [NONE_FITS, "x.a.y: Required value"]),
        (DEEP, {"b": ["a"]},
         [NONE_FITS, 'x.b[0]: Invalid value: "a": x.b[0] in body should be at least 2 chars long',
          "x.b: Invalid value: 1: x.b in body should have at least 2 items"]),
        (DEEP, {"a": {"x": 1, "y": 2}}, []),
        (NUMBERS, 2, [NO_ANY, "x: Invalid value: 2: x in body should be greater than or equal to 5"]),
        (NUMBERS, 3, []),
        (FORMS, "xx", [NO_ANY, 'x: Invalid value: "xx": x in body should be at least 3 chars long',
                       "x: Invalid value: \"xx\": x in body should match 'a'", f"{NOT_ALL}. None validated"]),
        (FORMS, "bb", []),
        (FORMS, None, []),
    ],
)  # fmt: skip
def test_alternatives_are_reported_as_in_kubernetes(schema, value, expected):
    """That none fits, and what is wrong with the one that fits best, each thing once."""
    assert texts(value, schema) == expected


@pytest.mark.parametrize(("value", "expected"), [({"a": "x"}, True), ({}, False)], ids=str)
def test_a_part_may_be_judged_alone(value, expected):
    """A caller can check just whether a part of a document is valid."""
    assert Judge(found).accepts(value, ONE) is expected


def test_a_null_is_judged_by_type_and_enum_alone():
    """Inside an alternative, too, a null is none of the words."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "nullable": True}},
        "anyOf": [{"properties": {"a": {"enum": ["q"]}}}],
    }

    assert texts({"a": None}, schema) == [
        NO_ANY,
        'x.a: Unsupported value: null: supported values: "q"',
    ]
    assert texts({"a": "q"}, schema) == []


def test_alternatives_in_alternatives_are_each_judged_once():
    """A schema of thirty levels takes no longer than its size."""
    schema: dict[str, object] = {"minLength": 2}
    for _ in range(30):
        schema = {"anyOf": [schema, {"maxLength": 0}], "oneOf": [{"pattern": "^a"}]}

    assert len(texts("b", {"type": "string"} | schema)) == 4
