"""Applies the patches of webhooks. A webhook must not change the identity of an object."""

from typing import Final

from kubekit.api.errors import ApiError, BadRequest
from kubekit.client.transport import Document
from kubekit.plane.admission.admission_reviews import shown
from kubekit.plane.admission.webhook_errors import bad_patch
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.encoding import same
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import json_patch
from kubekit.plane.registry.verbs import scales
from kubekit.plane.registry.verbs.metadata_decoder import receive

_IDENTITY: Final = ("name", "namespace", "uid")


def patched(attempt: Attempt, wanted: Kind, operations: object, hook: str) -> Document | None:
    """The object after the patch, in its own version; None when the patch changes nothing.

    The operations refer to the object as the webhook saw it, in the version ``wanted``.
    """
    if attempt.document is None:
        why = "attempted to modify the object, which is not supported for this operation"
        raise bad_patch(hook, why)
    before = shown(attempt.document, attempt.kind, wanted, attempt.subresource) or {}
    try:
        after = json_patch.apply(before, operations)
    except ApiError as error:
        raise bad_patch(hook, f"sent a patch that cannot be applied: {error.message}") from error
    if same(before, after):
        return None
    _check_identity(before, after, hook)
    _check_metadata(wanted, after, hook)
    return _own(attempt, wanted, after, hook)


def _check_identity(before: Document, after: Document, hook: str) -> None:
    for name in ("apiVersion", "kind"):
        if after.get(name) != before.get(name):
            raise bad_patch(hook, f"attempted to change {name} of the object, which is not allowed")
    metadata = after.get("metadata")
    if not isinstance(metadata, dict):
        raise bad_patch(hook, "attempted to remove the metadata of the object")
    for name in _IDENTITY:
        if metadata.get(name) != before["metadata"].get(name):
            why = f"attempted to change metadata.{name} of the object, which is not allowed"
            raise bad_patch(hook, why)


def _check_metadata(kind: Kind, after: Document, hook: str) -> None:
    try:
        receive(kind, after)
    except BadRequest as error:
        raise bad_patch(hook, f"made unreadable metadata: {error.message}") from error


def _own(attempt: Attempt, wanted: Kind, after: Document, hook: str) -> Document:
    """The document in the version that the client used."""
    kind, document = attempt.kind, attempt.document or {}
    if attempt.subresource != "scale":
        return shown(after, wanted, kind, "") or {}
    try:
        scaled = scales.with_scale(kind.resource, document, after)
    except ApiError as error:
        raise bad_patch(hook, f"made an invalid Scale: {error.message}") from error
    return {**scaled, "metadata": document["metadata"]}
