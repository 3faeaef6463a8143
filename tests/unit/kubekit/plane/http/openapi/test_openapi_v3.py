import msgspec
import pytest

from kubekit.plane.http.openapi import openapi_v3
from kubekit.plane.http.openapi.meta_schemas import REFERENCE
from tests.support.kubekit.described_kinds import CONFIG_MAP, LEASE, NAMESPACE, WIDGET

NAMESPACED = "/apis/example.com/v1/namespaces/{namespace}/widgets"
ITEM = f"{NAMESPACED}/{{name}}"


def references(node):
    """Everything that a document points to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from references(child)


def said(kinds):
    """The document as a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(openapi_v3.document(kinds)))


def test_index_names_the_hash():
    """The address of each document holds its hash, and no prefix: clients put that before it."""
    got = openapi_v3.index({"apis/example.com/v1": "ABC"})
    url = "/openapi/v3/apis/example.com/v1?hash=ABC"
    assert got == {"paths": {"apis/example.com/v1": {"serverRelativeURL": url}}}


def test_paths_of_a_namespaced_kind():
    """Each path has the methods that the plane serves there."""
    got = {path: set(item) - {"parameters"} for path, item in said([WIDGET])["paths"].items()}
    assert got == {
        "/apis/example.com/v1/widgets": {"get"},
        NAMESPACED: {"get", "post", "delete"},
        ITEM: {"get", "put", "delete", "patch"},
        f"{ITEM}/scale": {"get", "put", "patch"},
        f"{ITEM}/status": {"get", "put", "patch"},
    }


def test_paths_of_a_cluster_scoped_core_kind():
    """The core group stands under /api, and namespaces cannot be deleted all at once."""
    got = {path: set(item) - {"parameters"} for path, item in said([NAMESPACE])["paths"].items()}
    assert got == {
        "/api/v1/namespaces": {"get", "post"},
        "/api/v1/namespaces/{name}": {"get", "put", "delete", "patch"},
        "/api/v1/namespaces/{name}/finalize": {"put"},
        "/api/v1/namespaces/{name}/status": {"get", "put", "patch"},
    }


def test_patches_say_that_they_validate_fields():
    """A client asks for strict validation only where a patch lists the parameter."""
    patch = said([WIDGET])["paths"][ITEM]["patch"]
    names = {parameter["name"] for parameter in patch["parameters"]}
    assert {"dryRun", "fieldManager", "fieldValidation"} <= names
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "example.com",
        "version": "v1",
        "kind": "Widget",
    }


@pytest.mark.parametrize(("kind", "strategic"), [(WIDGET, False), (CONFIG_MAP, True)])
def test_strategic_patches_are_for_built_in_kinds(kind, strategic):
    """A kind of a CRD takes no strategic merge patch."""
    items = [item for item in said([kind])["paths"].values() if "patch" in item]
    types = set(items[0]["patch"]["requestBody"]["content"])
    assert ("application/strategic-merge-patch+json" in types) is strategic
    assert "application/merge-patch+json" in types


def test_scale_answers_with_a_scale():
    """The scale subresource speaks of another kind than the object it belongs to."""
    get = said([WIDGET])["paths"][f"{ITEM}/scale"]["get"]
    assert get["x-kubernetes-group-version-kind"]["kind"] == "Scale"
    schema = get["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": f"{REFERENCE}io.k8s.api.autoscaling.v1.Scale"}


def test_query_parameters_are_spelled_as_on_the_wire():
    """Names that Python reserves come out as they are sent."""
    listing = said([WIDGET])["paths"][NAMESPACED]["get"]
    names = [parameter["name"] for parameter in listing["parameters"]]
    assert "continue" in names
    assert not any("_" in name for name in names)


def test_path_parameters_are_required():
    """What stands in the path has to be given."""
    parameters = said([WIDGET])["paths"][ITEM]["parameters"]
    assert {p["name"]: p["required"] for p in parameters} == {"name": True, "namespace": True}


def test_bodies_of_deletes_may_be_left_out():
    """A delete takes options but needs none; a create needs its object."""
    paths = said([WIDGET])["paths"]
    assert paths[ITEM]["delete"]["requestBody"]["required"] is False
    assert paths[NAMESPACED]["post"]["requestBody"]["required"] is True


def test_schema_of_an_object():
    """The kind's own schema, with the metadata spelled out and the kind that clients look for."""
    got = said([WIDGET])["components"]["schemas"]["com.example.v1.Widget"]
    assert got["properties"]["spec"] == WIDGET.schema["properties"]["spec"]
    (target,) = got["properties"]["metadata"]["allOf"]
    assert target["$ref"].endswith(".ObjectMeta")
    assert got["required"] == ["spec"]
    gvk = {"group": "example.com", "version": "v1", "kind": "Widget"}
    assert got["x-kubernetes-group-version-kind"] == [gvk]
    assert got["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.colour"}]


def test_schema_of_the_kind_is_not_touched():
    """Making documents leaves the schema that validates as it was."""
    said([WIDGET])
    assert WIDGET.schema["properties"]["metadata"] == {"type": "object"}


def test_names_of_schemas():
    """Kubernetes' own kinds have its names, others have their group backwards."""
    names = set(openapi_v3.schemas([WIDGET, CONFIG_MAP, LEASE]))
    assert {
        "com.example.v1.Widget",
        "com.example.v1.WidgetList",
        "io.k8s.api.core.v1.ConfigMap",
        "io.k8s.api.coordination.v1.LeaseList",
    } <= names


def test_every_reference_has_a_target():
    """Nothing points to a schema that the document does not hold."""
    got = said([WIDGET, NAMESPACE])
    held = {REFERENCE + name for name in got["components"]["schemas"]}
    assert set(references(got)) - held == set()


def test_operations_have_names_of_their_own():
    """No two operations of a plane share an operationId."""
    paths = said([WIDGET, CONFIG_MAP, NAMESPACE, LEASE])["paths"]
    operations = [
        operation["operationId"]
        for item in paths.values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(operations) == len(set(operations))
