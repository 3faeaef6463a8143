"""AdmissionReviews: the requests to webhooks and their responses."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.kinds.admission import (
    REVIEW_KIND,
    REVIEW_VERSION,
    AdmissionRequest,
    AdmissionResponse,
    AdmissionReview,
    AdmissionStatus,
    GroupVersionKind,
    GroupVersionResource,
)
from kubekit.api.kinds.authentication import UserInfo
from kubekit.api.resource import Resource
from kubekit.client.options import DeleteOptions, WriteOptions
from kubekit.client.transport import Document
from kubekit.plane.admission.webhook_errors import CallFailed
from kubekit.plane.registry import body_decoder
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs import scales
from kubekit.plane.users import User

OPERATIONS: Final = {
    "create": "CREATE",
    "update": "UPDATE",
    "delete": "DELETE",
    "connect": "CONNECT",
}
NAMESPACES: Final = "/namespaces"

_OPTIONS: Final = {"create": "CreateOptions", "delete": "DeleteOptions"}
_META: Final = "meta.k8s.io/v1"
_INVALID: Final = "received invalid webhook response: "

encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class WebhookVerdict:
    """The verdict of a webhook. ``patch`` are the operations of its patch, if it has one."""

    allowed: bool
    status: AdmissionStatus | None = None
    patch: object = None
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


def namespace_of(attempt: Attempt) -> str:
    """The namespace of a change; for a namespace, its own name."""
    return attempt.name if attempt.kind.storage == NAMESPACES else attempt.namespace


def shown(document: Document | None, source: Kind, wanted: Kind, part: str) -> Document | None:
    """A document converted to another version; for the subresource ``scale``, its Scale."""
    if document is None:
        return None
    if part == "scale":
        return scales.scale_of(source.resource, document)
    if source is wanted:
        return document
    if source.conversion is not None:
        document = source.conversion.to_storage(document)
    return document if wanted.conversion is None else wanted.conversion.from_storage(document)


def request_of(attempt: Attempt, wanted: Kind, uid: str) -> AdmissionRequest:
    """The request, with the objects in the version of the webhook's rule."""
    part, own = attempt.subresource, attempt.kind
    return AdmissionRequest(
        uid=uid,
        kind=_kind(scales.RESOURCE if part == "scale" else wanted.resource),
        resource=_resource(wanted.resource),
        sub_resource=part,
        request_kind=_kind(scales.RESOURCE if part == "scale" else own.resource),
        request_resource=_resource(own.resource),
        request_sub_resource=part,
        name=attempt.name,
        namespace=namespace_of(attempt),
        operation=OPERATIONS[attempt.verb],
        user_info=_user(attempt.user),
        object=shown(attempt.document, own, wanted, part),
        old_object=shown(attempt.old, own, wanted, part),
        dry_run=attempt.dry_run,
        options=_options(attempt.verb, attempt.options),
    )


def review_of(request: AdmissionRequest) -> bytes:
    """The encoded review of a request."""
    return encode(AdmissionReview(api_version=REVIEW_VERSION, kind=REVIEW_KIND, request=request))


def verdict_of(body: bytes, uid: str, *, may_patch: bool) -> WebhookVerdict:
    """The verdict in the response to the review with this uid. Raises `CallFailed` if it is invalid."""
    review = _read(body)
    if (review.api_version, review.kind) != (REVIEW_VERSION, REVIEW_KIND):
        raise CallFailed(
            f"{_INVALID}expected webhook response of {REVIEW_VERSION}, Kind={REVIEW_KIND}, "
            f"got {review.api_version[:100]}, Kind={review.kind[:100]}"
        )
    response = review.response
    if response is None:
        raise CallFailed(f"{_INVALID}webhook response was absent")
    if response.uid != uid:
        raise CallFailed(f'{_INVALID}expected response.uid="{uid}", got "{response.uid[:100]}"')
    return WebhookVerdict(
        allowed=response.allowed,
        status=response.status,
        patch=_patch(response, may_patch=may_patch),
        warnings=response.warnings,
        annotations=response.audit_annotations,
    )


def _read(body: bytes) -> AdmissionReview:
    if not body:
        raise CallFailed("failed to call webhook: 0-length response")
    try:
        found = body_decoder.read_json(body)
        return msgspec.convert(_without_nulls(found), type=AdmissionReview)
    except (BadRequest, msgspec.ValidationError) as error:
        raise CallFailed(f"failed to call webhook: the answer is not a review: {error}") from error


def _without_nulls(value: object) -> object:
    """The same without nulls: Go writes null for an empty list or map."""
    match value:
        case dict():
            return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
        case _:
            return value


def _patch(response: AdmissionResponse, *, may_patch: bool) -> object:
    """The operations of the patch. A validating webhook must not have any."""
    patch, kind = response.patch, response.patch_type
    if not may_patch:
        if patch:
            raise CallFailed(f"{_INVALID}validating webhook may not return response.patch")
        if kind is not None:
            raise CallFailed(f"{_INVALID}validating webhook may not return response.patchType")
        return None
    if not patch:
        if kind is not None:
            raise CallFailed(
                f"{_INVALID}webhook returned response.patchType but not response.patch"
            )
        return None
    if kind is None:
        raise CallFailed(f"{_INVALID}webhook returned response.patch but not response.patchType")
    if kind != "JSONPatch":
        raise CallFailed(f'{_INVALID}unsupported patch type "{kind[:100]}", expected "JSONPatch"')
    return _operations(patch)


def _operations(patch: str) -> object:
    try:
        text = base64.b64decode(patch, validate=True)
    except ValueError as error:
        raise CallFailed(
            f"failed to call webhook: illegal base64 data in the patch: {error}"
        ) from error
    try:
        operations = body_decoder.read_json(text)
    except BadRequest as error:
        raise CallFailed(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(operations, list):
        why = "a JSON patch must be a JSON array of operations"
        raise CallFailed(f"received undecodable patch in webhook response: {why}")
    return operations


def _kind(resource: Resource) -> GroupVersionKind:
    return GroupVersionKind(group=resource.group, version=resource.version, kind=resource.kind)


def _resource(resource: Resource) -> GroupVersionResource:
    return GroupVersionResource(
        group=resource.group, version=resource.version, resource=resource.plural
    )


def _user(user: User) -> UserInfo:
    return UserInfo(username=user.name, uid=user.uid, groups=user.groups, extra=dict(user.extra))


def _options(verb: str, options: WriteOptions | DeleteOptions) -> Document:
    """The options as a document. Those of a patch are UpdateOptions too."""
    head: Document = {"kind": _OPTIONS.get(verb, "UpdateOptions"), "apiVersion": _META}
    if options.dry_run:
        head["dryRun"] = ["All"]
    if isinstance(options, WriteOptions):
        fields: Document = {
            "fieldManager": options.field_manager,
            "fieldValidation": options.field_validation,
        }
    else:
        fields = _delete_options(options)
    return head | {name: value for name, value in fields.items() if value}


def _delete_options(options: DeleteOptions) -> Document:
    seconds = options.grace_period_seconds
    conditions = {"uid": options.uid, "resourceVersion": options.resource_version}
    fields: Document = {
        "preconditions": {name: value for name, value in conditions.items() if value},
        "propagationPolicy": options.propagation,
    }
    return fields if seconds is None else {"gracePeriodSeconds": seconds} | fields
