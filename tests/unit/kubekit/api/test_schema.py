from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest

from kubekit.api.meta import EPOCH, Object
from kubekit.api.resource import Resource
from kubekit.api.schema import schema_of
from kubekit.api.times import MicroTime
from kubekit.api.wire import (
    ATOMIC_MAP,
    Cel,
    Counter,
    Int32,
    IntOrString,
    RawQuantity,
    Rule,
    Wire,
    always,
    list_map,
)
from tests.support.kubekit.schema_nodes import no_docs


class Door(Wire, frozen=True, kw_only=True):
    """A way in.

    This paragraph is not part of the CRD.
    """

    width_cm: int
    """How wide it is."""
    name: str = ""


class Tree(Wire, frozen=True, kw_only=True):
    branches: "tuple[Tree, ...]" = ()


class House(Object, frozen=True, kw_only=True):
    """A place to live."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="example.test", version="v1", kind="House", plural="houses"
    )

    api_version: Literal["example.test/v1"] = always("example.test/v1")
    kind: Literal["House"] = always("House")
    spec: Door


def owner_of(annotation, **default):
    """A class whose only field, ``value``, has this type."""
    field = ("value", annotation, msgspec.field(**default))
    return msgspec.defstruct("Probe", [field], bases=(Wire,), frozen=True, kw_only=True)


def schema_for(annotation):
    return schema_of(owner_of(annotation), no_docs)["properties"]["value"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (str, {"type": "string"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (MicroTime, {"type": "string", "format": "date-time"}),
        (
            dict[str, Annotated[str, Rule(nullable=True)]],
            {"type": "object", "additionalProperties": {"type": "string", "nullable": True}},
        ),
        (Any, {"x-kubernetes-preserve-unknown-fields": True}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict[str, Any], {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (list[bool], {"type": "array", "items": {"type": "boolean"}}),
        (str | None, {"type": "string"}),
        (Int32 | None, {"type": "integer", "format": "int32"}),
        (
            IntOrString | None,
            {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "x-kubernetes-int-or-string": True,
            },
        ),
    ],
    ids=str,
)
def test_a_type_has_one_shape(annotation, expected):
    """Each Python type is one shape in the schema, and leaving out None does not show in it."""
    assert schema_for(annotation) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Annotated[str, Rule(enum=("a", "b"))], {"type": "string", "enum": ["a", "b"]}),
        (
            Annotated[str, Rule(min_length=1, max_length=9, pattern="^a")],
            {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
        ),
        (
            Annotated[Int32, Rule(minimum=1, maximum=5)],
            {"type": "integer", "format": "int32", "minimum": 1, "maximum": 5},
        ),
        (
            Annotated[int, Rule(exclusive_minimum=0)],
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        ),
        (
            Annotated[tuple[str, ...], Rule(list_type="set", min_items=1, max_items=2)],
            {
                "type": "array",
                "minItems": 1,
                "maxItems": 2,
                "x-kubernetes-list-type": "set",
                "items": {"type": "string"},
            },
        ),
        (
            Annotated[dict[str, str] | None, ATOMIC_MAP],
            {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "additionalProperties": {"type": "string"},
            },
        ),
        (
            Annotated[dict[str, str], Rule(preserve_unknown_fields=True)],
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "additionalProperties": {"type": "string"},
            },
        ),
        (
            Annotated[str, Rule(validations=(Cel("self != ''", "must be there"),))],
            {
                "type": "string",
                "x-kubernetes-validations": [{"rule": "self != ''", "message": "must be there"}],
            },
        ),
        (Annotated[str, "a remark, not a rule"], {"type": "string"}),
    ],
)
def test_a_rule_is_spelled_as_kubernetes_spells_it(annotation, expected):
    """Each rule becomes the keyword of the same meaning."""
    assert schema_for(annotation) == expected


def test_a_quantity_is_an_integer_or_a_patterned_string():
    """A quantity names no type of its own, and the pattern binds only its text form."""
    got = schema_for(RawQuantity)

    assert list(got) == ["anyOf", "pattern", "x-kubernetes-int-or-string"]
    assert got["pattern"].startswith("^(\\+|-)?")


def test_rules_of_a_list_stay_apart_from_rules_of_its_items():
    """What is written around a list binds the list; what is written inside it binds each item."""
    item = Annotated[int, Rule(minimum=1)]

    got = schema_for(Annotated[tuple[item, ...], Rule(max_items=8)])

    assert got == {"type": "array", "maxItems": 8, "items": {"type": "integer", "minimum": 1}}


def test_a_list_map_names_its_keys():
    """Items that are identified by a key declare it twice, as Kubernetes requires."""
    got = schema_for(Annotated[tuple[Door, ...], list_map("name"), Rule(min_items=1)])

    assert got["x-kubernetes-list-type"] == "map"
    assert got["x-kubernetes-list-map-keys"] == ["name"]
    assert got["minItems"] == 1


def test_the_outer_rule_wins():
    """Of several layers the outermost takes precedence, and the others fill the gaps."""
    inner = Annotated[int, Rule(minimum=1, maximum=9)]

    assert schema_for(Annotated[inner | None, Rule(minimum=2)]) == {
        "type": "integer",
        "minimum": 2,
        "maximum": 9,
    }


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        ("OrderedReady", "OrderedReady"),
        ("", ""),
        (0, 0),
        (False, False),
        (("IPv4",), ["IPv4"]),
        (Door(width_cm=90), {"widthCm": 90}),
        ({"since": EPOCH}, {"since": "1970-01-01T00:00:00Z"}),
    ],
    ids=["text", "empty", "zero", "false", "tuple", "struct", "time"],
)
def test_a_default_is_written_as_json(default, expected):
    """A default may be any value; the schema carries it as a document would."""
    assert schema_for(Annotated[str, Rule(default=default)])["default"] == expected


@pytest.mark.parametrize(
    ("annotation", "default", "required"),
    [
        (str, {}, True),
        (str, {"default": ""}, False),
        (tuple[str, ...], {"default_factory": tuple}, False),
        (str | None, {}, False),
        (Counter, {"default": 0}, True),
        (Annotated[str, Rule(required=False)], {}, False),
    ],
    ids=["plain", "default", "factory", "optional", "rule-yes", "rule-no"],
)
def test_required_is_what_has_no_default(annotation, default, required):
    """A field without a default is required, unless it may be None or its rule says otherwise."""
    got = schema_of(owner_of(annotation, **default), no_docs)

    assert got.get("required", []) == (["value"] if required else [])


def test_a_class_describes_itself_unless_the_field_does():
    """An object's description is the field's own, else the first paragraph of its class."""
    cls = msgspec.defstruct("Hall", [("front", Door), ("back", Door)], bases=(Wire,), frozen=True)

    got = schema_of(cls, lambda _cls: {"front": "Where guests come in."})["properties"]

    assert got["front"]["description"] == "Where guests come in."
    assert got["back"]["description"] == "A way in."


def test_fields_carry_their_docs_and_their_names_on_the_wire():
    """Fields appear by their wire name in sorted order, described by what the docs say of them."""
    got = schema_of(Door, lambda cls: {"width_cm": "How wide it is."} if cls is Door else {})

    assert got == {
        "description": "A way in.",
        "type": "object",
        "required": ["widthCm"],
        "properties": {
            "name": {"type": "string"},
            "widthCm": {"description": "How wide it is.", "type": "integer"},
        },
    }
    assert list(got["properties"]) == ["name", "widthCm"]


def test_an_object_says_nothing_of_its_metadata():
    """Kubernetes owns apiVersion, kind and metadata; a schema may only name their types."""
    got = schema_of(House, no_docs)

    assert got["required"] == ["spec"]
    assert got["properties"]["metadata"] == {"type": "object"}
    assert {name: got["properties"][name]["type"] for name in ("apiVersion", "kind")} == {
        "apiVersion": "string",
        "kind": "string",
    }


@pytest.mark.parametrize(
    "annotation",
    [bytes, set[str], tuple[int, str], dict[int, str], int | str, Literal[1], list],
    ids=str,
)
def test_a_type_without_a_schema_is_refused(annotation):
    """A type the walker does not know is an error that names the field."""
    with pytest.raises(TypeError, match=r"Probe\.value: no schema can be made of"):
        schema_for(annotation)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotated[tuple[str, ...], Rule(pattern="a")], "pattern does not apply to array values"),
        (Annotated[str, Rule(minimum=1)], "minimum does not apply to string values"),
        (Annotated[bool, Rule(enum=("a",))], "enum does not apply to boolean values"),
        (Annotated[Door, list_map("name")], "list_map_keys does not apply to object values"),
    ],
    ids=["list", "string", "boolean", "object"],
)
def test_a_rule_without_effect_is_refused(annotation, message):
    """A rule that cannot bind values of the type is an error, because it would never be enforced."""
    with pytest.raises(TypeError, match=rf"Probe\.value: the rule {message}"):
        schema_for(annotation)


def test_a_type_that_contains_itself_is_refused():
    """A structural schema is finite, so a recursive type has none."""
    with pytest.raises(TypeError, match="Tree contains itself"):
        schema_of(Tree, no_docs)
