"""Continue tokens: the start of the next page of a list, bound to the query of that list.

A token is opaque to clients but not a secret. It names the revision of the whole list, the last key
of the previous page, and a digest of the query, so that a token of another query is refused.
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
    """A position in a list. The revision `NOW` means the newest one when the token is used."""

    question: str
    revision: int
    after: str


class ExpiredToken(Expired):
    """The revision of the token is compacted; `continue_` continues at the newest revision."""

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


def query_digest(*parts: str) -> str:
    """A digest of the query of a list: plane, resource, namespace, selectors."""
    return blake2b(msgspec.json.encode(parts), digest_size=9).hexdigest()


def write(token: ContinueToken) -> str:
    return urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def read(text: str, query: str) -> ContinueToken:
    """The position that a token names; refused unless it was issued for this query."""
    try:
        raw = urlsafe_b64decode(text[:_LONGEST].encode("ascii") + b"==")
        token = msgspec.json.decode(raw, type=ContinueToken)
    except (UnicodeError, binascii.Error, msgspec.DecodeError) as error:
        raise BadRequest(
            "invalid continue token: continue key is not valid: it was not issued by this server"
        ) from error
    if token.question != query:
        raise BadRequest(
            "invalid continue token: it belongs to another list; use it with the same resource, "
            "namespace and selectors"
        )
    return token
