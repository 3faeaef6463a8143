"""The admission webhooks of Workloads: AdmissionReviews as a kube-apiserver writes them, and the responses."""

import base64
from typing import Any

import msgspec
import pytest

from compute.controllers.management.admission.webhooks import MUTATE, VALIDATE, handlers
from compute.controllers.management.admission.workload_admission import WorkloadAdmission
from tests.support.compute.validation_builders import sandbox
from tests.support.compute.workload_builders import PROJECT, Story, binding
from tests.support.kubekit.stage import Stage, staged

Document = dict[str, Any]
CODES = "spec/placements/0/cityCodes"
POLICY = "spec/placements/0/scaleSettings/instanceManagementPolicy"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def review(new: Document | None, old: Document | None = None, **changes: Any) -> Document:
    """A review in all its parts, the nulls of Go among them."""
    kind = {"group": "compute.datumapis.com", "version": "v1alpha", "kind": "Workload"}
    resource = {"group": kind["group"], "version": kind["version"], "resource": "workloads"}
    request = {
        "uid": UID,
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": "web",
        "namespace": "default",
        "operation": "CREATE" if old is None else "UPDATE",
        "userInfo": {
            "username": "system:admin",
            "groups": ["system:masters", "system:authenticated"],
            "extra": {"iam.miloapis.com/parent-name": [PROJECT]},
        },
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": request | changes,
    }


def responses(
    directory: Any, path: str, *bodies: Document | bytes, only_project: str = ""
) -> list[Document]:
    """The responses of the webhook at the path to each body, in a project that offers DFW."""
    replies: list[Document] = []

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(binding("DFW"))
        handle = handlers(WorkloadAdmission(stage.role("projects")), only_project)[path]
        for body in bodies:
            raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
            replies.append(msgspec.json.decode(await handle(raw)))

    typed_story: Story = story
    staged(directory, typed_story, ("projects", PROJECT))
    return replies


def test_the_mutating_webhook_responds_with_a_patch(tmp_path):
    """A JSON patch in base64 that adds the default, and nothing where nothing is missing."""
    filled, whole = responses(
        tmp_path, MUTATE, review(sandbox({POLICY: ""})), review(sandbox({POLICY: "Parallel"}))
    )

    assert {name: filled[name] for name in ("apiVersion", "kind")} == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
    }
    patch = filled["response"].pop("patch")
    assert filled["response"] == {"uid": UID, "allowed": True, "patchType": "JSONPatch"}
    assert msgspec.json.decode(base64.b64decode(patch)) == [
        {"op": "add", "path": f"/{POLICY}", "value": "OrderedReady"}
    ]
    assert whole["response"] == {"uid": UID, "allowed": True}


def test_where_there_is_only_one_project_no_request_names_another(tmp_path):
    """On a plain cluster the extra fields of a user mean something else, or were forged."""
    asked = review(sandbox())
    asked["request"]["userInfo"]["extra"] = {"iam.miloapis.com/parent-name": ["another"]}

    (elsewhere,) = responses(tmp_path / "1", VALIDATE, asked)
    (here,) = responses(tmp_path / "2", VALIDATE, asked, only_project=PROJECT)

    assert elsewhere["response"]["allowed"] is False
    assert here["response"]["allowed"] is True


def test_what_an_api_server_writes_into_an_object_draws_no_warning(tmp_path):
    """It sends the object as it would be stored: with managed fields, a uid, and an empty status."""
    new = sandbox()
    new["status"] = {}
    new["metadata"] |= {
        "uid": UID,
        "generation": 2,
        "resourceVersion": "7",
        "creationTimestamp": "2026-11-19T12:00:00Z",
        "selfLink": "",
        "managedFields": [
            {
                "manager": "kubectl-create",
                "operation": "Update",
                "apiVersion": "compute.datumapis.com/v1alpha",
                "time": "2026-11-19T12:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {".": {}, "f:placements": {}, "f:template": {".": {}}}},
            },
            {
                "manager": "workload",
                "operation": "Update",
                "apiVersion": "compute.datumapis.com/v1alpha",
                "time": "2026-11-19T12:00:01Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, 'v:"a/b"': {}}}},
                "subresource": "status",
            },
        ],
    }
    old = sandbox()
    old["spec"]["placements"][0]["scaleSettings"]["minReplicas"] = 3

    created, updated = responses(tmp_path, VALIDATE, review(new), review(new, new | old))

    for reply in (created, updated):
        assert reply["response"] == {"uid": UID, "allowed": True}


def test_the_validating_webhook_refuses_with_a_status(tmp_path):
    """Code, reason, and a cause for each field; what is right is allowed."""
    wrong, right = responses(
        tmp_path, VALIDATE, review(sandbox({CODES: ["XXX"]})), review(sandbox())
    )

    status = wrong["response"]["status"]
    assert (wrong["response"]["uid"], wrong["response"]["allowed"]) == (UID, False)
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert 'supported values: "DFW"' in status["message"]
    (cause,) = status["details"]["causes"]
    assert cause["field"] == "spec.placements[0].cityCodes[0]"
    assert right["response"] == {"uid": UID, "allowed": True}


def test_a_warning_reaches_the_client(tmp_path):
    """A city that was withdrawn is kept, and the user is warned."""
    old = sandbox({CODES: ["DFW", "SIN"]})
    new = sandbox({CODES: ["DFW", "SIN"], "spec/template/metadata": {"labels": {"a": "b"}}})
    (kept,) = responses(tmp_path, VALIDATE, review(new, old))

    assert kept["response"]["allowed"]
    (warning,) = kept["response"]["warnings"]
    assert 'city "SIN" is no longer offered' in warning


@pytest.mark.parametrize("path", [MUTATE, VALIDATE])
@pytest.mark.parametrize(
    "asked",
    [
        review(None, sandbox(), operation="DELETE"),
        review(sandbox({CODES: ["XXX"]}), sandbox(), subResource="status"),
        review(
            {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 1}},
            subResource="scale",
        ),
    ],
    ids=["delete", "status", "scale"],
)
def test_a_write_that_keeps_the_spec_is_allowed(tmp_path, path, asked):
    """Deletions and subresources, should a configuration send them."""
    (reply,) = responses(tmp_path, path, asked)

    assert reply["response"] == {"uid": UID, "allowed": True}


@pytest.mark.parametrize("path", [MUTATE, VALIDATE])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "it is not JSON"),
        (b"[]", "expected object, got array"),
        (
            {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"},
            "not an AdmissionRev",
        ),
        ({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}, "request: it is requi"),
        (review(sandbox()) | {"request": {"uid": UID}}, "request.kind: it is required"),
    ],
    ids=["empty", "list", "another version", "no request", "half a request"],
)
def test_a_body_that_is_no_review_is_refused(tmp_path, path, body, why):
    """With a status that says why, in the response to a review."""
    (reply,) = responses(tmp_path, path, body)

    assert reply["kind"] == "AdmissionReview"
    assert reply["response"]["allowed"] is False
    assert reply["response"]["status"]["code"] == 400
    assert why in reply["response"]["status"]["message"]


def test_the_project_is_the_one_that_the_request_names(tmp_path):
    """An unknown project is a temporary error, and never taken for another project."""
    user = {"username": "ann", "extra": {"iam.miloapis.com/parent-name": ["attic"]}}
    (reply,) = responses(tmp_path, VALIDATE, review(sandbox(), userInfo=user))

    assert reply["response"]["allowed"] is False
    assert reply["response"]["status"]["code"] == 503
    assert "the project attic is not known here yet" in reply["response"]["status"]["message"]
