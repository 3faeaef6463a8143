import msgspec

from kubekit.plane.http.openapi import openapi_v2
from tests.support.kubekit.described_kinds import CONFIG_MAP, NAMESPACE, WIDGET
from tests.unit.kubekit.plane.http.openapi.test_openapi_v3 import references

ITEM = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"


def said(*kinds):
    """The document as a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(openapi_v2.document(kinds)))


def spec():
    """The fields of the widget's spec."""
    widget = said(WIDGET)["definitions"]["com.example.v1.Widget"]
    return widget["properties"]["spec"]["properties"]


def test_one_document_for_all_groups():
    """Every kind of the plane is in the same document."""
    got = said(WIDGET, CONFIG_MAP)
    assert got["swagger"] == "2.0"
    assert {"com.example.v1.Widget", "io.k8s.api.core.v1.ConfigMap"} <= set(got["definitions"])
    assert {ITEM, "/api/v1/configmaps"} <= set(got["paths"])


def test_every_reference_has_a_target():
    """Nothing points to a definition that is not there."""
    got = said(WIDGET, NAMESPACE)
    held = {f"#/definitions/{name}" for name in got["definitions"]}
    assert set(references(got)) - held == set()


def test_references_keep_their_description():
    """A field that holds another schema still says what it is for."""
    widget = said(WIDGET)["definitions"]["com.example.v1.Widget"]
    metadata = widget["properties"]["metadata"]
    assert set(metadata) == {"description", "$ref"}


def test_types_that_v2_cannot_say_are_left_open():
    """A value of several types, a nullable one and an open object get no type at all."""
    fields = spec()
    assert fields["size"] == {}
    assert fields["tags"] == {"type": "array", "items": {}}
    assert fields["open"] == {"x-kubernetes-preserve-unknown-fields": True}


def test_plain_types_are_kept():
    """What v2 can say is said, but for defaults, which clients are not to send."""
    fields = spec()
    assert fields["colour"] == {"description": "Its colour.", "type": "string"}
    assert fields["notes"] == {"type": "object", "additionalProperties": {"type": "string"}}


def test_bodies_are_parameters():
    """A put takes the object as its body, a delete may go without, a get has none."""
    item = said(WIDGET)["paths"][ITEM]
    bodies = {
        method: [p.get("required", False) for p in item[method]["parameters"] if p["in"] == "body"]
        for method in ("get", "put", "delete")
    }
    assert bodies == {"get": [], "put": [True], "delete": [False]}
    assert item["parameters"][0] == {
        "name": "name",
        "in": "path",
        "description": "The name of the Widget.",
        "type": "string",
        "uniqueItems": True,
        "required": True,
    }
