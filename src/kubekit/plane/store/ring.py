"""The latest changes of one resource, shared by all its watchers.

A subscription is a position in the ring and holds no events of its own: ten thousand slow readers
cost no more than one. A reader that the ring has overtaken gets `Compacted` on its next read.

Events that every reader has read are kept a moment longer, for paginated lists and for readers that
reconnect. They are on disk anyway, so they are dropped after that.
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
_APART = 0.5  # seconds between two recorded times
_COLON = '":"'


class Ring:
    """Every change of the resource after the revision ``floor``, in order."""

    __slots__ = ("_bytes", "_events", "_idle", "_limit_bytes", "_limit_events", "_reading", "_start",
                 "_times", "_topics", "_touched", "_woken_to", "floor")  # fmt: skip

    def __init__(self, floor: int, limit_events: int, limit_bytes: int) -> None:
        self.floor = floor
        self._limit_events = limit_events
        self._limit_bytes = limit_bytes
        self._events: list[ChangeEvent] = []
        self._start = 0  # how many events were dropped so far: positions count from the first one
        self._bytes = 0
        self._woken_to = 0  # the position up to which readers were woken
        self._touched: dict[str, None] = {}  # the scopes of the events after it
        # By scope. Dicts, not sets: readers are woken in the order in which they became idle.
        self._idle: dict[str, dict[Subscription, None]] = {}
        self._reading: dict[Subscription, None] = {}  # all others
        self._topics: Counter[bytes] = Counter()  # names of marks, and their number of readers
        self._times: deque[tuple[float, int]] = deque()  # when the ring ended at which position

    def append(self, event: ChangeEvent) -> None:
        self._events.append(event)
        self._bytes += event.size()
        self._touched.update(dict.fromkeys(_scopes(event.record.key)))
        for topic in self._topics:
            self._touched.update(dict.fromkeys(_marks(topic, event)))
        if self._bytes > self._limit_bytes or len(self._events) > self._limit_events:
            self._drop(self._surplus())

    def since(self, revision: int) -> list[ChangeEvent]:
        """The changes after that revision."""
        return self._events[self._index(revision) :]

    def compact(self, revision: int) -> None:
        """Drop the changes up to and including that revision."""
        if revision > self.floor:
            self._drop(self._index(revision))

    def subscribe(self, since: int, ready: Callable[[], None], scope: str = "") -> "Subscription":
        """``scope`` is a whole key, a namespace with its slash, or empty for the whole resource.

        It can also be a mark, ``"name":"value"``: it selects changes of documents that contain
        the mark anywhere, or did before. A change wakes only the readers of its own values.
        """
        subscription = Subscription(self, self._start + self._index(since), scope, ready)
        self._reading[subscription] = None
        if topic := _topic(scope):
            self._topics[topic] += 1
        if subscription.position == self._end:
            self._set_idle(subscription)
        return subscription

    def wake(self, now: float) -> None:
        """Call each idle reader with new events once; again only after it has caught up.

        A reader of a scope without events is not called. ``now`` is in seconds of a monotonic
        clock.
        """
        start, self._woken_to = self._woken_to, self._end
        touched, self._touched = self._touched, {}
        for scope in touched:
            for subscription in self._idle.pop(scope, ()):
                if subscription.closed:  # by a reader that was woken before it
                    continue
                self._reading[subscription] = None
                call_safely(partial(subscription.wake, start))
        self._expire(now)

    def read(self, subscription: "Subscription", limit: int) -> list[ChangeEvent]:
        if subscription.idle:
            return []
        start = subscription.position - self._start
        if start < 0:
            raise Compacted(f"the reader fell behind revision {self.floor}: list again")
        events = self._events[start : start + limit]
        if start + len(events) == len(self._events):
            self._set_idle(subscription)
        return events

    def unsubscribe(self, subscription: "Subscription") -> None:
        self._forget_topic(_topic(subscription.scope))
        self._reading.pop(subscription, None)
        waiting = self._idle.get(subscription.scope)
        if waiting is not None:
            waiting.pop(subscription, None)
            if not waiting:
                del self._idle[subscription.scope]

    def _forget_topic(self, topic: bytes) -> None:
        if topic:
            self._topics[topic] -= 1
            if not self._topics[topic]:
                del self._topics[topic]

    @property
    def _end(self) -> int:
        return self._start + len(self._events)

    def _set_idle(self, subscription: "Subscription") -> None:
        subscription.idle = True
        self._reading.pop(subscription, None)
        self._idle.setdefault(subscription.scope, {})[subscription] = None

    def _index(self, revision: int) -> int:
        if revision < self.floor:
            raise Compacted(f"changes up to revision {self.floor} are no longer in memory")
        if not self._events or self._events[-1].record.revision <= revision:
            return len(self._events)
        return bisect_right(self._events, revision, key=_revision)

    def _expire(self, now: float) -> None:
        """Drop events that are old and that every reader has read."""
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
    """The position of one reader in a ring.

    Take until the result is empty, then wait for ``ready``.
    """

    __slots__ = ("_ready", "_ring", "closed", "idle", "position", "scope")

    def __init__(self, ring: Ring, position: int, scope: str, ready: Callable[[], None]) -> None:
        self.position = position
        self.scope = scope
        self.idle = False
        self._ring = ring
        self._ready = ready
        self.closed = False

    def take(self, limit: int) -> list[ChangeEvent]:
        """The next changes, at most ``limit``. Raises `Forgotten` once they have been dropped."""
        events = self._ring.read(self, limit)
        self.position += len(events)
        return events

    def wake(self, position: int) -> None:
        """There are events in this reader's scope, at this position or later."""
        self.idle = False
        self.position = max(self.position, position)
        if not self.closed:
            self._ready()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._ring.unsubscribe(self)


def call_safely(call: Callable[..., None], *args: object) -> None:
    """Call a listener. The loop reports its exceptions, so that the other listeners are called."""
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - it is reported
        report = {"message": f"{call!r} failed on a change", "exception": error}
        asyncio.get_running_loop().call_exception_handler(report)


def _revision(event: ChangeEvent) -> int:
    return event.record.revision


def _topic(scope: str) -> bytes:
    """The start of a mark, up to its value; empty when the scope is not a mark."""
    return scope[: scope.index(_COLON) + len(_COLON)].encode() if scope.startswith('"') else b""


def _marks(topic: bytes, event: ChangeEvent) -> Iterator[str]:
    """The marks of this topic in the document of a change, and in the one before it."""
    for record in (event.record, event.previous):
        start = -1 if record is None else record.data.find(topic)
        while record is not None and start >= 0:
            end = record.data.find(b'"', start + len(topic))
            yield record.data[start : end + 1].decode()
            start = record.data.find(topic, end)


def _scopes(key: str) -> tuple[str, ...]:
    """The scopes that contain this key."""
    namespace, slash, _ = key.partition("/")
    return ("", namespace + slash, key) if slash else ("", key)
