"""What is read from a plane, in our classes.

Documents come as the bytes of the wire or parsed already. One that its class cannot read is named
and left out: one bad object must not hide the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from compute.api import scheme
from compute.api.meta import Object
from compute.api.wire import Wire
from compute.client.transport import Change, Document

K = TypeVar("K", bound=Object)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that is there but that its class cannot read."""

    namespace: str
    name: str
    why: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Listing(Generic[K]):
    """One page of a collection. An empty ``continue_`` means that nothing is left."""

    items: tuple[K, ...]
    resource_version: str
    continue_: str = ""
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen(Generic[K]):
    """One change of a watch. A bookmark has no object, only how far the watch has come.

    ``unreadable`` says why there is no object where there should be one.
    """

    type: Change
    object: K | None
    resource_version: str
    namespace: str = ""
    name: str = ""
    unreadable: str | None = None


def read_listing(
    kind: type[K], documents: Iterable[bytes | Document], version: str, continue_: str = ""
) -> Listing[K]:
    """The page that these documents are."""
    items: list[K] = []
    unreadable: list[Unreadable] = []
    for document in documents:
        read = _item(kind, document)
        if isinstance(read, Unreadable):
            unreadable.append(read)
        else:
            items.append(read)
    return Listing(tuple(items), version, continue_, tuple(unreadable))


def read_event(kind: type[K], change: Change, document: bytes | Document) -> Seen[K]:
    """The change that happened to the object in this document."""
    if change == "BOOKMARK":
        # Its object has no spec, which a class may require.
        return Seen(change, None, _identity(document).resource_version)
    try:
        obj = scheme.decode_as(kind, document)
    except scheme.DecodeError as error:
        meta = _identity(document)
        return Seen(change, None, meta.resource_version, meta.namespace, meta.name, str(error))
    own = obj.metadata
    return Seen(change, obj, own.resource_version, own.namespace, own.name)


class _Identity(Wire, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Head(Wire, frozen=True, kw_only=True):
    metadata: _Identity = msgspec.field(default_factory=_Identity)


_NOBODY = _Identity()
_HEADS = msgspec.json.Decoder(_Head)


def _item(kind: type[K], document: bytes | Document) -> K | Unreadable:
    try:
        return scheme.decode_as(kind, document)
    except scheme.DecodeError as error:
        meta = _identity(document)
        return Unreadable(meta.namespace, meta.name, str(error), meta.uid)


def _identity(document: bytes | Document) -> _Identity:
    """Which object a document is, even if the rest of it makes no sense."""
    try:
        if isinstance(document, bytes):
            return _HEADS.decode(document).metadata
        return msgspec.convert(document, _Head).metadata
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOBODY
