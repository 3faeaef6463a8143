"""The way from kubectl's own apply to that of the server.

kubectl without ``--server-side`` keeps what it applied in an annotation. When the same user applies
with it, fields that still have the values of the annotation are his, not somebody else's; and the
annotation follows, so that both ways can be used in turn.
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


def still_his(part: WritableFields, live: Document, api_version: str) -> FieldSet:
    """The fields that kubectl applied by itself and nobody changed since."""
    text = _annotations(live).get(_ANNOTATION)
    try:
        before = msgspec.json.decode(text or "{}", type=dict[str, Any])
        if before.get("apiVersion") != api_version:
            return {}
        gained, lost = part.compared(before, live)
        return difference(difference(part.owned(before), gained or {}), lost or {})
    except (msgspec.DecodeError, Untrackable):
        return {}


def carried_on(document: Document, config: Document) -> Document:
    """The document with the annotation, if it has one, made to say what was applied now."""
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
