"""The latest changes of one resource, shared by all who watch it.

A subscription is a position in the ring and holds no events of its own: ten thousand slow readers
cost no more than one. A reader that the ring has overtaken is told so when it comes back.
"""

from bisect import bisect_right
from collections.abc import Callable
from itertools import islice

from compute.plane.store.failures import Forgotten
from compute.plane.store.records import Event


class Ring:
    """Every change of the resource after the revision ``floor``, in order."""

    __slots__ = ("_bytes", "_events", "_idle", "_limit_bytes", "_limit_events", "_start", "floor")

    def __init__(self, floor: int, limit_events: int, limit_bytes: int) -> None:
        self.floor = floor
        self._limit_events = limit_events
        self._limit_bytes = limit_bytes
        self._events: list[Event] = []
        self._start = 0  # how many events were dropped so far: positions count from the first ever
        self._bytes = 0
        # A dict, not a set: readers are woken in the order in which they came to rest.
        self._idle: dict[Subscription, None] = {}

    def append(self, event: Event) -> None:
        self._events.append(event)
        self._bytes += len(event.record.data)
        if self._bytes > self._limit_bytes or len(self._events) > self._limit_events:
            self._drop(self._surplus())

    def since(self, revision: int) -> list[Event]:
        """The changes after that revision."""
        return self._events[self._index(revision) :]

    def forget(self, revision: int) -> None:
        """Drop the changes up to and including that revision."""
        if revision > self.floor:
            self._drop(self._index(revision))

    def subscribe(self, since: int, ready: Callable[[], None]) -> "Subscription":
        subscription = Subscription(self, self._start + self._index(since), ready)
        self._idle[subscription] = None
        return subscription

    def wake(self) -> None:
        """Call each reader that waits, once: it is called again after it has caught up."""
        woken, self._idle = self._idle, {}
        for subscription in woken:
            subscription.wake()

    def read(self, subscription: "Subscription", limit: int) -> list[Event]:
        begin = subscription.position - self._start
        if begin < 0:
            raise Forgotten(f"the reader fell behind revision {self.floor}: list again")
        events = self._events[begin : begin + limit]
        if begin + len(events) == len(self._events):
            self._idle[subscription] = None
        return events

    def leave(self, subscription: "Subscription") -> None:
        self._idle.pop(subscription, None)

    def _index(self, revision: int) -> int:
        if revision < self.floor:
            raise Forgotten(f"changes up to revision {self.floor} are no longer in memory")
        if not self._events or self._events[-1].record.revision <= revision:
            return len(self._events)
        return bisect_right(self._events, revision, key=_revision)

    def _surplus(self) -> int:
        """How many of the oldest have to go. An eighth more than needed, so that it is rare."""
        count = max(0, len(self._events) - self._limit_events * 7 // 8)
        size = self._bytes - sum(len(e.record.data) for e in islice(self._events, count))
        while size > self._limit_bytes * 7 // 8:
            size -= len(self._events[count].record.data)
            count += 1
        return count

    def _drop(self, count: int) -> None:
        if not count:
            return
        dropped = self._events[:count]
        del self._events[:count]
        self._start += count
        self._bytes -= sum(len(event.record.data) for event in dropped)
        self.floor = dropped[-1].record.revision


class Subscription:
    """A reader's place in a ring. Take until nothing comes, then wait for ``ready``."""

    __slots__ = ("_closed", "_ready", "_ring", "position")

    def __init__(self, ring: Ring, position: int, ready: Callable[[], None]) -> None:
        self.position = position
        self._ring = ring
        self._ready = ready
        self._closed = False

    def take(self, limit: int) -> list[Event]:
        """The next changes, at most ``limit``. Raises `Forgotten` once they have been dropped."""
        events = self._ring.read(self, limit)
        self.position += len(events)
        return events

    def wake(self) -> None:
        if not self._closed:
            self._ready()

    def close(self) -> None:
        self._closed = True
        self._ring.leave(self)


def _revision(event: Event) -> int:
    return event.record.revision
