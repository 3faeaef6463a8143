"""The bodies of answers as documents."""

from typing import Final

import msgspec

from kubekit.client.transport import Document

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_DOCUMENTS: Final = msgspec.json.Decoder(dict)


def document(body: bytes) -> Document:
    """The document in an answer. It raises one of `UNREADABLE`."""
    found: Document = _DOCUMENTS.decode(body)
    return found


def is_object(body: bytes) -> bool:
    """Whether the body may be an object in JSON, by its first and last byte.

    A page that a proxy answers with is none, nor is what was cut off.
    """
    return body[:1] == b"{" and body[-2:].rstrip()[-1:] == b"}"
