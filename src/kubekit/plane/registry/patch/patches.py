"""Applies patches to documents: all patch types except server-side apply."""

from kubekit.api.errors import UnsupportedMediaType
from kubekit.client.options import PatchType
from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import json_patch, merge_patch, strategic_merge_patch

_EVERY_KIND = (PatchType.JSON, PatchType.MERGE)


def check_type(kind: Kind, patch_type: PatchType) -> None:
    """Refuse a patch type that the kind does not support."""
    supported = _EVERY_KIND if kind.custom else (*_EVERY_KIND, PatchType.STRATEGIC)
    if patch_type not in supported:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join((*supported, PatchType.APPLY))
        )


def patched(kind: Kind, patch_type: PatchType, document: Document, patch: object) -> object:
    """The document with the patch applied. The patch is not changed: it may be applied again."""
    if patch_type is PatchType.JSON:
        return json_patch.apply(document, patch)
    if patch_type is PatchType.STRATEGIC:
        return strategic_merge_patch.apply(
            document, patch, strategic_merge_patch.lists_of(kind.resource)
        )
    return merge_patch.apply(document, patch)
