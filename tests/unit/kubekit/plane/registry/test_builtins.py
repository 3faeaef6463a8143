"""The kinds a plane is born with, and the rules of Kubernetes' own."""

import base64
import copy

import pytest

from compute.api import COMPUTE_KINDS, KARMADA_KINDS, NEIGHBOUR_KINDS
from kubekit.plane.registry import builtins
from kubekit.plane.registry.schema.conformance import MOST_ERRORS
from tests.support.compute import served_kinds

TIME = "2024-05-01T12:00:00.000000Z"
IDENTITY = ("apiVersion", "kind", "metadata")


def prepared(api_version, kind, old=None, namespace="default", **parts):
    """The document after its kind's rules, and what they found wrong."""
    found = served_kinds.everything().require(api_version, kind)
    document = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": namespace},
        **parts,
    }
    conformed = found.conform(document)
    assert conformed.errors == conformed.unknown == []
    assert found.prepare is not None
    return conformed.document, [str(error) for error in found.prepare(conformed.document, old)]


@pytest.mark.parametrize(
    ("family", "classes"),
    [
        ("compute", COMPUTE_KINDS),
        ("neighbours", NEIGHBOUR_KINDS),
        ("karmada", KARMADA_KINDS),
    ],
    ids=["compute", "neighbours", "karmada"],
)
def test_our_kinds_come_through_their_definitions(family, classes):
    """What a plane serves is what the classes say, so that a real cluster serves the same."""
    assert [kind.resource for kind in served_kinds.custom(family)] == [
        cls.RESOURCE for cls in classes
    ]


def test_built_in_kinds():
    """Every plane has them; both shapes of an event are kept in one place."""
    kinds = {kind.resource.api_version + "/" + kind.resource.kind: kind for kind in builtins.core()}

    assert list(kinds) == [
        "v1/Namespace", "v1/ConfigMap", "v1/Secret", "v1/ServiceAccount", "v1/Event",
        "events.k8s.io/v1/Event", "coordination.k8s.io/v1/Lease",
        "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
        "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
    ]  # fmt: skip
    assert kinds["events.k8s.io/v1/Event"].storage == kinds["v1/Event"].storage == "/events"
    assert not any(kind.custom for kind in builtins.core())


def test_schemas_have_descriptions():
    """They are what `kubectl explain` shows."""
    workload = served_kinds.everything().require("compute.datumapis.com/v1alpha", "Workload")

    assert workload.schema["properties"]["spec"]["properties"]["placements"]["description"]


def test_a_new_namespace_is_completed():
    """It is active, holds itself until it is empty, and can be selected by its name."""
    document, errors = prepared("v1", "Namespace", spec={"finalizers": ["a.test/b"]})
    again, _ = prepared("v1", "Namespace", spec=document["spec"])

    assert errors == []
    assert again["spec"] == document["spec"]
    assert document["spec"] == {"finalizers": ["a.test/b", "kubernetes"]}
    assert document["status"] == {"phase": "Active"}
    assert document["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x"}


def test_an_old_namespace_keeps_what_it_is_given():
    """Once its content is gone, its finalizer goes and does not come back."""
    document, errors = prepared("v1", "Namespace", old={"spec": {"finalizers": ["kubernetes"]}})

    assert (document["spec"], "status" in document, errors) == ({}, False, [])


@pytest.mark.parametrize("name", ["plain", "a.test/b c", "/b"])
def test_finalizers_of_namespaces_have_full_names(name):
    """Only then can two parties not mean different things by one name."""
    _, errors = prepared("v1", "Namespace", spec={"finalizers": [name]})

    assert len(errors) == 1
    assert "neither a standard finalizer name nor is it fully qualified" in errors[0]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"data": {"a.b-c_D": "x"}, "binaryData": {"k": "eA=="}}, None),
        ({"data": {"a b": "x"}}, "data[a b]: Invalid value: \"a b\": a valid config key"),
        ({"data": {"": "x"}}, 'data[]: Invalid value: "": a valid config key'),
        ({"data": {".": "x"}}, "must not be '.'"),
        ({"data": {"..a": "x"}}, "must not start with '..'"),
        ({"data": {"a" * 254: "x"}}, "must be no more than 253 characters"),
        ({"data": {"..": "x"}}, "must not be '..'"),
        ({"binaryData": {"k": "e$"}}, 'binaryData[k]: Invalid value: "(not shown)": must be base64'),
        ({"binaryData": {"k": "é"}}, "must be base64"),
        ({"data": {"k": "x"}, "binaryData": {"k": ""}}, "duplicate of key present in binaryData"),
        ({"data": {"k": "x" * 1024 * 1024, "l": "y"}}, "data: Too long: may not be more than 1048576 bytes"),
        ({"data": {"k": "é" * 600 * 1024}}, "may not be more than 1048576 bytes"),
        ({"binaryData": {"k": "QUFB" * 300 * 1024}}, None),
        ({"binaryData": {"k": "QUE=" * 1, "l": "QUFB" * 350 * 1024}}, "may not be more than 1048576 bytes"),
    ],
)  # fmt: skip
def test_config_maps(parts, words):
    """Keys become file names, binary data is base64, and all of it fits into a megabyte."""
    _, errors = prepared("v1", "ConfigMap", **parts)

    assert [words is not None and words in error for error in errors] == [True] * (
        words is not None
    )


@pytest.mark.parametrize(
    ("parts", "fields"),
    [
        ({"data": {"k": "v"}, "immutable": True}, []),
        ({"data": {"k": "w"}, "immutable": True}, ["data"]),
        ({"data": {"k": "v"}}, ["immutable"]),
        ({"data": {"k": "v"}, "binaryData": {"b": ""}, "immutable": False}, ["binaryData", "immutable"]),
    ],
)  # fmt: skip
def test_an_immutable_config_map_stays_as_it_is(parts, fields):
    """Neither its content nor its being immutable can be changed."""
    old = {"data": {"k": "v"}, "immutable": True}

    _, errors = prepared("v1", "ConfigMap", old=old, **parts)

    assert errors == [
        f"{name}: Forbidden: field is immutable when `immutable` is set" for name in fields
    ]


def test_a_config_map_that_is_not_immutable_changes():
    """And may become immutable."""
    assert prepared("v1", "ConfigMap", old={"data": {"k": "v"}}, data={}, immutable=True)[1] == []


@pytest.mark.parametrize(
    ("kind", "parts", "kept"),
    [
        ("ConfigMap", {"data": {}, "binaryData": {}}, {}),
        ("ConfigMap", {"data": {"a": None, "b": "c"}}, {"data": {"a": "", "b": "c"}}),
        ("ConfigMap", {"binaryData": {"a": None}}, {"binaryData": {"a": ""}}),
        ("ConfigMap", {"binaryData": {"a": "eA\r\n==\n"}}, {"binaryData": {"a": "eA=="}}),
        ("ConfigMap", {"binaryData": {"a": "eB=="}}, {"binaryData": {"a": "eA=="}}),
        ("Secret", {"stringData": {"a": None}}, {"data": {"a": ""}, "type": "Opaque"}),
        ("Secret", {"data": {}, "stringData": {}, "type": ""}, {"type": "Opaque"}),
        ("Secret", {"data": {"a": "eA==\n"}}, {"data": {"a": "eA=="}, "type": "Opaque"}),
        ("ServiceAccount", {"secrets": [], "imagePullSecrets": [{}]}, {"imagePullSecrets": [{}]}),
        ("ServiceAccount", {"secrets": [{"name": "a", "uid": "b"}]}, {"secrets": [{"name": "a"}]}),
    ],
)
def test_content_is_kept_as_a_kubernetes_server_keeps_it(kind, parts, kept):
    """A null is an empty text, base64 has one spelling, and what is empty is left out."""
    document, errors = prepared("v1", kind, **parts)

    assert errors == []
    assert {name: document[name] for name in document if name not in IDENTITY} == kept


@pytest.mark.parametrize(
    ("api_version", "kind", "parts"),
    [
        ("v1", "Namespace", {"spec": {"finalizers": ["a.test/b"]}}),
        ("v1", "ConfigMap", {"data": {"a": None}, "binaryData": {"b": "eA==\n"}}),
        ("v1", "Secret", {"data": {"a": "eA==\n"}, "stringData": {"b": "c"}}),
        ("v1", "ServiceAccount", {"secrets": [{"name": "a", "kind": "b"}]}),
        ("v1", "Event", {"involvedObject": {}, "eventTime": TIME}),
        ("coordination.k8s.io/v1", "Lease", {"spec": {"renewTime": TIME}}),
    ],
)
def test_preparing_again_changes_nothing_but_the_label_of_a_name(api_version, kind, parts):
    """An object whose name was drawn again is prepared again."""
    document, _ = prepared(api_version, kind, **parts)
    document["metadata"]["name"] = "y"
    expected = copy.deepcopy(document)
    if kind == "Namespace":
        expected["metadata"]["labels"]["kubernetes.io/metadata.name"] = "y"

    found = served_kinds.everything().require(api_version, kind)
    assert found.prepare is not None
    found.prepare(document, None)

    assert document == expected


def test_what_a_document_shares_with_its_forerunner_stays_as_it_was():
    """A patched document is made of the parts of the old one that the patch does not touch."""
    shared = {"spec": {"renewTime": "2024-05-01T12:00:00.000000+02:00"}}
    kept = copy.deepcopy(shared)

    document, _ = prepared("coordination.k8s.io/v1", "Lease", **shared)

    assert document["spec"] == {"renewTime": "2024-05-01T10:00:00.000000Z"}
    assert shared == kept


def test_the_number_of_errors_is_limited():
    """Clients do not read more."""
    _, errors = prepared("v1", "ConfigMap", data={f"/{n}": "" for n in range(1000)})

    assert len(errors) == MOST_ERRORS


def test_plain_text_of_a_secret_becomes_data():
    """It wins over data of the same key, and is not kept beside it."""
    document, errors = prepared("v1", "Secret", data={"k": "eA==", "l": ""}, stringData={"k": "é"})

    encoded = base64.b64encode("é".encode()).decode()
    assert errors == []
    assert (document["data"], document["type"]) == ({"k": encoded, "l": ""}, "Opaque")
    assert "stringData" not in document


@pytest.mark.parametrize(
    ("parts", "errors"),
    [
        ({}, []),
        ({"data": {"k": "e$"}}, ['data[k]: Invalid value: "(not shown)": must be base64']),
        ({"stringData": {"k": "x" * 1000 * 1024}}, []),
        ({"stringData": {"k": "x" * 1025 * 1024}}, ["data: Too long: may not be more than 1048576 bytes"]),
        ({"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}, ["data[tls.key]: Required value"]),
        ({"type": "kubernetes.io/basic-auth"},
         ["data[username]: Required value", "data[password]: Required value"]),
        ({"type": "kubernetes.io/basic-auth", "data": {"password": ""}}, []),
        ({"type": "kubernetes.io/ssh-auth"}, ["data[ssh-privatekey]: Required value"]),
        ({"type": "kubernetes.io/dockerconfigjson"}, ["data[.dockerconfigjson]: Required value"]),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "{}"}}, []),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "[]"}},
         ['data[.dockercfg]: Invalid value: "(not shown)": must be a JSON object']),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": '{"a":' * 9000}},
         ['data[.dockercfg]: Invalid value: "(not shown)": must be a JSON object']),
        ({"type": "kubernetes.io/dockercfg", "data": {".dockercfg": "/w=="}},
         ['data[.dockercfg]: Invalid value: "(not shown)": must be a JSON object']),
        ({"type": "kubernetes.io/service-account-token"},
         ["metadata.annotations[kubernetes.io/service-account.name]: Required value"]),
    ],
)  # fmt: skip
def test_secrets(parts, errors):
    """Data is base64, and a secret of a known type has the keys of that type."""
    assert prepared("v1", "Secret", **parts)[1] == errors


def test_the_type_of_a_secret_stays():
    """Readers chose it by its type."""
    _, errors = prepared("v1", "Secret", old={"type": "mine"}, type="yours")

    assert errors == ['type: Invalid value: "yours": field is immutable']


def test_a_lease_has_a_spec():
    """Readers of the object use the field."""
    assert prepared("coordination.k8s.io/v1", "Lease")[0]["spec"] == {}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"acquireTime": TIME, "renewTime": TIME, "leaseDurationSeconds": 1}, []),
        ({"renewTime": "2024-05-01T12:00:00.000000+02:00"}, []),
        ({"renewTime": "2024-05-01t12:00:00.000000z"}, ["spec.renewTime"]),
        ({"renewTime": "2024-05-01T12:00:00.000000001Z"}, ["spec.renewTime"]),
        ({"renewTime": "2024-05-01T12:00:00Z"}, ["spec.renewTime"]),
        ({"acquireTime": "2024-05-01T12:00:00.1Z"}, ["spec.acquireTime"]),
        ({"leaseDurationSeconds": 0}, ["spec.leaseDurationSeconds"]),
        ({"leaseTransitions": -1}, ["spec.leaseTransitions"]),
    ],
)
def test_leases(spec, fields):
    """Times have six decimals, durations last, and transitions are counted up from zero."""
    _, errors = prepared("coordination.k8s.io/v1", "Lease", spec=spec)

    assert [error.partition(":")[0] for error in errors] == fields
