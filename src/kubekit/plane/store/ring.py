"""The latest changes of one resource, shared by all who watch it.

A subscription is a position in the ring and holds no events of its own: ten thousand slow readers
cost no more than one. A reader that the ring has overtaken is told so when it comes back.

What everybody has read is kept for a moment longer, for lists in pages and for readers that come
back. It is on disk anyway, so after that it goes.
"""

import asyncio
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from kubekit.plane.store.errors import Compacted
from kubekit.plane.store.records import ChangeEvent

_MOMENT = 2.0  # seconds
_APART = 0.5  # seconds between two times that are remembered
_COLON = '":"'


class Ring:
    """Every change of the resource after the revision ``floor``, in order."""

    __slots__ = ("_bytes", "_events", "_idle", "_limit_bytes", "_limit_events", "_reading", "_start",
                 "_times", "_told", "_topics", "_touched", "floor")  # fmt: skip

    def __init__(self, floor: int, limit_events: int, limit_bytes: int) -> None:
        self.floor = floor
        self._limit_events = limit_events
        self._limit_bytes = limit_bytes
        self._events: list[ChangeEvent] = []
        self._start = 0  # how many events were dropped so far: positions count from the first ever
        self._bytes = 0
        self._told = 0  # the position up to which readers have been woken
        self._touched: dict[str, None] = {}  # the places of the events after it
        # By place. Dicts, not sets: readers are woken in the order in which they came to rest.
        self._idle: dict[str, dict[Subscription, None]] = {}
        self._reading: dict[Subscription, None] = {}  # all others
        self._topics: Counter[bytes] = Counter()  # the names of marks, and how many read by each
        self._times: deque[tuple[float, int]] = deque()  # when the ring ended at which position

    def append(self, event: ChangeEvent) -> None:
        self._events.append(event)
        self._bytes += event.size()
        self._touched.update(dict.fromkeys(_places(event.record.key)))
        for topic in self._topics:
            self._touched.update(dict.fromkeys(_marks(topic, event)))
        if self._bytes > self._limit_bytes or len(self._events) > self._limit_events:
            self._drop(self._surplus())

    def since(self, revision: int) -> list[ChangeEvent]:
        """The changes after that revision."""
        return self._events[self._index(revision) :]

    def forget(self, revision: int) -> None:
        """Drop the changes up to and including that revision."""
        if revision > self.floor:
            self._drop(self._index(revision))

    def subscribe(self, since: int, ready: Callable[[], None], place: str = "") -> "Subscription":
        """``place`` is a whole key, a namespace with its slash, or nothing for everywhere.

        Or it is a mark, ``"name":"value"``: then what counts are changes of documents that have
        it anywhere, or had it. Many who each read by another value are not all woken for each.
        """
        subscription = Subscription(self, self._start + self._index(since), place, ready)
        self._reading[subscription] = None
        if topic := _topic(place):
            self._topics[topic] += 1
        if subscription.position == self._end:
            self._rest(subscription)
        return subscription

    def wake(self, now: float) -> None:
        """Call each reader that waits for what has come, once: again after it has caught up.

        Who rests at a place where nothing happened has missed nothing and is left alone. ``now`` is
        in seconds, of a clock that never goes back.
        """
        begin, self._told = self._told, self._end
        touched, self._touched = self._touched, {}
        for place in touched:
            for subscription in self._idle.pop(place, ()):
                if subscription.closed:  # by one that was woken before it
                    continue
                self._reading[subscription] = None
                undisturbed(partial(subscription.wake, begin))
        self._outlive(now)

    def read(self, subscription: "Subscription", limit: int) -> list[ChangeEvent]:
        if subscription.resting:
            return []
        begin = subscription.position - self._start
        if begin < 0:
            raise Compacted(f"the reader fell behind revision {self.floor}: list again")
        events = self._events[begin : begin + limit]
        if begin + len(events) == len(self._events):
            self._rest(subscription)
        return events

    def leave(self, subscription: "Subscription") -> None:
        self._forget_topic(_topic(subscription.place))
        self._reading.pop(subscription, None)
        waiting = self._idle.get(subscription.place)
        if waiting is not None:
            waiting.pop(subscription, None)
            if not waiting:
                del self._idle[subscription.place]

    def _forget_topic(self, topic: bytes) -> None:
        if topic:
            self._topics[topic] -= 1
            if not self._topics[topic]:
                del self._topics[topic]

    @property
    def _end(self) -> int:
        return self._start + len(self._events)

    def _rest(self, subscription: "Subscription") -> None:
        subscription.resting = True
        self._reading.pop(subscription, None)
        self._idle.setdefault(subscription.place, {})[subscription] = None

    def _index(self, revision: int) -> int:
        if revision < self.floor:
            raise Compacted(f"changes up to revision {self.floor} are no longer in memory")
        if not self._events or self._events[-1].record.revision <= revision:
            return len(self._events)
        return bisect_right(self._events, revision, key=_revision)

    def _outlive(self, now: float) -> None:
        """Drop what is old and read by all."""
        if not self._times or now - self._times[-1][0] >= _APART:
            self._times.append((now, self._end))
        old = 0
        while self._times[0][0] <= now - _MOMENT:
            old = self._times.popleft()[1]
        if old > self._start:
            read = min((one.position for one in self._reading), default=old)
            self._drop(max(min(old, read) - self._start, 0))

    def _surplus(self) -> int:
        """How many of the oldest have to go. An eighth more than needed, so that it is rare."""
        count = max(0, len(self._events) - self._limit_events * 7 // 8)
        size = self._bytes - sum(event.size() for event in islice(self._events, count))
        while size > self._limit_bytes * 7 // 8:
            size -= self._events[count].size()
            count += 1
        return count

    def _drop(self, count: int) -> None:
        if not count:
            return
        dropped = self._events[:count]
        del self._events[:count]
        self._start += count
        self._bytes -= sum(event.size() for event in dropped)
        self.floor = dropped[-1].record.revision


class Subscription:
    """A reader's place in a ring. Take until nothing comes, then wait for ``ready``."""

    __slots__ = ("_ready", "_ring", "closed", "place", "position", "resting")

    def __init__(self, ring: Ring, position: int, place: str, ready: Callable[[], None]) -> None:
        self.position = position
        self.place = place
        self.resting = False
        self._ring = ring
        self._ready = ready
        self.closed = False

    def take(self, limit: int) -> list[ChangeEvent]:
        """The next changes, at most ``limit``. Raises `Forgotten` once they have been dropped."""
        events = self._ring.read(self, limit)
        self.position += len(events)
        return events

    def wake(self, position: int) -> None:
        """Something happened where this reader rests, at this position or later."""
        self.resting = False
        self.position = max(self.position, position)
        if not self.closed:
            self._ready()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._ring.leave(self)


def undisturbed(call: Callable[..., None], *args: object) -> None:
    """Call somebody. What goes wrong there is the loop's to report: others are yet to be called."""
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - it is reported
        told = {"message": f"{call!r} failed to hear of a change", "exception": error}
        asyncio.get_running_loop().call_exception_handler(told)


def _revision(event: ChangeEvent) -> int:
    return event.record.revision


def _topic(place: str) -> bytes:
    """The beginning of a mark, up to its value; nothing where the place is none."""
    return place[: place.index(_COLON) + len(_COLON)].encode() if place.startswith('"') else b""


def _marks(topic: bytes, event: ChangeEvent) -> Iterator[str]:
    """The marks with this beginning in the document of a change, and in the one before it."""
    for record in (event.record, event.previous):
        begin = -1 if record is None else record.data.find(topic)
        while record is not None and begin >= 0:
            end = record.data.find(b'"', begin + len(topic))
            yield record.data[begin : end + 1].decode()
            begin = record.data.find(topic, end)


def _places(key: str) -> tuple[str, ...]:
    """Where a change of that key is of interest."""
    namespace, slash, _ = key.partition("/")
    return ("", namespace + slash, key) if slash else ("", key)
