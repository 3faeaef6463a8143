"""Continue tokens: where the next page of a list starts, and which list it is a page of.

A token is opaque to clients and no secret. It names the revision of the whole list, the last key
that was told, and a digest of what was asked for, so that a token of another question is refused
instead of answered wrongly.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Final

import msgspec

from kubekit.api.errors import BadRequest, Expired
from kubekit.api.meta import ListMeta
from kubekit.api.status import Status

NOW: Final = -1
_LONGEST: Final = 2048


class ContinueToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place in a list. The revision `NOW` stands for whatever is there when it is used."""

    question: str
    revision: int
    after: str


class ExpiredToken(Expired):
    """The list that the token belongs to is forgotten; `continue_` goes on without it."""

    def __init__(self, continue_: str) -> None:
        super().__init__(
            "The provided continue parameter is too old to display a consistent list result. Start "
            "a new list without it, or use the continue token in this response to get the rest of "
            "the objects as they are now: what was created, changed or deleted since the first "
            "page may then show."
        )
        self.continue_ = continue_

    def to_status(self) -> Status:
        meta = ListMeta(continue_=self.continue_)
        return msgspec.structs.replace(super().to_status(), metadata=meta)


def question(*parts: str) -> str:
    """What a list asks for, as a digest: plane resource, namespace, selectors."""
    return blake2b(msgspec.json.encode(parts), digest_size=9).hexdigest()


def write(token: ContinueToken) -> str:
    return urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def read(text: str, asked: str) -> ContinueToken:
    """The place that a token names; refused unless it was given out for this question."""
    try:
        raw = urlsafe_b64decode(text[:_LONGEST].encode("ascii") + b"==")
        token = msgspec.json.decode(raw, type=ContinueToken)
    except (UnicodeError, binascii.Error, msgspec.DecodeError) as error:
        raise BadRequest(
            "invalid continue token: continue key is not valid: it was not given out by this server"
        ) from error
    if token.question != asked:
        raise BadRequest(
            "invalid continue token: it belongs to another list; use it with the same resource, "
            "namespace and selectors"
        )
    return token
