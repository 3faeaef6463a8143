"""What the store keeps and tells.

The store does not read documents. It gets one as two halves, `head` and `tail`, and writes its
revision between them, because the revision is known only once the log has taken the row:

    {"apiVersion":"v1","kind":"ConfigMap","metadata":{ "resourceVersion":"17", "name":"x"},"data":{}}
    '---------------------- head --------------------'                        '-------- tail -------'

The bytes that come of it are made once and shared: the present state, the ring of events, every
reader and every watcher hold the same object.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec


class ChangeType(StrEnum):
    """What happened to an object, in the words of a watch."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A change that somebody wants to make.

    ``previous`` is the revision that the change was made from, 0 for an object that is not there:
    the log takes one successor of each revision and no second one. A deletion carries the last
    state as its document. ``keeps_ties`` is known of a change that leaves labels, owners and
    finalizers as they are, as most do.
    """

    resource: str
    key: str
    previous: int
    change: ChangeType
    head: bytes
    tail: bytes
    keeps_ties: bool = False


class Record(msgspec.Struct, frozen=True, gc=False):
    """One version of one object, as it is served."""

    key: str
    revision: int
    data: bytes


class ChangeEvent(msgspec.Struct, gc=False):
    """One committed change. ``previous`` is what was there before.

    ``line`` is the change as a watch writes it, made by whoever needs it first. It is about as
    long as the record. ``keeps_ties`` is that of the draft, and not known of a change from disk: who
    asks for labels and owners alone need not read both records then.
    """

    change: ChangeType
    record: Record
    previous: Record | None
    line: bytes = b""
    keeps_ties: bool = False

    def size(self) -> int:
        """How many bytes it keeps in memory at most, with the line that somebody may yet make."""
        before = 0 if self.previous is None else len(self.previous.data)
        return before + 2 * len(self.record.data)


class LogRow(NamedTuple):
    """One change on its way to the disk. ``at`` is in milliseconds since 1970."""

    revision: int
    resource: str
    key: str
    previous: int
    change: ChangeType
    at: int
    document: bytes


class HistoryChunk(NamedTuple):
    """Some changes of a resource, with none missing up to the revision ``until``."""

    events: list[ChangeEvent]
    until: int
