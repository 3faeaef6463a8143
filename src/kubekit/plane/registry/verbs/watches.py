"""Watches: a cursor into the store's events, advanced by its reader.

A watch holds no recent events. Its events are built when they are taken: first the objects that
existed when it started, if requested, then history from disk, one chunk after the other, then the
events of the ring. A reader that is too slow for the ring gets an error event, and the watch ends.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs import resource_versions, watch_events
from kubekit.plane.registry.verbs.selection import Selection
from kubekit.plane.registry.verbs.watch_events import EncodedWatchEvent, WatchEventType
from kubekit.plane.store.records import ChangeEvent, Record
from kubekit.plane.store.store import Compacted, Store, Subscription, UnreadableStore, WritesStopped

_SLICE: Final = 2000  # events that are checked before other tasks run
_BYTES: Final = 256 * 1024  # of lines that are not shared with other watchers

__all__ = ["EncodedWatchEvent", "Watch", "WatchEventType", "WatchStart"]


@dataclass(frozen=True, slots=True)
class WatchStart:
    """The start of a watch: its initial events, and the revision ``since`` after which it continues.

    ``present`` are the existing selected objects, ``past`` is a first chunk of changes up to
    ``since``, read from disk; more may follow on disk. ``marked`` asks for a bookmark after the
    objects.
    """

    since: int
    present: list[Record] = field(default_factory=list)
    past: list[ChangeEvent] | None = None
    marked: bool = False


class Watch:
    """Changes of one collection. It has no queue: events are built when they are taken.

    The consumer sets ``ready``, which is called in the loop when there may be events. Call `take`
    until the result is empty, then wait for ``ready``. ``on_close`` is called on close.
    """

    __slots__ = (
        "_bookmark_due",
        "_bookmarked",
        "_bookmarks",
        "_finishing",
        "_first",
        "_position",
        "_reading",
        "_selection",
        "_store",
        "_subscription",
        "ended",
        "on_close",
        "ready",
    )

    def __init__(
        self, store: Store, selection: Selection, start: WatchStart, *, bookmarks: bool
    ) -> None:
        self.ready: Callable[[], None] = _not_ready
        self.ended = False
        self.on_close: Callable[[Watch], None] = _not_closed
        self._store = store
        self._selection = selection
        self._bookmarks = bookmarks
        self._bookmark_due = False
        self._finishing = False
        self._bookmarked = 0  # the revision of the last bookmark
        self._first = _first(selection, start)
        self._position = start.since  # all events up to it were taken or are in `_first`
        self._reading: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        if start.past is None:
            self._subscription = self._subscribe()
        else:
            self._join()

    @property
    def kind(self) -> Kind:
        """The kind of the watched objects."""
        return self._selection.kind

    def take(self, limit: int = 500) -> list[EncodedWatchEvent]:
        """The next events, at most ``limit`` and a bookmark. Empty means: wait for ``ready``."""
        if self.ended:
            return []
        events = self._take_first(limit)
        try:
            self._draw(events, limit)
        except Compacted:
            self.close()
            events.append(
                watch_events.of_error(
                    resource_versions.too_old(self._position, self._store.compacted)
                )
            )
        return events

    def bookmark(self) -> None:
        """Send a bookmark after the current events, if the watch asked for bookmarks."""
        if self._bookmarks and not self.ended and self._store.revision > self._bookmarked:
            self._bookmark_due = True
            self._wake()

    def close(self) -> None:
        """No more events. Closing twice is fine."""
        self.ended = True
        if self._subscription is not None:
            self._subscription.close()
        if self._reading is not None:
            self._reading.cancel()
        self.on_close(self)

    def finish(self) -> None:
        """Send the remaining events and, if requested, a bookmark; then end."""
        self._bookmark_due = self._bookmarks
        self._finishing = True
        self._wake()

    def end(self) -> None:
        """Close the watch without further events, and wake the consumer."""
        self.close()
        self._wake()

    def _wake(self) -> None:
        self.ready()

    def _subscribe(self) -> Subscription:
        selection = self._selection
        scope = selection.key or selection.prefix or selection.label_pair
        return self._store.subscribe(selection.kind.storage, self._position, self._wake, scope)

    def _join(self) -> None:
        """Continue from the ring, if it has all events after the position."""
        with suppress(Compacted):
            self._subscription = self._subscribe()

    async def _read_chunk(self) -> None:
        """Read the next chunk of history."""
        try:
            chunk = await self._store.history_chunk(self._selection.kind.storage, self._position)
        except Compacted:
            self._first = iter(
                [
                    watch_events.of_error(
                        resource_versions.too_old(self._position, self._store.compacted)
                    )
                ]
            )
            self._finishing = True
        except (UnreadableStore, WritesStopped):
            self._finishing = True  # the store is closed or cannot be read any more
        else:
            self._first = watch_events.of_events(self._selection, chunk.events)
            self._position = chunk.until
            self._join()
        self._reading = None
        self._wake()

    def _take_first(self, limit: int) -> list[EncodedWatchEvent]:
        """The next initial or historical events, limited in number and in bytes."""
        events: list[EncodedWatchEvent] = []
        size = 0
        for event in islice(self._first, limit):
            events.append(event)
            size += len(event.data)
            if size >= _BYTES:
                break
        return events

    def _draw(self, events: list[EncodedWatchEvent], limit: int) -> None:
        """Add events of the ring, or start to read a chunk, unless there are enough events already."""
        if len(events) < limit and sum(len(event.data) for event in events) < _BYTES:
            if self._subscription is not None:
                self._draw_from(self._subscription, events, limit)
            elif self._finishing:
                self.close()
            elif self._reading is None:
                self._reading = asyncio.get_running_loop().create_task(self._read_chunk())

    def _draw_from(
        self, subscription: Subscription, events: list[EncodedWatchEvent], limit: int
    ) -> None:
        """Add events of the ring, up to the limit or to the end of the ring.

        A watch that selects few of many events continues later, so that other tasks run.
        """
        seen = 0
        while (wanted := limit - len(events)) > 0:
            if seen >= _SLICE:
                asyncio.get_running_loop().call_soon(self._wake)
                return
            changes = subscription.take(wanted)
            seen += len(changes)
            events += watch_events.of_events(self._selection, changes)
            if changes:
                self._position = changes[-1].record.revision
            if len(changes) < wanted:
                self._add_bookmark(events)
                if self._finishing:
                    self.close()
                return

    def _add_bookmark(self, events: list[EncodedWatchEvent]) -> None:
        if self._bookmark_due:
            self._bookmark_due = False
            self._bookmarked = self._store.revision
            events.append(watch_events.bookmark(self._selection.kind, self._bookmarked))


def _first(selection: Selection, start: WatchStart) -> Iterator[EncodedWatchEvent]:
    for record in start.present:
        yield watch_events.of_record(selection.kind, record)
    if start.marked:
        yield watch_events.bookmark(selection.kind, start.since, ends_initial=True)
    yield from watch_events.of_events(selection, start.past or ())


def _not_ready() -> None:
    """The default of `Watch.ready`."""


def _not_closed(_watch: Watch) -> None:
    """The default of `Watch.on_close`."""
