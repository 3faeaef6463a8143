"""The records of the store: drafts, stored records, change events and log rows.

The store does not parse documents. It gets a document as two halves, `head` and `tail`, and writes
the revision between them, because the revision is known only once the row is appended:

    {"apiVersion":"v1","kind":"ConfigMap","metadata":{ "resourceVersion":"17", "name":"x"},"data":{}}
    '---------------------- head --------------------'                        '-------- tail -------'

The resulting bytes are built once and shared: the current state, the ring of events, every reader
and every watcher hold the same object.
"""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec


class ChangeType(StrEnum):
    """What happened to an object, with the names of watch events."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A requested change.

    ``previous`` is the revision that the change is based on; 0 for an object that does not exist.
    The log accepts one successor of each revision. The document of a deletion is the last state.
    ``keeps_links`` is set when the change leaves labels, owners and finalizers unchanged, as most
    changes do.
    """

    resource: str
    key: str
    previous: int
    change: ChangeType
    head: bytes
    tail: bytes
    keeps_links: bool = False


class Record(msgspec.Struct, frozen=True, gc=False):
    """One version of one object, as it is served."""

    key: str
    revision: int
    data: bytes


class ChangeEvent(msgspec.Struct, gc=False):
    """One committed change. ``previous`` is the record before it.

    ``line`` is the change as a line of a watch stream, built on first use. It is about as long as
    the record. ``keeps_links`` is that of the draft, and False for a change read from disk. If it is
    set, a listener that follows only labels and owners need not decode the records.
    """

    change: ChangeType
    record: Record
    previous: Record | None
    line: bytes = b""
    keeps_links: bool = False

    def size(self) -> int:
        """An upper limit of its bytes in memory, including a line that is built later."""
        before = 0 if self.previous is None else len(self.previous.data)
        return before + 2 * len(self.record.data)


class LogRow(NamedTuple):
    """One change to be written to disk. ``at`` is in milliseconds since 1970."""

    revision: int
    resource: str
    key: str
    previous: int
    change: ChangeType
    at: int
    document: bytes


class HistoryChunk(NamedTuple):
    """Some changes of a resource, complete up to the revision ``until``."""

    events: list[ChangeEvent]
    until: int


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return round(moment.timestamp() * 1000)
