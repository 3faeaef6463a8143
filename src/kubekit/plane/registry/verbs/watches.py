"""Watches: a cursor into the store's events, drawn on by whoever reads.

A watch holds no events of the present. What it has to tell is made when it is taken: first the
objects that were there when it began, if they were asked for, then the past that had to be read
from disk, a stretch at a time and each only when the one before is told, then the events of the
ring. A reader that comes too late for the ring is told so by an error in the stream, and the watch
is over.
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

_STRETCH: Final = 2000  # events looked at before others get their turn
_BYTES: Final = 256 * 1024  # of lines that are not shared with other watchers

__all__ = ["EncodedWatchEvent", "Watch", "WatchEventType", "WatchStart"]


@dataclass(frozen=True, slots=True)
class WatchStart:
    """Where a watch begins: after ``since``, and what it tells before what follows from there.

    ``present`` are objects that are there and meant, ``past`` is a first stretch of changes up to ``since``,
    read from disk; more may follow it there. ``marked`` asks for a bookmark where the objects end.
    """

    since: int
    present: list[Record] = field(default_factory=list)
    past: list[ChangeEvent] | None = None
    marked: bool = False


class Watch:
    """Changes of one collection. It has no queue: nothing is made before it is taken.

    ``ready`` is the consumer's to set; it is called in the loop when there may be something. Take
    until nothing comes, then wait for it. ``left`` is for whoever counts the open watches.
    """

    __slots__ = (
        "_bookmark_due",
        "_bookmarked",
        "_bookmarks",
        "_chosen",
        "_finishing",
        "_first",
        "_reading",
        "_store",
        "_subscription",
        "_told",
        "ended",
        "left",
        "ready",
    )

    def __init__(
        self, store: Store, chosen: Selection, beginning: WatchStart, *, bookmarks: bool
    ) -> None:
        self.ready: Callable[[], None] = _nobody
        self.ended = False
        self.left: Callable[[Watch], None] = _nobody_told
        self._store = store
        self._chosen = chosen
        self._bookmarks = bookmarks
        self._bookmark_due = False
        self._finishing = False
        self._bookmarked = 0  # the revision of the last bookmark
        self._first = _first(chosen, beginning)
        self._told = beginning.since  # everything up to there is told, or in ``_first``
        self._reading: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        if beginning.past is None:
            self._subscription = self._subscribe()
        else:
            self._join()

    @property
    def kind(self) -> Kind:
        """What is watched."""
        return self._chosen.kind

    def take(self, limit: int = 500) -> list[EncodedWatchEvent]:
        """What there is to tell, at most ``limit`` and a bookmark. Nothing means: wait."""
        if self.ended:
            return []
        found = self._take_first(limit)
        try:
            self._draw(found, limit)
        except Compacted:
            self.close()
            found.append(
                watch_events.of_error(resource_versions.too_old(self._told, self._store.compacted))
            )
        return found

    def bookmark(self) -> None:
        """Tell a watcher that wants to know how far he has got, once he has got there."""
        if self._bookmarks and not self.ended and self._store.revision > self._bookmarked:
            self._bookmark_due = True
            self._wake()

    def close(self) -> None:
        """Nothing more is told. Closing twice is fine."""
        self.ended = True
        if self._subscription is not None:
            self._subscription.close()
        if self._reading is not None:
            self._reading.cancel()
        self.left(self)

    def finish(self) -> None:
        """Its time is up: it tells what there is, a bookmark if such are wanted, and ends."""
        self._bookmark_due = self._bookmarks
        self._finishing = True
        self._wake()

    def end(self) -> None:
        """Close it from the plane's side, and let the consumer find that out."""
        self.close()
        self._wake()

    def _wake(self) -> None:
        self.ready()

    def _subscribe(self) -> Subscription:
        chosen = self._chosen
        place = chosen.key or chosen.prefix or chosen.mark
        return self._store.subscribe(chosen.kind.storage, self._told, self._wake, place)

    def _join(self) -> None:
        """Go on from the ring, if it reaches back that far."""
        with suppress(Compacted):
            self._subscription = self._subscribe()

    async def _read_on(self) -> None:
        """Read the next stretch of the past."""
        try:
            history_chunk = await self._store.history_chunk(self._chosen.kind.storage, self._told)
        except Compacted:
            self._first = iter(
                [
                    watch_events.of_error(
                        resource_versions.too_old(self._told, self._store.compacted)
                    )
                ]
            )
            self._finishing = True
        except (UnreadableStore, WritesStopped):
            self._finishing = True  # the store is closed or cannot be read any more
        else:
            self._first = watch_events.of_events(self._chosen, history_chunk.events)
            self._told = history_chunk.until
            self._join()
        self._reading = None
        self._wake()

    def _take_first(self, limit: int) -> list[EncodedWatchEvent]:
        """Of what comes first as much as is asked for, but no more bytes than a reader needs."""
        found: list[EncodedWatchEvent] = []
        size = 0
        for notice in islice(self._first, limit):
            found.append(notice)
            size += len(notice.data)
            if size >= _BYTES:
                break
        return found

    def _draw(self, found: list[EncodedWatchEvent], limit: int) -> None:
        """Add what follows, unless what comes first is enough for now."""
        if len(found) < limit and sum(len(notice.data) for notice in found) < _BYTES:
            if self._subscription is not None:
                self._draw_from(self._subscription, found, limit)
            elif self._finishing:
                self.close()
            elif self._reading is None:
                self._reading = asyncio.get_running_loop().create_task(self._read_on())

    def _draw_from(
        self, subscription: Subscription, found: list[EncodedWatchEvent], limit: int
    ) -> None:
        """Add what the ring has, until the limit, or until there is no more.

        One who looks for little among much comes back later for the rest, so that others get
        their turn.
        """
        seen = 0
        while (wanted := limit - len(found)) > 0:
            if seen >= _STRETCH:
                asyncio.get_running_loop().call_soon(self._wake)
                return
            events = subscription.take(wanted)
            seen += len(events)
            found += watch_events.of_events(self._chosen, events)
            if events:
                self._told = events[-1].record.revision
            if len(events) < wanted:
                self._add_bookmark(found)
                if self._finishing:
                    self.close()
                return

    def _add_bookmark(self, found: list[EncodedWatchEvent]) -> None:
        if self._bookmark_due:
            self._bookmark_due = False
            self._bookmarked = self._store.revision
            found.append(watch_events.bookmark(self._chosen.kind, self._bookmarked))


def _first(chosen: Selection, beginning: WatchStart) -> Iterator[EncodedWatchEvent]:
    for record in beginning.present:
        yield watch_events.of_record(chosen.kind, record)
    if beginning.marked:
        yield watch_events.bookmark(chosen.kind, beginning.since, ends_beginning=True)
    yield from watch_events.of_events(chosen, beginning.past or ())


def _nobody() -> None:
    """Nobody listens yet."""


def _nobody_told(_watch: Watch) -> None:
    """Nobody keeps count of this watch."""
