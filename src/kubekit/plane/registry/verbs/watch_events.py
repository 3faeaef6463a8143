"""What watchers are told, as the lines of a stream.

An event that everybody sees alike is written once: its line is kept with it, and all watchers
share the bytes.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from kubekit.api import scheme
from kubekit.api.errors import ApiError
from kubekit.plane.registry.encoding import at_revision, view_of
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs.selection import Selection
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record

WatchEventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]

_END: Final = b',"annotations":{"k8s.io/initial-events-end":"true"}'
_WORDS: Final[dict[ChangeType, WatchEventType]] = {
    ChangeType.ADDED: "ADDED",
    ChangeType.MODIFIED: "MODIFIED",
    ChangeType.DELETED: "DELETED",
}
# Whether the object was meant before, whether it is meant now.
_SEEN: Final[dict[tuple[bool, bool], ChangeType | None]] = {
    (False, False): None,
    (False, True): ChangeType.ADDED,
    (True, True): ChangeType.MODIFIED,
    (True, False): ChangeType.DELETED,
}


class EncodedWatchEvent(msgspec.Struct, frozen=True, gc=False):
    """One thing to tell a watcher. ``event`` is the change that it shows as everybody sees it."""

    type: WatchEventType
    data: bytes
    event: ChangeEvent | None = None

    @property
    def line(self) -> bytes:
        """``{"type":..,"object":..}`` and a newline. Only who writes a stream needs it."""
        event = self.event
        if event is None:
            return _line(self.type, self.data)
        if not event.line:
            event.line = _line(self.type, self.data)
        return event.line


def of_events(chosen: Selection, events: Iterable[ChangeEvent]) -> Iterator[EncodedWatchEvent]:
    """What a watcher of the selection sees of these changes."""
    for event in events:
        if (notice := _of_event(chosen, event)) is not None:
            yield notice


def of_record(kind: Kind, record: Record) -> EncodedWatchEvent:
    """An object that was there already when the watch began."""
    return EncodedWatchEvent("ADDED", view_of(kind, record).data)


def bookmark(kind: Kind, revision: int, *, ends_beginning: bool = False) -> EncodedWatchEvent:
    """How far the watcher has been told everything, by an object that has only a version."""
    end = _END if ends_beginning else b""
    return EncodedWatchEvent(
        "BOOKMARK", b'%b"resourceVersion":"%d"%b}}' % (kind.head, revision, end)
    )


def of_error(error: ApiError) -> EncodedWatchEvent:
    """Why the stream ends."""
    return EncodedWatchEvent("ERROR", scheme.encode(error.to_status()))


def _of_event(chosen: Selection, event: ChangeEvent) -> EncodedWatchEvent | None:
    """What a watcher of the selection sees of a change; None when it is not about what he watches.

    An object that comes to be meant appears to him, and one that ceases to be meant disappears.
    """
    if not chosen.covers(event.record.key):
        return None
    if not chosen.filtered:
        return _told(chosen.kind, event)
    before = event.previous if event.change is not ChangeType.ADDED else None
    was_meant = before is not None and chosen.matches(before)
    if event.keeps_ties and not chosen.fields.requirements:
        is_meant = was_meant
    else:
        is_meant = event.change is not ChangeType.DELETED and chosen.matches(event.record)
    seen = _SEEN[was_meant, is_meant]
    if seen is None or seen is event.change:
        return None if seen is None else _told(chosen.kind, event)
    if before is None or seen is not ChangeType.DELETED:
        return EncodedWatchEvent(_WORDS[seen], view_of(chosen.kind, event.record).data)
    left = Record(
        before.key, event.record.revision, at_revision(before.data, event.record.revision)
    )
    return EncodedWatchEvent("DELETED", view_of(chosen.kind, left).data)


def _told(kind: Kind, event: ChangeEvent) -> EncodedWatchEvent:
    data = view_of(kind, event.record).data
    return EncodedWatchEvent(
        _WORDS[event.change], data, event if data is event.record.data else None
    )


def _line(word: WatchEventType, data: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (word.encode(), data)
