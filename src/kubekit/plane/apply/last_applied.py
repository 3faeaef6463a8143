"""Migration from kubectl's client-side apply to server-side apply.

kubectl without ``--server-side`` stores the applied configuration in an annotation. When kubectl
applies with it, fields that still have the values of the annotation belong to it and are no
conflicts. The annotation is updated, so that both forms can be used in turn.
"""

from typing import Any, Final

import msgspec

from kubekit.api.structural.nodes import Document
from kubekit.plane.apply.field_nodes import Untrackable
from kubekit.plane.apply.field_sets import FieldSet, difference
from kubekit.plane.apply.shapes import WritableFields

MANAGER: Final = "kubectl"

_ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def unchanged_fields(part: WritableFields, live: Document, api_version: str) -> FieldSet:
    """The fields that kubectl applied client-side and that have not changed since."""
    text = _annotations(live).get(_ANNOTATION)
    try:
        before = msgspec.json.decode(text or "{}", type=dict[str, Any])
        if before.get("apiVersion") != api_version:
            return {}
        gained, lost = part.compared(before, live)
        return difference(difference(part.owned(before), gained or {}), lost or {})
    except (msgspec.DecodeError, Untrackable):
        return {}


def with_annotation(document: Document, config: Document) -> Document:
    """The document. If it has the annotation, the annotation is set to this configuration."""
    annotations = _annotations(document)
    if not annotations.get(_ANNOTATION):
        return document
    applied = {**config, "metadata": _without_annotation(config.get("metadata") or {})}
    text = _encode(applied).decode() + "\n"
    metadata = {**document["metadata"], "annotations": {**annotations, _ANNOTATION: text}}
    return {**document, "metadata": metadata}


def _annotations(document: Document) -> dict[str, str]:
    return document.get("metadata", {}).get("annotations") or {}


def _without_annotation(metadata: Document) -> Document:
    kept = {n: v for n, v in (metadata.get("annotations") or {}).items() if n != _ANNOTATION}
    rest = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**rest, "annotations": kept} if kept else rest
