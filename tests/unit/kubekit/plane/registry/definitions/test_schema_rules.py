"""What Kubernetes refuses in the schema of a definition. The texts are those of v1.34."""

import pytest

from compute.api import COMPUTE_KINDS, KARMADA_KINDS, NEIGHBOUR_KINDS
from kubekit.api.fields import Path
from kubekit.plane.registry.definitions.schema_rules import schema_errors
from tests.support.kubekit.schema_nodes import schema_of_kind

E, EITHER_TYPE, P = (
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
)
L, K, M = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
TEXT = {"type": "string"}
EITHER = [{"type": "integer"}, {"type": "string"}]
ITEM = {"type": "object", "required": ["a"], "properties": {"a": TEXT}}
MAP = {"type": "array", L: "map", K: ["a"], "items": ITEM}
ANY = {"type": "object", E: True, P: True}
OBJECT = {"type": "object", "properties": {"a": {"type": "object"}}}
AS_SET = "must be atomic as item of a list with x-kubernetes-list-type=set"
KEYED = "this property is in x-kubernetes-list-map-keys, so it"
IMPLICIT = "must not specify anything other than name and generateName, but metadata is implicitly specified"


def errors_of(schema, **options):
    return [str(error) for error in schema_errors(schema, Path("r"), **options)]


def errors_in_property(node):
    """What is said of a field ``x``, without the path of the field."""
    schema = {"type": "object", "properties": {"x": node}}
    return [text.replace("r.properties[x]", "") for text in errors_of(schema)]


@pytest.mark.parametrize("kind", [*COMPUTE_KINDS, *NEIGHBOUR_KINDS, *KARMADA_KINDS])
def test_our_own_schemas_are_taken(kind):
    """What we serve could be served by Kubernetes."""
    assert errors_of(schema_of_kind(kind), status=kind.RESOURCE.status) == []


@pytest.mark.parametrize(
    "node",
    [
        TEXT,
        {P: True},
        {EITHER_TYPE: True},
        {EITHER_TYPE: True, "anyOf": EITHER},
        {EITHER_TYPE: True, "allOf": [{"anyOf": EITHER}, {"pattern": "a"}]},
        {"type": "string", "anyOf": EITHER},
        {"type": "object", "additionalProperties": True, "properties": {"a": TEXT}},
        {"type": "object", "additionalProperties": TEXT},
        {"type": "array", "items": TEXT, "uniqueItems": False},
        {"type": "array", "items": TEXT, L: "set"},
        {"type": "array", "items": {"type": "object", M: "atomic"}, L: "set"},
        {"type": "array", "items": {"type": "array", "items": TEXT}, L: "set"},
        MAP,
        MAP | {"items": {"type": "object", "properties": {"a": {"type": "string", "default": "q"}}}},
        ANY,
        {"type": "object", E: True, "properties": {"a": TEXT}},
        ANY | {"default": {"apiVersion": "v1", "kind": "K", "metadata": {"odd": 1}}},
        ANY | {"properties": {"metadata": {"type": "object", "properties": {"name": TEXT | {"default": "a"}}}}},
        OBJECT | {"not": {"nullable": False, "additionalProperties": False, "enum": []}},
        OBJECT | {"oneOf": [{"required": ["zz"]}, {"properties": {"a": {"maxProperties": 1}}}]},
        {"type": "object", M: "granular"},
        {"type": "string", "minLength": -1, "format": "foo", "enum": [1], "pattern": "", "default": None},
        {"type": "array", L: "set", "default": ["a", "a"], "items": TEXT},
        {"type": "object", "patternProperties": {}, "definitions": {}},
        {"type": "string", "nullable": True, "title": "t", "example": 3, "externalDocs": {"url": "x"}},
        {"type": "object", "default": {"y": 1}, P: True},
        {"type": "array", "items": TEXT, "items ": 3},
    ],
    ids=str,
)  # fmt: skip
def test_what_kubernetes_takes_is_taken(node):
    """Nothing is refused that a cluster would serve."""
    assert errors_in_property(node) == []


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({}, [".type: Required value: must not be empty for specified object fields"]),
        ({"type": "array", "items": {}}, [".items.type: Required value: must not be empty for specified array items"]),
        ({"type": "array"}, [".items: Required value: must be specified"]),
        ({"type": "array", "items": []}, [".items: Required value: must be specified"]),
        ({"type": "object", "additionalProperties": {}},
         [".additionalProperties.type: Required value: must not be empty for specified object fields"]),
        ({EITHER_TYPE: True, P: True}, [f".{P}: Invalid value: true: must be false if x-kubernetes-int-or-string is true"]),
        ({EITHER_TYPE: True, E: True, "type": "object", "properties": {"a": TEXT}},
         [f".{E}: Invalid value: true: must be false if x-kubernetes-int-or-string is true"]),
        ({E: True, P: True}, [".type: Required value: must be object if x-kubernetes-embedded-resource is true"]),
        ({"type": "string", E: True, P: True},
         ['.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true']),
        ({"type": "object", E: True},
         [".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
          "x-kubernetes-preserve-unknown-fields"]),
        (ANY | {"additionalProperties": TEXT},
         [".additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set"]),
        (ANY | {"properties": {"kind": {"type": "integer"}, "apiVersion": {P: True}, "metadata": TEXT}},
         ['.properties[apiVersion].type: Invalid value: "": must be string',
          '.properties[kind].type: Invalid value: "integer": must be string',
          '.properties[metadata].type: Invalid value: "string": must be object']),
        ({"type": "string", "pattern": "("},
         ['.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
          "error parsing regexp: missing closing ): `(`"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_schema_is_structural(node, expected):
    """Each value has one type, and what is embedded is an object."""
    assert errors_in_property(node) == expected


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"type": "object"}, ["type: Forbidden: must be empty to be structural"]),
        ({"description": "d"}, ["description: Forbidden: must be empty to be structural"]),
        ({"title": "t"}, ["title: Forbidden: must be empty to be structural"]),
        ({"default": False}, ["default: Forbidden: must be undefined to be structural"]),
        ({"nullable": True}, ["nullable: Forbidden: must be false to be structural"]),
        ({"additionalProperties": True}, ["additionalProperties: Forbidden: must be undefined to be structural"]),
        ({P: True}, [f"{P}: Forbidden: must be false to be structural"]),
        ({E: True}, [f"{E}: Forbidden: must be false to be structural"]),
        ({EITHER_TYPE: True}, [f"{EITHER_TYPE}: Forbidden: must be false to be structural"]),
        ({"x-kubernetes-validations": [{"rule": "true"}]},
         ["x-kubernetes-validations: Forbidden: must be empty to be structural"]),
        ({"pattern": "("}, ['pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
                            "error parsing regexp: missing closing ): `(`"]),
        ({"anyOf": EITHER}, ["anyOf[0].type: Forbidden: must be empty to be structural",
                             "anyOf[1].type: Forbidden: must be empty to be structural"]),
    ],
    ids=str,
)  # fmt: skip
def test_alternatives_do_not_give_types(keyword, said, expected):
    """Types, defaults and the like stand outside of them."""
    here = ".not" if keyword == "not" else f".{keyword}[0]"
    got = errors_in_property(OBJECT | {keyword: said if keyword == "not" else [said]})

    if keyword == "allOf" and "anyOf" in said:  # the one place where an int-or-string may repeat it
        expected = []
    assert got == [f"{here}.{text}" for text in expected]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"properties": {"b": {}}}, ["r.properties[b]: Required value: because it is defined in r.not.properties[b]"]),
        ({"items": {}}, ["r.items: Required value: because it is defined in r.not.items"]),
        ({"properties": {"a": {"not": {"items": {}}}}},
         ["r.properties[a].items: Required value: because it is defined in "
          "r.not.properties[a].not.items"]),
        ({"properties": {"metadata": {}}},
         ["r.not.properties[metadata]: Forbidden: must not be specified in a nested context",
          "r.properties[metadata]: Required value: because it is defined in r.not.properties[metadata]"]),
        ({"properties": {"a": {"type": "object", "properties": {"c": {"type": "string"}}}}},
         ["r.not.properties[a].properties[c].type: Forbidden: must be empty to be structural",
          "r.not.properties[a].type: Forbidden: must be empty to be structural",
          "r.properties[a].properties[c]: Required value: because it is defined in "
          "r.not.properties[a].properties[c]"]),
    ],
    ids=str,
)  # fmt: skip
def test_alternatives_speak_only_of_what_is_described(said, expected):
    """What stands in one of them at the root stands outside of it, too."""
    assert errors_of(OBJECT | {"not": said}) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "text"}, ['.type: Unsupported value: "text": supported values: "array", "boolean", "integer", '
                            '"number", "object", "string"']),
        ({"type": "null"}, ['.type: Unsupported value: "null": supported values: "array", "boolean", "integer", '
                            '"number", "object", "string"',
                            ".type: Forbidden: type cannot be set to null, use nullable as an alternative"]),
        ({"$ref": ""}, [".type: Required value: must not be empty for specified object fields",
                        ".$ref: Forbidden: $ref is not supported"]),
        ({"$ref": "#/a"}, [".$ref: Forbidden: $ref is not supported"]),
        ({"type": "string", "id": "a"}, [".id: Forbidden: id is not supported"]),
        ({"type": "object", "patternProperties": {"a": TEXT}},
         [".patternProperties: Forbidden: patternProperties is not supported"]),
        ({"type": "object", "dependencies": {}}, [".dependencies: Forbidden: dependencies is not supported"]),
        ({"type": "object", "definitions": {"a": TEXT}}, [".definitions: Forbidden: definitions is not supported"]),
        ({"type": "array", "items": TEXT, "additionalItems": True},
         [".additionalItems: Forbidden: additionalItems is not supported"]),
        ({"type": "array", "items": [TEXT]}, [".items: Forbidden: items must be a schema object and not an array"]),
        ({"type": "array", "items": TEXT, "uniqueItems": True},
         [".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"]),
        ({"type": "object", "additionalProperties": TEXT, "properties": {"a": TEXT}},
         [".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
        ({"type": "object", "additionalProperties": False, "properties": {"a": TEXT}},
         [".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
        ({P: False}, [f".{P}: Invalid value: false: must be true or undefined"]),
        ({"type": "string", M: "atomic"}, ['.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified']),
        ({P: True, M: "atomic"}, [".type: Required value: must be object if x-kubernetes-map-type is specified"]),
        ({"type": "object", M: "odd"}, [f'.{M}: Unsupported value: "odd": supported values: "atomic", "granular"']),
        ({"type": "string", L: "set"}, ['.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified']),
        ({"type": "array", "items": TEXT, L: "odd"},
         [f'.{L}: Unsupported value: "odd": supported values: "atomic", "set", "map"']),
        ({"type": "array", "items": {"type": "object"}, L: "set"}, [f".items.{M}: Invalid value: null: {AS_SET}"]),
        ({"type": "array", "items": {"type": "array", "items": TEXT, L: "set"}, L: "set"},
         [f'.items.{L}: Invalid value: "set": {AS_SET}']),
        ({"type": "array", "items": TEXT | {"nullable": True}, L: "set"},
         [".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set"]),
        (MAP | {K: []}, [f".{K}: Required value: must not be empty if x-kubernetes-list-type is map"]),
        (MAP | {K: ["b"]}, [f'.{K}: Invalid value: ["b"]: entries must all be names of item properties']),
        (MAP | {K: ["a", "a"]}, [f'.{K}: Invalid value: ["a","a"]: must not contain duplicate entries']),
        (MAP | {"items": TEXT}, ['.items.type: Invalid value: "string": must be object if parent array\'s '
                                 "x-kubernetes-list-type is map"]),
        (MAP | {"items": [TEXT]}, [".items: Forbidden: items must be a schema object and not an array",
                                   '.items: Invalid value: [{"type":"string"}]: must only have a single schema if '
                                   "x-kubernetes-list-type is map"]),
        ({"type": "array", L: "map", K: ["a"]}, [".items: Required value: must be specified",
                                                 ".items: Required value: must have a schema if x-kubernetes-list-type is map"]),
        (MAP | {"items": {"type": "object", "properties": {"a": TEXT}}},
         [f".items.properties[a].default: Required value: {KEYED} must have a default or be a required property"]),
        (MAP | {"items": ITEM | {"properties": {"a": {"type": "object"}}}},
         ['.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array\'s '
          "x-kubernetes-list-type is map"]),
        (MAP | {"items": ITEM | {"properties": {"a": TEXT | {"nullable": True}}}},
         [f".items.properties[a].nullable: Forbidden: {KEYED} cannot be nullable"]),
        (MAP | {L: "set", "items": TEXT}, [f'.{L}: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty']),
        ({"type": "array", "items": TEXT, K: ["a"]},
         [f".{L}: Required value: must be map if x-kubernetes-list-map-keys is non-empty"]),
        (ANY | {"properties": {"metadata": {"type": "object", "properties": {"x": ANY}}}},
         [f".properties[metadata].properties[x].{E}: Forbidden: must not be used inside of resource meta"]),
        (ANY | {"properties": {"metadata": {"type": "object", "properties": {
            "labels": {"type": "object", "additionalProperties": TEXT | {"default": "q"}}}}}},
         [".properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside "
          "additionalProperties applying to object metadata"]),
        (OBJECT | {"allOf": [{"uniqueItems": True}]},
         [".allOf[0].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
          "quadratic"]),
    ],
    ids=str,
)  # fmt: skip
def test_keywords_fit_together(node, expected):
    """What contradicts itself, or cannot be served, is refused by keyword."""
    assert errors_in_property(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "string", "default": 3}, ['.default: Invalid value: "integer":  in body must be of type string: "integer"']),
        ({"type": "object", "default": {"y": 1}}, ['.default: Invalid value: {"y":1}: must not have unknown fields']),
        ({"type": "object", "default": {"y": 3}, "properties": {"y": TEXT}},
         ['.default.y: Invalid value: "integer": y in body must be of type string: "integer"']),
        ({"type": "array", "default": [1], "items": TEXT},
         ['.default.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"']),
        ({"type": "array", "items": {"type": "string", "default": 1}},
         ['.items.default: Invalid value: "integer":  in body must be of type string: "integer"']),
        ({"type": "object", "additionalProperties": {"type": "string", "default": 1}}, []),
        ({"type": "object", "default": {}, "required": ["a"], "properties": {"a": TEXT}}, [".default.a: Required value"]),
        ({"type": "string", "default": "b", "oneOf": [{"pattern": "a"}]},
         ['.default: Invalid value: "": "" must validate one and only one schema (oneOf). Found none valid',
          ".default: Invalid value: \"b\":  in body should match 'a'"]),
        (ANY | {"default": {"kind": "a"}}, [".default.apiVersion: Required value"]),
        (ANY | {"default": {"kind": 1}}, [".default.kind: Invalid value: 1: must be a string"]),
        (ANY | {"default": {"metadata": {"name": 1}}},
         ['.default.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field '
          "ObjectMeta.name of type string"]),
        (ANY | {"properties": {"kind": TEXT | {"default": ""}}},
         ['.properties[kind].default: Invalid value: "": must result in valid metadata: kind: Invalid value: "": '
          "must not be empty"]),
        (ANY | {"properties": {"metadata": {"type": "object", "properties": {"generation": {"type": "integer", "default": "a"}}}}},
         ['.properties[metadata].properties[generation].default: Invalid value: "a": must result in valid metadata: '
          'metadata: Invalid value: {"generation":"a"}: json: cannot unmarshal string into Go struct field '
          "ObjectMeta.generation of type int64"]),
        (ANY | {"properties": {"metadata": {"type": "object", "properties": {
            "ownerReferences": {"type": "array", "items": {P: True, "default": {"apiVersion": "v1", "kind": "A"}}}}}}},
         ['.properties[metadata].properties[ownerReferences].items.default: Invalid value: {"apiVersion":"v1","kind":"A"}: '
          'must result in valid metadata: [metadata.ownerReferences.name: Invalid value: "": must not be empty, '
          'metadata.ownerReferences.uid: Invalid value: "": must not be empty]']),
    ],
    ids=str,
)  # fmt: skip
def test_a_default_is_right_itself(node, expected):
    """Otherwise the field could not be left out."""
    assert errors_in_property(node) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, ["r.type: Required value: must not be empty at the root"]),
        ({"type": "string"}, ['r.type: Invalid value: "string": must be object at the root']),
        ({"type": "object", "additionalProperties": True},
         ["r.additionalProperties: Forbidden: must not be used at the root"]),
        ({"type": "object", "nullable": True}, ["r.nullable: Forbidden: nullable cannot be true at the root"]),
        ({"type": "object", "$schema": "a"}, ["r: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]),
        ({"type": "object", P: True}, []),
    ],
    ids=str,
)  # fmt: skip
def test_the_root_is_an_object(schema, expected):
    """An object of the API is nothing else."""
    assert errors_of(schema) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"type": "object"}, []),
        ({"type": "object", "properties": {"name": {"type": "string", "pattern": "a"}, "generateName": TEXT}}, []),
        ({"type": "object", "nullable": False, "required": []}, []),
        ({"type": "string"}, ['r.properties[metadata].type: Invalid value: "string": must be object']),
        ({"type": "object", "properties": {"labels": {"type": "object"}}}, [f"r.properties[metadata]: Forbidden: {IMPLICIT}"]),
        ({"type": "object", "description": "d"}, [f"r.properties[metadata]: Forbidden: {IMPLICIT}"]),
        ({"type": "object", "minProperties": 0}, [f"r.properties[metadata]: Forbidden: {IMPLICIT}"]),
        ({"type": "object", "default": {}}, ["r.properties[metadata].default: Forbidden: must not be set in top-level metadata"]),
        ({"type": "object", "properties": {"name": TEXT | {"default": "a"}}},
         ["r.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata"]),
    ],
    ids=str,
)  # fmt: skip
def test_of_the_metadata_only_names_are_a_schemas_to_restrict(metadata, expected):
    """Everything else about it is the same for every kind."""
    assert errors_of({"type": "object", "properties": {"metadata": metadata}}) == expected


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        (
            {
                "type": "object",
                "required": ["spec"],
                "description": "x",
                P: True,
                "uniqueItems": False,
            },
            [],
        ),
        ({"type": "object", "minProperties": 1}, ["r"]),
        ({"type": "object", "oneOf": [{"required": ["spec"]}]}, ["r"]),
        ({"type": "string"}, ["r.type", "r.type"]),
    ],
    ids=str,
)
def test_beside_a_status_the_root_says_little(schema, wrong):
    """The status is judged by its own part of the schema, and nothing may be lost with the root."""
    assert [error.path for error in schema_errors(schema, Path("r"), status=True)] == wrong
