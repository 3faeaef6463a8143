"""Documents and the bytes they are kept as. Every byte that is stored or served is made here.

The store puts the revision between the two halves of a document (`store.records`), so a
document's `tail` begins inside its metadata and never names a version itself.
"""

from typing import Any, Final

import msgspec

from compute.client.transport import Document
from compute.plane.registry.kinds import Kind
from compute.plane.store.records import Record

Metadata = dict[str, Any]

_IN_HEAD: Final = frozenset({"apiVersion", "kind", "metadata"})
_OPENING: Final = len(b'{"metadata":{')
_VERSION: Final = b'"resourceVersion":"'

encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder().decode
_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def tail_of(document: Document) -> bytes:
    """The document from the inside of its metadata on, without its version."""
    metadata = document["metadata"]
    if "resourceVersion" in metadata:
        metadata = {name: value for name, value in metadata.items() if name != "resourceVersion"}
    body = {name: value for name, value in document.items() if name not in _IN_HEAD}
    return encode({"metadata": metadata, **body})[_OPENING:]


def document_of(kind: Kind, record: Record) -> Document:
    """The record as a document of this kind; the caller's own, to change as he likes."""
    document: Document = decode(record.data)
    return document if kind.conversion is None else kind.conversion.from_storage(document)


def view_of(kind: Kind, record: Record) -> Record:
    """The record as this kind shows it: the stored bytes, unless the kind is another view."""
    if kind.conversion is None:
        return record
    return record_of(kind, record.key, record.revision, document_of(kind, record))


def record_of(kind: Kind, key: str, revision: int, document: Document) -> Record:
    """The document as a record that is not stored. Revision 0 means that it has none."""
    version = _VERSION + b'%d",' % revision if revision else b""
    return Record(key, revision, kind.head + version + tail_of(document))


def at_revision(data: bytes, revision: int) -> bytes:
    """The same object, said to be of another revision. The first version named is its own."""
    start = data.index(_VERSION) + len(_VERSION)
    return b"%b%d%b" % (data[:start], revision, data[data.index(b'"', start) :])


def same(one: object, other: object) -> bool:
    """Whether two values are the same in JSON, where true is not 1 and 1 is not 1.0."""
    return one is other or (one == other and _sorted(one) == _sorted(other))
