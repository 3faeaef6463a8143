"""The registry: which class reads what, and what is said when none can."""

import msgspec
import pytest

from compute.api import COMPUTE_KINDS, NEIGHBOUR_KINDS
from compute.api.compute import Workload
from compute.api.quota import ResourceClaim
from kubekit.api import scheme
from kubekit.api.kinds.admission import AdmissionResponse, AdmissionReview
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.kinds.pods import Pod
from kubekit.api.kinds.rbac import ClusterRole
from kubekit.api.meta import ObjectMeta
from kubekit.api.status import Status
from tests.support.compute.builders import workload

SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
NETWORK = {
    "apiVersion": "networking.datumapis.com/v1alpha",
    "kind": "Network",
    "metadata": {"name": "default"},
}


@pytest.mark.parametrize("kind", scheme.kinds(), ids=lambda kind: kind.__name__)
def test_a_kind_is_found_by_what_it_says_of_itself(kind):
    """Its resource, its fields and the registry name a kind alike."""
    resource = kind.RESOURCE
    defaults = {field.name: field.default_factory for field in msgspec.structs.fields(kind)}

    assert scheme.lookup(resource.api_version, resource.kind) is kind
    assert scheme.by_plural(resource.group, resource.version, resource.plural) is kind
    assert (defaults["api_version"](), defaults["kind"]()) == (
        resource.api_version,
        resource.kind,
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("v1", "Event", CoreEvent),
        ("events.k8s.io/v1", "Event", Event),
        ("quota.miloapis.com/v1alpha1", "ResourceClaim", ResourceClaim),
        ("resource.k8s.io/v1", "ResourceClaim", None),
        ("v1", "secret", None),
        ("", "", None),
    ],
)
def test_lookup(api_version, kind, expected):
    """Kinds of one name are distinguished by their group; names are exact."""
    assert scheme.lookup(api_version, kind) is expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (("", "v1", "configmaps"), ConfigMap),
        (("compute.datumapis.com", "v1alpha", "workloads"), Workload),
        (("apiextensions.k8s.io", "v1", "customresourcedefinitions"), CustomResourceDefinition),
        (("", "v1", "configmap"), None),
    ],
)
def test_by_plural(place, expected):
    """A URL names a kind by group, version and plural."""
    assert scheme.by_plural(*place) is expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "v1/Secret is registered by Secret"),
        ({"kind": "Sealed"}, "v1/secrets is registered by Secret"),
    ],
    ids=["kind", "plural"],
)
def test_a_second_class_for_one_kind_or_plural_is_refused(changes, message):
    """Two classes cannot read the same documents; a refused class leaves the registry as it was."""

    class Duplicate(Secret, frozen=True, kw_only=True):
        RESOURCE = msgspec.structs.replace(Secret.RESOURCE, **changes)

    registered = scheme.kinds()
    with pytest.raises(ValueError, match=message):
        scheme.register(Duplicate)

    assert scheme.kinds() == registered


def test_registering_a_class_again_changes_nothing():
    """A module that is imported twice registers its kinds twice."""
    registered = scheme.kinds()
    scheme.register(Secret)

    assert scheme.kinds() == registered


def test_crds_are_made_for_ours_and_for_the_neighbours():
    """What has a CRD of ours lives in a group of ours or of a neighbour, and says how it is."""
    groups = {kind.RESOURCE.group for kind in NEIGHBOUR_KINDS}

    assert {kind.RESOURCE.group for kind in COMPUTE_KINDS} == {"compute.datumapis.com"}
    assert groups == {
        "networking.datumapis.com",
        "quota.miloapis.com",
        "resourcemanager.miloapis.com",
        "services.miloapis.com",
    }
    assert all(kind.RESOURCE.status for kind in COMPUTE_KINDS + NEIGHBOUR_KINDS)


def test_bytes_and_mappings_say_the_same():
    """A document is read alike whether it was parsed before or not."""
    wire = scheme.encode(workload())

    assert scheme.decode(wire) == scheme.decode(msgspec.json.decode(wire)) == workload()


def test_an_item_of_a_list_needs_no_kind():
    """A caller that knows the kind can read a document that does not name it."""
    assert scheme.decode_as(Secret, {"metadata": {"name": "keys"}}) == scheme.decode(SECRET)
    assert scheme.decode_as(Status, b'{"code":404}') == Status(code=404)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            b'{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",'
            b'"metadata":{"name":"view","creationTimestamp":null},"rules":null}',
            ClusterRole(metadata=ObjectMeta(name="view")),
        ),
        (
            SECRET | {"data": None, "metadata": {"name": "keys", "labels": None}},
            Secret(metadata=ObjectMeta(name="keys")),
        ),
    ],
    ids=["bytes", "mapping"],
)
def test_null_means_absent(document, expected):
    """Go writes null for an empty list, and people leave YAML keys empty."""
    assert scheme.decode(document) == expected


def test_null_within_lists_of_objects():
    """A null is passed over wherever it stands."""
    pod = scheme.decode_as(Pod, {"spec": {"containers": [{"name": "web", "args": None}]}})

    assert pod.spec.containers[0].args == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "nearest"),
    [
        ("compute.datumapis.com/v1alpha", "Worklaod", "Workload in compute.datumapis.com/v1alpha"),
        ("compute.datumapis.com/v1", "instance", "Instance in compute.datumapis.com/v1alpha"),
        ("events.k8s.io/v1beta1", "Event", "Event in events.k8s.io/v1"),
        ("core/v1", "Event", "Event in v1"),
    ],
)
def test_the_error_about_an_unknown_kind_names_the_nearest(api_version, kind, nearest):
    """The error repeats what was asked and names what was probably meant."""
    with pytest.raises(scheme.UnknownKind) as raised:
        scheme.decode({"apiVersion": api_version, "kind": kind})

    assert str(raised.value) == (
        f"there is no kind {kind!r} in apiVersion {api_version!r}; the nearest is {nearest}"
    )
    assert (raised.value.api_version, raised.value.kind) == (api_version, kind)


def test_a_huge_kind_costs_nothing():
    """A kind of a megabyte is refused as fast, and shown as short, as any other."""
    with pytest.raises(scheme.UnknownKind) as raised:
        scheme.decode({"apiVersion": "v1", "kind": "Secret" * 200_000})

    assert len(str(raised.value)) < 300


CONDITION = {"type": "Ready", "status": "Maybe", "lastTransitionTime": "2026-06-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (NETWORK, "Network 'default': spec: it is required"),
        (NETWORK | {"spec": {"ipam": {}}}, "Network 'default': spec.ipam.mode: it is required"),
        (
            NETWORK | {"spec": {"ipam": {"mode": "Auto"}, "ipFamilies": ["IPv4", 6]}},
            "Network 'default': spec.ipFamilies[1]: expected str, got int",
        ),
        (
            {"apiVersion": "v1", "kind": "Namespace", "status": {"conditions": [CONDITION]}},
            "Namespace: status.conditions[0].status: invalid enum value 'Maybe'",
        ),
        (SECRET | {"data": {"a": 1}}, "Secret 'keys': data[...]: expected str, got int"),
        (SECRET | {"data": {1: "a"}}, "Secret 'keys': data: a key: expected str, got int"),
        (SECRET | {"metadata": "keys"}, "Secret: metadata: expected object, got str"),
        ({"kind": "Secret"}, "document: apiVersion: it is required"),
        ({"apiVersion": 1, "kind": "Secret"}, "document: apiVersion: expected str, got int"),
        (b"[]", "document: expected object, got array"),
        (b"", "document: it is not JSON: Input data was truncated"),
        (b'{"kind": "\xff"}', "document: it is not JSON: 'utf-8' codec can't decode byte"),
        (b'{"kind":"Secret","a":' + b"[" * 9999, "document: it is nested too deeply"),
    ],
)
def test_a_document_that_cannot_be_read(document, message):
    """The error names the kind, the object and the field, as a user would write them."""
    with pytest.raises(scheme.DecodeError) as raised:
        scheme.decode(document)

    assert str(raised.value).startswith(message)


def test_an_error_can_be_taken_apart():
    """A caller that reports fields gets the path and the cause apart."""
    with pytest.raises(scheme.DecodeError) as raised:
        scheme.decode(NETWORK | {"spec": {"ipam": {"mode": 7}}})

    assert (raised.value.path, raised.value.why) == ("spec.ipam.mode", "expected str, got int")


def test_a_document_that_contains_itself():
    """A YAML document whose anchors make a ring is refused like any that is too deep."""
    ring: dict[str, object] = {}
    ring["data"] = ring

    with pytest.raises(scheme.DecodeError, match="Secret 'keys': it is nested too deeply"):
        scheme.decode(SECRET | {"data": {"a": ring}})


def test_an_error_is_short():
    """A document cannot fill a log by being wrong."""
    condition = CONDITION | {"status": "x" * 10_000}

    with pytest.raises(scheme.DecodeError) as raised:
        scheme.decode_as(Namespace, {"status": {"conditions": [condition]}})

    assert len(str(raised.value)) < 300


def test_a_type_that_is_no_kind_is_read_in_the_same_way():
    """Go writes null for what is empty; what is missing is named."""
    body = b'{"apiVersion": "admission.k8s.io/v1", "response": {"uid": "1", "warnings": null}}'
    read = scheme.decode_wire(AdmissionReview, body)
    assert read.response == AdmissionResponse(uid="1")

    with pytest.raises(scheme.DecodeError, match=r"AdmissionReview: request\.uid: it is required"):
        scheme.decode_wire(AdmissionReview, {"request": {}})
