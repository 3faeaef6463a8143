"""The formats of a response, and which of them a client prefers.

Plain objects, rows for printing (Table), or metadata alone (PartialObjectMetadata): always JSON.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from kubekit.api.errors import NotAcceptable
from kubekit.plane.http.content.accept_header import MediaRange, ranges, takes
from kubekit.plane.http.messages import JSON

Shape = Literal["object", "table", "partial"]
Version = Literal["v1", "v1beta1"]

_GROUP: Final = "meta.k8s.io"
_SHAPES: Final[dict[str, Shape]] = {
    "Table": "table",
    "PartialObjectMetadata": "partial",
    "PartialObjectMetadataList": "partial",
}
_VERSIONS: Final[dict[str, Version]] = {"v1": "v1", "v1beta1": "v1beta1"}


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """A format of objects, and its media type."""

    shape: Shape = "object"
    version: Version = "v1"


PLAIN: Final = ResponseFormat()


def form_for(accept: str) -> ResponseFormat:
    """The first supported format in an Accept header."""
    form = _chosen(accept)
    if form is None:
        raise NotAcceptable("only the following media types are accepted: application/json")
    return form


@lru_cache(maxsize=256)  # clients send the same few headers
def _chosen(accept: str) -> ResponseFormat | None:
    return next(filter(None, map(_form, ranges(accept))), None)


def _form(accepted: MediaRange) -> ResponseFormat | None:
    if not takes(accepted, JSON):
        return None
    wanted = accepted.parameters.get("as")
    if wanted is None:
        return PLAIN
    shape, version = _SHAPES.get(wanted), _VERSIONS.get(accepted.parameters.get("v", ""))
    if shape is None or version is None or accepted.parameters.get("g") != _GROUP:
        return None
    return ResponseFormat(shape, version)
