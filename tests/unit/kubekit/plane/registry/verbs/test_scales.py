"""The scale subresource, read and written."""

import copy

import pytest
from msgspec.structs import replace

from kubekit.api.errors import BadRequest, Invalid, NotFound
from kubekit.api.resource import Resource, Scale
from kubekit.client.transport import Document
from kubekit.plane.registry.verbs import scales

RESOURCE = Resource(
    group="example.com",
    version="v1",
    kind="Widget",
    plural="widgets",
    scale=Scale(".spec.size.wanted", ".status.size", ".status.selector"),
)
METADATA: Document = {
    "name": "w",
    "namespace": "team",
    "uid": "u-1",
    "resourceVersion": "7",
    "creationTimestamp": "2026-05-01T12:00:00Z",
}
WIDGET: Document = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": METADATA | {"generation": 3, "labels": {"a": "b"}, "finalizers": ["x/y"]},
    "spec": {"size": {"wanted": 5, "most": 9}, "colour": "red"},
    "status": {"size": 2, "selector": "a=b"},
}
SCALE: Document = {
    "kind": "Scale",
    "apiVersion": "autoscaling/v1",
    "metadata": METADATA,
    "spec": {"replicas": 5},
    "status": {"replicas": 2, "selector": "a=b"},
}


def widget(**parts):
    return WIDGET | parts


def scale(**parts):
    return SCALE | parts


def test_a_scale_has_the_numbers_and_the_identity_of_its_object():
    """Labels and finalizers are the object's own business."""
    assert scales.scale_of(RESOURCE, WIDGET) == SCALE


@pytest.mark.parametrize(
    ("document", "spec", "status"),
    [
        pytest.param(widget(spec={}, status={}), {}, {"replicas": 0}, id="nothing there"),
        pytest.param(widget(spec={"size": "x"}, status={"size": "y"}), {}, {"replicas": 0}, id="x"),
        pytest.param(
            widget(spec={"size": {"wanted": 0}}, status={"size": 0, "selector": 3}),
            {},
            {"replicas": 0},
            id="zero",
        ),
        pytest.param(
            widget(spec={"size": {"wanted": True}}, status={"size": 1.5}),
            {},
            {"replicas": 0},
            id="no whole numbers",
        ),
    ],
)
def test_a_number_that_is_not_there_is_zero(document, spec, status):
    """Zero replicas wanted are left out, as the Kubernetes type does; those that are, are not."""
    found = scales.scale_of(RESOURCE, document)
    assert (found["spec"], found["status"]) == (spec, status)


def test_a_definition_without_a_selector_shows_none():
    """The selector is the one path that a definition may leave out."""
    resource = replace(RESOURCE, scale=Scale(".spec.size.wanted", ".status.size", ""))
    assert scales.scale_of(resource, WIDGET)["status"] == {"replicas": 2}


def test_a_kind_without_scale_has_none():
    """Asking for it is asking for something that is not there."""
    resource = replace(RESOURCE, scale=None)
    with pytest.raises(NotFound, match="widgets have no scale"):
        scales.scale_of(resource, WIDGET)
    with pytest.raises(NotFound, match="widgets have no scale"):
        scales.with_scale(resource, WIDGET, SCALE)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param(scale(spec={"replicas": 8}), 8, id="more"),
        pytest.param(scale(spec={"replicas": 0}), 0, id="zero"),
        pytest.param(scale(spec={}), 0, id="left out"),
        pytest.param(scale(spec={"replicas": None}), 0, id="null"),
        pytest.param({"metadata": {"name": "w"}}, 0, id="only a name"),
        pytest.param(scale(status={"replicas": 99}, foo=1), 5, id="status is not listened to"),
        pytest.param(scale(spec={"replicas": 2**31 - 1}), 2**31 - 1, id="the most"),
    ],
)
def test_the_number_goes_where_the_definition_says(given, wanted):
    """Nothing else of the object changes, and the arguments stay as they were."""
    before = copy.deepcopy((WIDGET, given))
    spec = {"size": {"wanted": wanted, "most": 9}, "colour": "red"}
    assert scales.with_scale(RESOURCE, WIDGET, given) == widget(spec=spec)
    assert (WIDGET, given) == before


def test_a_number_can_be_set_where_none_was():
    """Objects on the way are made."""
    result = scales.with_scale(RESOURCE, widget(spec={}), scale(spec={"replicas": 3}))
    assert result["spec"] == {"size": {"wanted": 3}}


def test_the_identity_and_version_that_a_scale_names_must_hold():
    """They replace the object's, so that the write that follows compares them."""
    given = scale(
        metadata={"name": "w", "uid": "u-2", "resourceVersion": "6", "labels": {"q": "q"}}
    )
    result = scales.with_scale(RESOURCE, WIDGET, given)
    assert result["metadata"] == WIDGET["metadata"] | {"uid": "u-2", "resourceVersion": "6"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(None, "must be a JSON object", id="null"),
        pytest.param([], "must be a JSON object", id="list"),
        pytest.param(scale(kind="Widget"), "kind must be Scale", id="kind"),
        pytest.param(scale(apiVersion="v1"), "apiVersion must be autoscaling/v1", id="version"),
        pytest.param(scale(spec=[1]), "spec must be a JSON object", id="spec"),
        pytest.param(scale(metadata="w"), "metadata must be a JSON object", id="metadata"),
        pytest.param(scale(metadata={"name": 1}), "metadata.name must be a string", id="name"),
        pytest.param(scale(metadata={"name": "w", "uid": 1}), "metadata.uid must", id="uid"),
        pytest.param(scale(metadata={}), "name must be provided", id="no name"),
        pytest.param(scale(metadata={"name": "v"}), r"\(v\) does not match .* \(w\)", id="other"),
        pytest.param(
            scale(metadata={"name": "w", "namespace": "x"}), "the namespace of", id="namespace"
        ),
        pytest.param(scale(spec={"replicas": "3"}), "must be a whole number", id="text"),
        pytest.param(scale(spec={"replicas": 1.5}), "must be a whole number", id="fraction"),
        pytest.param(scale(spec={"replicas": True}), "must be a whole number", id="truth"),
        pytest.param(scale(spec={"replicas": False}), "must be a whole number", id="untruth"),
        pytest.param(scale(spec={"replicas": ""}), "must be a whole number", id="empty text"),
        pytest.param(scale(spec=""), "spec must be a JSON object", id="empty spec"),
        pytest.param(scale(spec={"replicas": 2**31}), "at most 32 bits", id="large"),
    ],
)
def test_what_is_no_scale_of_this_object_is_a_bad_request(given, why):
    """The answer is 400 and names the field."""
    with pytest.raises(BadRequest, match=why):
        scales.with_scale(RESOURCE, WIDGET, given)


def test_fewer_than_none_is_invalid():
    """The answer is 422, with the path of the number as its field."""
    with pytest.raises(Invalid) as caught:
        scales.with_scale(RESOURCE, WIDGET, scale(spec={"replicas": -1}))
    assert caught.value.message == (
        'Widget.example.com "w" is invalid: .spec.size.wanted: Invalid value: -1: '
        "should be a non-negative integer"
    )
