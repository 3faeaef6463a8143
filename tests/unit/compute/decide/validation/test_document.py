"""Manifests as they were written: the shape first, then the meaning."""

import pytest

from compute.decide.validation import NetworkUse, Review, review_document, validate
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import ABSENT, CITIES, changed, decoded, sandbox

CONTAINER = "spec/template/spec/runtime/sandbox/containers/0"
CODES = "spec/placements/0/cityCodes"
NETWORKS = (NetworkUse("default", "default", "spec.template.spec.networkInterfaces[0].network"),)


def blamed(document):
    errors = review_document(document, cities=CITIES).errors
    return [(error.path, error.problem) for error in errors]


def test_a_right_document_is_reviewed_like_its_workload():
    """The review of a document is that of the Workload it spells."""
    document = sandbox({CODES: ["DFW", "XXX"]})

    assert review_document(document, cities=CITIES) == validate(decoded(document), cities=CITIES)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"apiVersion": "v1"}, [("apiVersion", Problem.NOT_SUPPORTED)]),
        ({"kind": "Pod", "spec": {}}, [("kind", Problem.NOT_SUPPORTED)]),
        ({"kind": ABSENT}, [("kind", Problem.REQUIRED)]),
        (
            {"kind": None, "apiVersion": ABSENT},
            [("apiVersion", Problem.REQUIRED), ("kind", Problem.REQUIRED)],
        ),
    ],
    ids=["another group", "another kind", "no kind", "neither"],
)
def test_another_kind_is_not_validated(changes, expected):
    """A document of another kind gets that one error, and no other."""
    assert blamed(sandbox(changes)) == expected


def test_unknown_fields_get_a_warning():
    """A misspelled field would be dropped silently: the warning names the right one."""
    document = sandbox({f"{CONTAINER}/imagee": "x", "spec/gateway": {}, "metadata/label": {}})
    got = review_document(document, cities=CITIES).warnings

    container = "spec.template.spec.runtime.sandbox.containers[0]"
    assert got == (
        f'unknown field "{container}.imagee"; did you mean "image"?',
        'unknown field "spec.gateway"',
        'unknown field "metadata.label"; did you mean "labels"?',
    )


def test_a_document_without_a_spec_is_only_judged_by_its_shape():
    """What cannot be read has no meaning to judge, and no networks to ask about."""
    got = review_document(sandbox({"spec": ABSENT}), cities=CITIES)

    assert [str(error) for error in got.errors] == ["spec: Required value"]
    assert got.networks == ()


def test_shape_and_meaning_are_judged_together():
    """Where the document can be read in spite of its shape, all its errors are reported at once."""
    document = sandbox(
        {f"{CONTAINER}/ports": [{"name": "http", "port": 0}], "metadata/name": "Web"}
    )

    assert blamed(document) == [
        ("spec.template.spec.runtime.sandbox.containers[0].ports[0].port", Problem.INVALID),
        ("metadata.name", Problem.INVALID),
    ]


def test_nothing_is_refused_twice():
    """A field that breaks the schema is not reported once more by the rules."""
    volumes = [{"name": "a", "secret": {"secretName": "s"}}] * 2
    document = sandbox(
        {
            "spec/template/spec/volumes": volumes,
            f"{CONTAINER}/volumeAttachments": [{"name": "a"}],
            "spec/placements": [],
        }
    )

    assert blamed(document) == [
        ("spec.placements", Problem.INVALID),
        ("spec.template.spec.volumes[1]", Problem.DUPLICATE),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata/labels": None},
        {"metadata/creationTimestamp": None},
        {"spec/template/metadata": None},
        {f"{CONTAINER}/ports": None},
        {"spec/placements/0/scaleSettings/instanceManagementPolicy": None},
        {"spec/placements/0/scaleSettings/instanceManagementPolicy": ""},
    ],
    ids="-".join,
)
def test_a_null_is_no_field_and_an_empty_policy_is_none(changes):
    """Clients write null, or an empty policy, for what they were not given."""
    assert review_document(sandbox(changes), cities=CITIES).errors == ()


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"metadata/labels": {"app": 1}}, "metadata.labels.app"),
        ({"metadata/labels": {1: "app"}}, "metadata.labels"),
        ({"metadata/creationTimestamp": "now"}, "metadata.creationTimestamp"),
        (
            {"spec/placements/0/scaleSettings/minReplicas": 1.0},
            "spec.placements[0].scaleSettings.minReplicas",
        ),
    ],
    ids=["value of a label", "key of a label", "time", "fraction"],
)
def test_what_cannot_be_read_is_named(changes, path):
    """Every document that is no Workload gets an error at the field that is not readable."""
    assert blamed(sandbox(changes)) == [(path, Problem.TYPE_INVALID)]


def test_an_unreadable_document_gets_a_short_error():
    """The error says what was expected, and leaves the place to the path."""
    document = sandbox({"metadata/labels": {1: "app"}})
    (got,) = review_document(document, cities=CITIES).errors

    assert str(got) == 'metadata.labels: Invalid value: "unreadable": Expected `str`, got `int`'


def test_a_status_is_ignored():
    """A manifest saved from a server has a status; the server would ignore it."""
    assert review_document(sandbox({"status": {"conditions": "?"}}), cities=CITIES) == (
        review_document(sandbox(), cities=CITIES)
    )


def test_metadata_that_the_server_owns_is_not_judged():
    """Every stored object has managed fields; none of them may cause a warning or an error."""
    fields = {"f:metadata": {"f:labels": {".": {}}}, "f:spec": {"f:placements": {}}}
    entry = {"manager": "kubectl", "operation": "Update", "fieldsV1": fields}
    owned = {"metadata/managedFields": [entry], "metadata/selfLink": "/apis/x"}

    assert review_document(sandbox(owned), cities=CITIES) == Review(networks=NETWORKS)


def test_an_update_keeps_what_it_had():
    """The old Workload is handed on to the rules."""
    old = decoded(sandbox({CODES: ["SIN"], "metadata/name": "Old.Name"}))
    document = sandbox({CODES: ["SIN"], "metadata/name": "Old.Name"})
    got = review_document(document, cities=CITIES, old=old)

    assert got.errors == ()
    assert len(got.warnings) == 1


def test_a_workload_on_its_way_out_is_not_refused_for_its_shape():
    """No schema may hold back the removal of finalizers."""
    old = sandbox({"metadata/deletionTimestamp": "2026-06-01T12:00:00Z"})
    broken = changed(old, {"spec": "gone"})

    assert review_document(broken, cities=(), old=decoded(old)) == Review()


def test_the_list_of_errors_ends():
    """Whatever they are about, a hundred errors and a hundred warnings are enough."""
    ports = [{"name": f"p{n}", "port": 0, "x": 0} for n in range(150)]
    got = review_document(sandbox({f"{CONTAINER}/ports": ports, CODES: ["X"] * 9}), cities=CITIES)

    assert (len(got.errors), len(got.warnings)) == (100, 100)
