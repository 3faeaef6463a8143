"""The kinds of one plane."""

import pytest

from kubekit.api.resource import Resource
from kubekit.plane.registry.kinds import Conversion, Kind, Kinds, head_of, rank_of_version
from tests.support.kubekit.described_kinds import kind_of


def kind(group="example.test", version="v1", name="Widget", **parts):
    resource = Resource(group=group, version=version, kind=name, plural=f"{name.lower()}s")
    return Kind(
        resource=resource,
        schema={"type": "object"},
        storage=f"{group}/{resource.plural}",
        head=head_of(resource),
        **parts,
    )


def test_kinds_are_found_by_place_and_by_name():
    """A URL names the plural, a manifest the kind; what is not there is None."""
    widget, gadget = kind(), kind(group="", name="Gadget")
    kinds = Kinds((widget, gadget))

    assert kinds.find("example.test", "v1", "widgets") is widget
    assert kinds.by_kind("v1", "Gadget") is kinds.require("v1", "Gadget") is gadget
    assert kinds.find("", "v1", "widgets") is kinds.by_kind("v1", "Widget") is None
    assert (list(kinds), len(kinds)) == ([widget, gadget], 2)


def test_two_kinds_cannot_have_one_place():
    """It would be unclear which one answers."""
    with pytest.raises(ValueError, match="same API path"):
        Kinds((kind(), kind()))


def test_versions_are_ranked_as_kubernetes_does():
    """Alpha before beta before stable, and the lower number before the higher."""
    names = ["v1alpha1", "v2", "v1beta2", "v11beta1", "v10", "v1", "odd"]

    assert sorted(names, key=rank_of_version) == [
        "odd", "v1alpha1", "v1beta2", "v11beta1", "v1", "v2", "v10",
    ]  # fmt: skip


def test_the_stored_form_is_the_one_without_a_conversion():
    """Among views of the same objects, that one reads what the store holds."""
    view = kind(version="v1", conversion=Conversion(dict, dict))
    stored = kind(version="v2")
    kinds = Kinds((view, stored))

    assert kinds.stored() == {"example.test/widgets": stored}
    assert kinds.stored_as("example.test/widgets") is stored


def test_kinds_come_and_go():
    """More kinds make another set; one at a taken place replaces what was there, in its place."""
    widget, gadget, better = kind(), kind(name="Gadget"), kind()
    kinds = Kinds((widget,))

    grown = kinds.with_kinds((gadget, better))

    assert list(grown) == [better, gadget]
    assert list(grown.without("example.test", "widgets")) == [gadget]
    assert list(kinds) == [widget]


def test_a_kind_that_is_stored_as_it_is():
    """Storage, head and names follow from the place in the API."""
    made = kind_of(kind(group="").resource, {"type": "object"}, custom=False)

    assert (made.storage, made.singular, made.list_kind) == ("/widgets", "widget", "WidgetList")
    assert made.head == b'{"apiVersion":"v1","kind":"Widget","metadata":{'
    assert made.key("ns", "a") == "ns/a"
    assert made.selectable_fields == ()


def test_a_kind_without_namespaces_is_kept_by_name():
    """There is nothing else to tell its objects apart."""
    resource = Resource(group="", version="v1", kind="Node", plural="nodes", namespaced=False)

    assert kind_of(resource, {}).key("", "a") == "a"
