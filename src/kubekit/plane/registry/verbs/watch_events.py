"""Watch events as the lines of a stream.

An event that is the same for all watchers is encoded once: the change caches the line, and all
watchers share its bytes.
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
_TYPES: Final[dict[ChangeType, WatchEventType]] = {
    ChangeType.ADDED: "ADDED",
    ChangeType.MODIFIED: "MODIFIED",
    ChangeType.DELETED: "DELETED",
}
# Whether the object was selected before, whether it is selected now.
_SEEN: Final[dict[tuple[bool, bool], ChangeType | None]] = {
    (False, False): None,
    (False, True): ChangeType.ADDED,
    (True, True): ChangeType.MODIFIED,
    (True, False): ChangeType.DELETED,
}


class EncodedWatchEvent(msgspec.Struct, frozen=True, gc=False):
    """One event of a watch. ``event`` is the change, if all watchers get the same line."""

    type: WatchEventType
    data: bytes
    event: ChangeEvent | None = None

    @property
    def line(self) -> bytes:
        """``{"type":..,"object":..}`` and a newline. Only a stream writer needs it."""
        event = self.event
        if event is None:
            return _line(self.type, self.data)
        if not event.line:
            event.line = _line(self.type, self.data)
        return event.line


def of_events(selection: Selection, events: Iterable[ChangeEvent]) -> Iterator[EncodedWatchEvent]:
    """The events that a watcher of the selection gets for these changes."""
    for event in events:
        if (encoded := _of_event(selection, event)) is not None:
            yield encoded


def of_record(kind: Kind, record: Record) -> EncodedWatchEvent:
    """The event of an object that existed when the watch started."""
    return EncodedWatchEvent("ADDED", view_of(kind, record).data)


def bookmark(kind: Kind, revision: int, *, ends_initial: bool = False) -> EncodedWatchEvent:
    """A bookmark: all events up to this revision were sent."""
    end = _END if ends_initial else b""
    return EncodedWatchEvent(
        "BOOKMARK", b'%b"resourceVersion":"%d"%b}}' % (kind.head, revision, end)
    )


def of_error(error: ApiError) -> EncodedWatchEvent:
    """The event of an error that ends the stream."""
    return EncodedWatchEvent("ERROR", scheme.encode(error.to_status()))


def _of_event(selection: Selection, event: ChangeEvent) -> EncodedWatchEvent | None:
    """The event that a watcher of the selection gets for a change, if any.

    An object that becomes selected is ADDED, one that is no longer selected is DELETED.
    """
    if not selection.covers(event.record.key):
        return None
    if not selection.filtered:
        return _shared(selection.kind, event)
    before = event.previous if event.change is not ChangeType.ADDED else None
    was_selected = before is not None and selection.matches(before)
    if event.keeps_links and not selection.fields.requirements:
        is_selected = was_selected
    else:
        is_selected = event.change is not ChangeType.DELETED and selection.matches(event.record)
    change = _SEEN[was_selected, is_selected]
    if change is None or change is event.change:
        return None if change is None else _shared(selection.kind, event)
    if before is None or change is not ChangeType.DELETED:
        return EncodedWatchEvent(_TYPES[change], view_of(selection.kind, event.record).data)
    left = Record(
        before.key, event.record.revision, at_revision(before.data, event.record.revision)
    )
    return EncodedWatchEvent("DELETED", view_of(selection.kind, left).data)


def _shared(kind: Kind, event: ChangeEvent) -> EncodedWatchEvent:
    data = view_of(kind, event.record).data
    return EncodedWatchEvent(
        _TYPES[event.change], data, event if data is event.record.data else None
    )


def _line(type_: WatchEventType, data: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type_.encode(), data)
