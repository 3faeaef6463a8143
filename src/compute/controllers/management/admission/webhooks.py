"""The admission webhooks of Workloads, for an HTTP server to mount: from request body to response body.

Paths and responses are those of the original, so its webhook configurations apply unchanged. Every
response has status 200; the review in it says why a request is refused.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec

from compute.controllers.management.admission.workload_admission import (
    WorkloadAdmission,
    defaults,
    project_of,
)
from kubekit.api import json_pointer, scheme
from kubekit.api.errors import ApiError, BadRequest
from kubekit.api.kinds.admission import (
    REVIEW_KIND,
    REVIEW_VERSION,
    AdmissionRequest,
    AdmissionResponse,
    AdmissionReview,
    AdmissionStatus,
)

Handler = Callable[[bytes], Awaitable[bytes]]
Respond = Callable[[AdmissionRequest], Awaitable[AdmissionResponse]]

MUTATE: Final = "/mutate-compute-datumapis-com-v1alpha-workload"
VALIDATE: Final = "/validate-compute-datumapis-com-v1alpha-workload"
_JSON_PATCH: Final = "JSONPatch"


def handlers(admission: WorkloadAdmission, only_project: str = "") -> Mapping[str, Handler]:
    """The handler of each path. A request names its project, unless there is only one."""

    async def validate(request: AdmissionRequest) -> AdmissionResponse:
        warnings = await admission.review(
            request.operation,
            request.object,
            request.old_object,
            request.user_info,
            only_project or project_of(request.user_info),
        )
        return AdmissionResponse(uid=request.uid, allowed=True, warnings=warnings)

    return {MUTATE: _handler(_mutate), VALIDATE: _handler(validate)}


async def _mutate(request: AdmissionRequest) -> AdmissionResponse:
    missing = defaults(request.operation, request.object, request.old_object)
    if not missing:
        return _allowed(request)
    operations = [
        {"op": "add", "path": json_pointer.format_pointer(path), "value": value}
        for path, value in missing
    ]
    patch = base64.b64encode(msgspec.json.encode(operations)).decode("ascii")
    return AdmissionResponse(uid=request.uid, allowed=True, patch=patch, patch_type=_JSON_PATCH)


def _handler(respond: Respond) -> Handler:
    async def handle(body: bytes) -> bytes:
        uid = ""
        try:
            request = _request(body)
            uid = request.uid
            response = await respond(request) if _is_object(request) else _allowed(request)
        except ApiError as refusal:
            response = AdmissionResponse(uid=uid, allowed=False, status=_status(refusal))
        review = AdmissionReview(api_version=REVIEW_VERSION, kind=REVIEW_KIND, response=response)
        return scheme.encode(review)

    return handle


def _is_object(request: AdmissionRequest) -> bool:
    """Whether the object itself is written. A subresource does not change the spec."""
    return not request.sub_resource


def _allowed(request: AdmissionRequest) -> AdmissionResponse:
    return AdmissionResponse(uid=request.uid, allowed=True)


def _request(body: bytes) -> AdmissionRequest:
    try:
        review = scheme.decode_wire(AdmissionReview, body)
    except scheme.DecodeError as error:
        raise BadRequest(str(error)) from error
    if (review.api_version, review.kind) != (REVIEW_VERSION, REVIEW_KIND):
        raise BadRequest(f"the body is not an {REVIEW_KIND} of {REVIEW_VERSION}")
    if review.request is None:
        raise BadRequest("request: it is required")
    return review.request


def _status(refusal: ApiError) -> AdmissionStatus:
    return AdmissionStatus(
        message=refusal.message, reason=refusal.reason, details=refusal.details, code=refusal.code
    )
