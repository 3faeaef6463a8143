"""Fields as people look them up."""

import pytest

from compute.app import crds
from compute.views.explain.field_docs import (
    DocumentedKind,
    UnknownField,
    documented_kinds,
    field_view,
    kind_named,
    words_of,
)

KINDS = documented_kinds(crds.definitions())


def kind(name: str = "workload") -> DocumentedKind:
    found = kind_named(name, KINDS)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["Workload", "workload", "WORKLOADS", "wl"])
def test_a_kind_is_found_by_any_of_its_names(name):
    """As with kubectl, in any letter case."""
    assert kind(name).kind == "Workload"


def test_an_unknown_kind_is_none():
    """Kinds of Kubernetes itself are not documented here."""
    assert kind_named("pod", KINDS) is None


def test_a_field_has_its_type_documentation_and_path():
    """Lists are passed through, and any letter case is found."""
    view = field_view(kind(), ["spec", "placements", "SCALESETTINGS", "minreplicas"])

    assert view.path == "workload.spec.placements.scaleSettings.minReplicas"
    assert view.type == "integer"
    assert view.required
    assert view.description == "The least Instances per city, from 1 to 1000."
    assert view.fields == ()
    assert (view.kind, view.api_version) == ("Workload", "compute.datumapis.com/v1alpha")


def test_a_kind_lists_its_fields():
    """The whole object is a field with the name of its kind."""
    view = field_view(kind(), [])

    assert view.path == "workload"
    assert [each.name for each in view.fields] == [
        "apiVersion", "kind", "metadata", "spec", "status",
    ]  # fmt: skip
    assert {each.name: each.required for each in view.fields}["spec"]


def test_defaults_and_rules_are_shown():
    """As phrases, with those of the items of a list."""
    mtu = field_view(kind("network"), ["spec", "mtu"])
    families = field_view(kind("network"), ["spec", "ipFamilies"])
    message = field_view(kind("serviceentitlement"), ["spec", "requestMessage"])

    assert (mtu.default, mtu.rules) == (1460, ("at most 8856", "at least 1300"))
    assert families.type == "list of string"
    assert families.default == ["IPv4"]
    assert families.rules == ("each item: one of IPv4, IPv6",)
    assert message.rules == ("at most 1024 characters",)
    assert not message.has_default


def test_rules_in_words_are_shown_as_they_are():
    """A rule that the schema states as an expression has a message."""
    view = field_view(kind("resourceregistration"), ["spec", "resourceType"])

    assert "resourceType cannot be changed" in view.rules


def test_a_key_of_a_map_is_its_value():
    """The key is the user's own word."""
    view = field_view(kind("location"), ["spec", "topology", "Any-Key"])

    assert view.path == "location.spec.topology.Any-Key"
    assert view.type == "string"
    assert field_view(kind("location"), ["spec", "topology"]).type == "map of string"


def test_the_metadata_is_documented_too():
    """Kubernetes defines it, so the schema of a kind says nothing about it."""
    assert "labels" in [f.name for f in field_view(kind(), ["metadata"]).fields]
    assert field_view(kind(), ["metadata", "LABELS"]).type == "map of string"
    assert field_view(kind(), ["metadata", "name"]).required
    with pytest.raises(UnknownField, match="has no field lables"):
        field_view(kind(), ["metadata", "lables"])


def test_an_unknown_field_names_its_parent_and_what_it_has():
    """A caller can suggest one."""
    with pytest.raises(UnknownField) as failure:
        field_view(kind(), ["spec", "placement"])

    assert str(failure.value) == "workload.spec has no field placement"
    assert failure.value.known == ("placements", "template")


@pytest.mark.parametrize("each", KINDS, ids=lambda each: each.kind)
def test_every_field_of_every_kind_can_be_explained(each):
    """Down to the last one, each has a type."""
    seen = 0
    paths: list[list[str]] = [[]]
    while paths:
        path = paths.pop()
        view = field_view(each, path)
        seen += 1
        assert view.type
        if path[:1] != ["metadata"]:
            paths += [[*path, child.name] for child in view.fields]
    assert seen > 4


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("spec.placements[0].name", ["spec", "placements", "name"]),
        (
            "workload.spec.placements[].cityCodes[1]",
            ["workload", "spec", "placements", "cityCodes"],
        ),
        ("spec", ["spec"]),
        ("spec..template.", ["spec", "template"]),
        ("spec.a[0", ["spec", "a"]),
    ],
)
def test_indexes_of_lists_are_left_out(path, words):
    """A path may be copied out of an error."""
    assert words_of(path) == words
