"""What is read from a plane, in our classes.

Documents come as the bytes of the wire or parsed already. One that its class cannot read is named
and left out: one bad object must not hide the others.

Several readers of one process are handed the same bytes when a plane is in that process too. They
share the object that is made of them: it is frozen, and its maps are to be left alone.
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


@dataclass(frozen=True, slots=True)
class UnreadableObject:
    """An object that is there but that its class cannot read."""

    namespace: str
    name: str
    why: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Listing(Generic[K]):
    """One page of a collection. An empty ``continue_`` means that nothing is left.

    ``sources`` are the bytes that the items were made of, where a plane of this process keeps them
    anyway: whoever keeps the items can do so at no cost.
    """

    items: tuple[K, ...]
    resource_version: str
    continue_: str = ""
    unreadable: tuple[UnreadableObject, ...] = ()
    sources: tuple[bytes, ...] = field(default=(), compare=False, repr=False)


class TypedEvent(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """One change of a watch. A bookmark has no object, only how far the watch has come.

    ``unreadable`` says why there is no object where there should be one. ``source`` are the bytes
    of the object, as in a `Listing`.
    """

    type: Change
    object: K | None
    resource_version: str
    namespace: str = ""
    name: str = ""
    unreadable: str | None = None
    source: bytes | None = None


def read_shared(kind: type[K], data: bytes) -> K:
    """The object in bytes that others may read too; theirs, if they did so lately."""
    if len(data) > _LONGEST_SHARED:
        return scheme.decode_as(kind, data)
    shared: K = _lately(kind, data)
    return shared


def read_listing(
    kind: type[K], documents: Iterable[bytes | Document], version: str, continue_: str = ""
) -> Listing[K]:
    """The page that these documents are."""
    items: list[K] = []
    unreadable: list[UnreadableObject] = []
    for document in documents:
        read = _item(kind, document)
        if isinstance(read, UnreadableObject):
            unreadable.append(read)
        else:
            items.append(read)
    return Listing(tuple(items), version, continue_, tuple(unreadable))


def read_records(
    kind: type[K], records: Sequence[bytes], version: str, continue_: str
) -> Listing[K]:
    """The page of a plane in this process, which keeps these bytes."""
    page = read_listing(kind, records, version, continue_)
    return page if page.unreadable else replace(page, sources=tuple(records))


def read_notice(kind: type[K], change: Change, data: bytes) -> TypedEvent[K]:
    """The change of an object in a plane of this process, which keeps these bytes."""
    if change == "BOOKMARK":
        return read_event(kind, change, data)
    try:
        obj = read_shared(kind, data)
    except scheme.DecodeError:
        return read_event(kind, change, data)
    own = obj.metadata
    return TypedEvent(change, obj, own.resource_version, own.namespace, own.name, None, data)


def read_event(kind: type[K], change: Change, document: bytes | Document) -> TypedEvent[K]:
    """The change that happened to the object in this document."""
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
    own = obj.metadata
    return TypedEvent(change, obj, own.resource_version, own.namespace, own.name)


class _Identity(Wire, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Head(Wire, frozen=True, kw_only=True):
    metadata: _Identity = msgspec.field(default_factory=_Identity)


_NOBODY: Final = _Identity()
_HEADS: Final = msgspec.json.Decoder(_Head)
_LONGEST_SHARED: Final = 16 * 1024  # bytes of an object that is remembered
_MOST_SHARED: Final = 256  # objects: all readers of a change come within moments of each other


@lru_cache(_MOST_SHARED)
def _lately(kind: type[Any], data: bytes) -> Any:  # noqa: ANN401 - a cache has no type parameters
    return scheme.decode_as(kind, data)


def _item(kind: type[K], document: bytes | Document) -> K | UnreadableObject:
    try:
        return scheme.decode_as(kind, document)
    except scheme.DecodeError as error:
        meta = _identity(document)
        return UnreadableObject(meta.namespace, meta.name, str(error), meta.uid)


def _identity(document: bytes | Document) -> _Identity:
    """Which object a document is, even if the rest of it makes no sense."""
    try:
        if isinstance(document, bytes):
            return _HEADS.decode(document).metadata
        return msgspec.convert(document, _Head).metadata
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOBODY
