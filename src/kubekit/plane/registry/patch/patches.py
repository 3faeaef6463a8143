"""How each kind of patch makes a new document of the present one."""

from kubekit.api.errors import UnsupportedMediaType
from kubekit.client.options import PatchType
from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import json_patch, merge_patch, strategic_merge_patch

_TAKEN = (PatchType.JSON, PatchType.MERGE)


def check_type(kind: Kind, patch_type: PatchType) -> None:
    """Refuse a patch that is written in a way the kind does not take."""
    taken = _TAKEN if kind.custom else (*_TAKEN, PatchType.STRATEGIC)
    if patch_type not in taken:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join((*taken, PatchType.APPLY))
        )


def patched(kind: Kind, patch_type: PatchType, document: Document, patch: object) -> object:
    """The document with the patch applied; the patch stays as it is, to be applied again."""
    if patch_type is PatchType.JSON:
        return json_patch.apply(document, patch)
    if patch_type is PatchType.STRATEGIC:
        return strategic_merge_patch.apply(
            document, patch, strategic_merge_patch.lists_of(kind.resource)
        )
    return merge_patch.apply(document, patch)
