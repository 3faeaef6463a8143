"""Encodes and decodes documents. All stored and served bytes are built here.

The store puts the revision between the two halves of a document (`store.records`), so a
document's `tail` starts inside its metadata and never contains a version itself.
"""

from typing import Any, Final

import msgspec

from kubekit.client.transport import Document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.store.records import Record

Metadata = dict[str, Any]

_IN_HEAD: Final = ("apiVersion", "kind")
_OPENING: Final = len(b'{"metadata":{')
_METADATA: Final = b'"metadata":{'
_MOST_COMPLETIONS: Final = 50_000  # cached records per kind
_VERSION: Final = b'"resourceVersion":"'

encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder().decode
_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def tail_of(document: Document) -> bytes:
    """The encoded document after the brace that opens its metadata, without resourceVersion."""
    metadata = document["metadata"]
    if "resourceVersion" in metadata:
        metadata = {name: value for name, value in metadata.items() if name != "resourceVersion"}
    body: Document = {"metadata": None}  # metadata comes first
    body.update(document)
    body["metadata"] = metadata
    for name in _IN_HEAD:
        body.pop(name, None)
    return encode(body)[_OPENING:]


def document_of(kind: Kind, record: Record) -> Document:
    """The record as a new document of this kind, which the caller may change."""
    if record.revision < kind.since:
        record = _completed(kind, record)
    document: Document = decode(record.data)
    return document if kind.conversion is None else kind.conversion.from_storage(document)


def view_of(kind: Kind, record: Record) -> Record:
    """The record as this kind serves it: the stored bytes, unless the kind converts them."""
    conversion = kind.conversion
    if conversion is None:
        return record
    if record.revision < kind.since:
        return _completed(kind, record)
    if conversion.relabels:
        return _relabelled(kind, record)
    return record_of(kind, record.key, record.revision, document_of(kind, record))


def record_of(kind: Kind, key: str, revision: int, document: Document) -> Record:
    """The document as a record that is not stored. Revision 0 means no version."""
    version = _VERSION + b'%d",' % revision if revision else b""
    return Record(key, revision, kind.head + version + tail_of(document))


def _relabelled(kind: Kind, record: Record) -> Record:
    """The record with this kind's own head, which ends where the metadata starts."""
    data = record.data
    if data.startswith(kind.head):
        return record
    tail = data[data.index(_METADATA) + len(_METADATA) :]
    return Record(record.key, record.revision, kind.head + tail)


def _completed(kind: Kind, record: Record) -> Record:
    """A record that is older than the kind's definition, with the kind's current defaults."""
    cached = kind.completions.get(record.key)
    if cached is not None and cached.revision == record.revision:
        return cached
    served = _relabelled(kind, record)
    complete = kind.conformance.completed(decode(served.data))
    if complete is not None:
        served = record_of(kind, record.key, record.revision, complete)
    if len(kind.completions) >= _MOST_COMPLETIONS:
        kind.completions.clear()
    kind.completions[record.key] = served
    return served


def at_revision(data: bytes, revision: int) -> bytes:
    """The same object with another revision. The first version in the bytes is its own."""
    start = data.index(_VERSION) + len(_VERSION)
    return b"%b%d%b" % (data[:start], revision, data[data.index(b'"', start) :])


def same(one: object, other: object) -> bool:
    """Whether two values are the same in JSON, where true is not 1 and 1 is not 1.0."""
    return one is other or (one == other and _sorted(one) == _sorted(other))
