"""Reviews as Kubernetes writes them, and as webhooks answer."""

import json

import msgspec

from kubekit.api import scheme
from kubekit.api.kinds import admission
from kubekit.api.kinds.admission import (
    AdmissionRequest,
    AdmissionResponse,
    AdmissionReview,
    GroupVersionKind,
    GroupVersionResource,
)
from kubekit.api.kinds.authentication import UserInfo

KIND = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
RESOURCE = {"group": "", "version": "v1", "resource": "replicationcontrollers"}
REQUEST = {
    "uid": "705ab4f5",
    "kind": KIND,
    "resource": RESOURCE,
    "subResource": "scale",
    "requestKind": KIND,
    "requestResource": RESOURCE,
    "requestSubResource": "scale",
    "name": "one",
    "namespace": "room",
    "operation": "UPDATE",
    "userInfo": {"username": "ann", "uid": "1", "groups": ["a"], "extra": {"b": ["c"]}},
    "object": {"spec": {"replicas": 2}},
    "oldObject": {"spec": {"replicas": 1}},
    "dryRun": True,
    "options": {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"},
}
RESPONSE = {
    "uid": "705ab4f5",
    "allowed": True,
    "status": {
        "message": "no",
        "reason": "Forbidden",
        "code": 403,
        "details": {"name": "one", "retryAfterSeconds": 3},
    },
    "patch": "W10=",
    "patchType": "JSONPatch",
    "auditAnnotations": {"a": "b"},
    "warnings": ["c"],
}


def test_a_review_comes_back_as_it_was():
    """Each name is the one on the wire, in what is asked and in what is answered."""
    whole = {
        "apiVersion": admission.REVIEW_VERSION,
        "kind": admission.REVIEW_KIND,
        "request": REQUEST,
        "response": RESPONSE,
    }
    review = msgspec.convert(whole, type=AdmissionReview)
    assert json.loads(scheme.encode(review)) == whole


def test_absent_fields_are_written_where_readers_rely_on_them():
    """A request always says that there is no object, and that it is no trial."""
    request = AdmissionRequest(
        uid="1",
        kind=GroupVersionKind(version="v1", kind="Pod"),
        resource=GroupVersionResource(version="v1", resource="pods"),
        request_kind=GroupVersionKind(),
        request_resource=GroupVersionResource(),
        operation="DELETE",
        user_info=UserInfo(),
        options={},
    )
    written = json.loads(scheme.encode(request))
    assert written["object"] is None
    assert written["oldObject"] is None
    assert written["dryRun"] is False
    assert written["kind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert "subResource" not in written


def test_an_answer_that_says_nothing_says_no():
    """A webhook must allow a change in so many words."""
    assert msgspec.convert({}, type=AdmissionResponse).allowed is False
