"""The bodies of responses as documents."""

from typing import Final

import msgspec

from kubekit.client.transport import Document

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_DOCUMENTS: Final = msgspec.json.Decoder(dict)


def document(body: bytes) -> Document:
    """The document in a response. It raises one of `UNREADABLE`."""
    parsed: Document = _DOCUMENTS.decode(body)
    return parsed


def is_object(body: bytes) -> bool:
    """Whether the body may be a JSON object, judged by its first and last byte.

    The error page of a proxy is not, nor is a truncated body.
    """
    return body[:1] == b"{" and body[-2:].rstrip()[-1:] == b"}"
