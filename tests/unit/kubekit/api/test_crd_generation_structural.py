import re

import pytest

from compute.api import COMPUTE_KINDS, KARMADA_KINDS, NEIGHBOUR_KINDS
from kubekit.api.structural import prune, validate
from tests.support.kubekit.schema_nodes import nodes, schema_of_kind

CRD_KINDS = [*COMPUTE_KINDS, *NEIGHBOUR_KINDS, *KARMADA_KINDS]
FORBIDDEN = frozenset(
    [
        "$ref",
        "$schema",
        "allOf",
        "definitions",
        "dependencies",
        "id",
        "not",
        "oneOf",
        "patternProperties",
        "uniqueItems",
    ]
)


@pytest.mark.parametrize("kind", CRD_KINDS, ids=lambda kind: kind.__name__)
def test_every_node_has_a_type(kind):
    """A schema is structural: each node has a type, is an int-or-string, or takes anything."""
    untyped = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
    for path, node in nodes(schema_of_kind(kind)):
        assert "type" in node or any(node.get(word) for word in untyped), path
        assert (node.get("type") == "array") == ("items" in node), path


@pytest.mark.parametrize("kind", CRD_KINDS, ids=lambda kind: kind.__name__)
def test_nothing_forbidden_is_said(kind):
    """Structural schemas may not refer, combine, or know both named and other members."""
    for path, node in nodes(schema_of_kind(kind)):
        assert not FORBIDDEN & node.keys(), path
        assert not {"properties", "additionalProperties"} <= node.keys(), path
        assert ("anyOf" in node) == bool(node.get("x-kubernetes-int-or-string")), path
        assert "default" not in node.get("additionalProperties", {}), path


@pytest.mark.parametrize("kind", CRD_KINDS, ids=lambda kind: kind.__name__)
def test_every_default_is_valid(kind):
    """What the schema fills in must itself pass the schema, without anything being pruned."""
    for path, node in nodes(schema_of_kind(kind)):
        if "default" in node:
            assert validate(node["default"], node) == [], path
            wrapped = {"properties": {"value": node}}
            assert prune({"value": node["default"]}, wrapped) == {"value": node["default"]}, path


@pytest.mark.parametrize("kind", CRD_KINDS, ids=lambda kind: kind.__name__)
def test_every_key_of_a_list_map_is_there(kind):
    """Items can only be identified by scalars that are required or have a default."""
    for path, node in nodes(schema_of_kind(kind)):
        for key in node.get("x-kubernetes-list-map-keys", ()):
            item = node["items"]
            scalar = item["properties"][key]
            assert scalar["type"] in ("string", "integer", "boolean"), path
            assert key in item.get("required", ()) or "default" in scalar, path


@pytest.mark.parametrize("kind", CRD_KINDS, ids=lambda kind: kind.__name__)
def test_every_pattern_and_required_name_makes_sense(kind):
    """Patterns compile, and only fields that exist are required."""
    for path, node in nodes(schema_of_kind(kind)):
        re.compile(node.get("pattern", ""))
        assert set(node.get("required", ())) <= node.get("properties", {}).keys(), path
