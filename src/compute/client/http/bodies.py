"""Documents as the body of a request, and the answers' bodies as documents."""

import math
from typing import Final

import msgspec

from compute.api.errors import BadRequest
from compute.client.transport import Document

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_DOCUMENTS: Final = msgspec.json.Decoder(dict)


def encoded(value: object) -> bytes:
    """The value as JSON. `BadRequest` for what JSON does not have."""
    try:
        body = msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"the document cannot be written as JSON: {error}") from error
    # The encoder writes null for NaN and the infinities.
    if b"null" in body:
        _refuse_unreal(value)
    return body


def document(body: bytes) -> Document:
    """The document in an answer. It raises one of `UNREADABLE`."""
    found: Document = _DOCUMENTS.decode(body)
    return found


def is_object(body: bytes) -> bool:
    """Whether the body may be an object in JSON, by its first and last byte.

    A page that a proxy answers with is none, nor is what was cut off.
    """
    return body[:1] == b"{" and body[-2:].rstrip()[-1:] == b"}"


def _refuse_unreal(value: object) -> None:
    match value:
        case float() if not math.isfinite(value):
            raise BadRequest(f"the document cannot be written as JSON: {value} is not a number")
        case dict():
            for item in value.values():
                _refuse_unreal(item)
        case list() | tuple():
            for item in value:
                _refuse_unreal(item)
        case _:
            return
