"""Decoding documents of a plane as our classes.

Documents are encoded bytes or already parsed. A document that its class cannot read is named and
left out: one bad object must not hide the others.

Several readers in the process of a plane get the same bytes. They share the decoded object: it is
frozen, and its dictionaries must not be changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

import msgspec

from kubekit.api import scheme
from kubekit.api.meta import Object
from kubekit.api.wire import Wire
from kubekit.client.transport import Change, Document

K = TypeVar("K", bound=Object)


class UnreadableObject(msgspec.Struct, frozen=True):
    """An object that exists but that its class cannot read."""

    namespace: str
    name: str
    why: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Listing(Generic[K]):
    """One page of a collection. An empty ``continue_`` means that it is the last one.

    ``sources`` are the bytes that the items were decoded from, if a plane of this process keeps them
    anyway; keeping them together with the items costs no memory then.
    """

    items: tuple[K, ...]
    resource_version: str
    continue_: str = ""
    unreadable: tuple[UnreadableObject, ...] = ()
    sources: tuple[bytes, ...] = field(default=(), compare=False, repr=False)


class TypedEvent(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """One event of a watch. A bookmark has no object, only the version that the watch has reached.

    ``unreadable`` says why an object is missing. ``source`` are the bytes of the object, as in a
    `Listing`.
    """

    type: Change
    object: K | None
    resource_version: str
    namespace: str = ""
    name: str = ""
    unreadable: str | None = None
    source: bytes | None = None


def read_shared(kind: type[K], data: bytes) -> K:
    """The object in these bytes, shared with other readers that decoded them recently."""
    if len(data) > _LONGEST_SHARED:
        return scheme.decode_as(kind, data)
    shared: K = _decoded_recently(kind, data)
    return shared


def read_listing(
    kind: type[K], documents: Iterable[bytes | Document], version: str, continue_: str = ""
) -> Listing[K]:
    """The page with these documents."""
    items: list[K] = []
    unreadable: list[UnreadableObject] = []
    for document in documents:
        item = _item(kind, document)
        if isinstance(item, UnreadableObject):
            unreadable.append(item)
        else:
            items.append(item)
    return Listing(tuple(items), version, continue_, tuple(unreadable))


def read_records(
    kind: type[K], records: Sequence[bytes], version: str, continue_: str
) -> Listing[K]:
    """The page of a plane in this process, which keeps these bytes."""
    page = read_listing(kind, records, version, continue_)
    return page if page.unreadable else replace(page, sources=tuple(records))


def read_notice(kind: type[K], change: Change, data: bytes) -> TypedEvent[K]:
    """The event of a plane in this process, which keeps these bytes."""
    if change == "BOOKMARK":
        return read_event(kind, change, data)
    try:
        obj = read_shared(kind, data)
    except scheme.DecodeError:
        return read_event(kind, change, data)
    meta = obj.metadata
    return TypedEvent(change, obj, meta.resource_version, meta.namespace, meta.name, None, data)


def read_event(kind: type[K], change: Change, document: bytes | Document) -> TypedEvent[K]:
    """The event with the object in this document."""
    if change == "BOOKMARK":
        # Its object has no spec, which a class may require.
        return TypedEvent(change, None, _identity(document).resource_version)
    try:
        obj = scheme.decode_as(kind, document)
    except scheme.DecodeError as error:
        meta = _identity(document)
        return TypedEvent(
            change, None, meta.resource_version, meta.namespace, meta.name, str(error)
        )
    metadata = obj.metadata
    return TypedEvent(change, obj, metadata.resource_version, metadata.namespace, metadata.name)


class _Identity(Wire, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Head(Wire, frozen=True, kw_only=True):
    metadata: _Identity = msgspec.field(default_factory=_Identity)


_NO_IDENTITY: Final = _Identity()
_HEADS: Final = msgspec.json.Decoder(_Head)
_LONGEST_SHARED: Final = 16 * 1024  # bytes of an object that is cached
_MOST_SHARED: Final = 256  # objects: all readers of a change come within moments of each other


@lru_cache(_MOST_SHARED)
def _decoded_recently(kind: type[Any], data: bytes) -> Any:  # noqa: ANN401 - a cache has no type parameters
    return scheme.decode_as(kind, data)


def _item(kind: type[K], document: bytes | Document) -> K | UnreadableObject:
    try:
        return scheme.decode_as(kind, document)
    except scheme.DecodeError as error:
        meta = _identity(document)
        return UnreadableObject(meta.namespace, meta.name, str(error), meta.uid)


def _identity(document: bytes | Document) -> _Identity:
    """The identity of the object in a document, even if its class cannot read the rest."""
    try:
        if isinstance(document, bytes):
            return _HEADS.decode(document).metadata
        return msgspec.convert(document, _Head).metadata
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NO_IDENTITY
