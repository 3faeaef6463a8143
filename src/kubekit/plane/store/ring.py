"""The latest changes of one resource, shared by all its watchers.

A subscription is a position in the ring and holds no events of its own, so ten thousand slow
readers cost no more than one. If the events at its position were dropped, it gets `Compacted`.

Events that every reader has read stay in memory for two more seconds, for paginated lists and for
readers that reconnect. After that they are read from disk.
"""

import asyncio
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from kubekit.plane.store.errors import Compacted
from kubekit.plane.store.records import ChangeEvent

_RETENTION = 2.0  # seconds
_TIME_INTERVAL = 0.5  # seconds between two recorded times
_COLON = '":"'


class Ring:
    """Every change of the resource after the revision ``floor``, in order."""

    __slots__ = (
        "_bytes",
        "_events",
        "_idle",
        "_limit_bytes",
        "_limit_events",
        "_pair_starts",
        "_reading",
        "_start",
        "_times",
        "_touched",
        "_woken_to",
        "floor",
    )  # fmt: skip

    def __init__(self, floor: int, limit_events: int, limit_bytes: int) -> None:
        self.floor = floor
        self._limit_events = limit_events
        self._limit_bytes = limit_bytes
        self._events: list[ChangeEvent] = []
        self._start = 0  # the number of dropped events: positions count from the first event ever
        self._bytes = 0
        self._woken_to = 0  # the position up to which readers were woken
        self._touched: dict[str, None] = {}  # the scopes of the events after that position
        # By scope. Dicts, not sets: readers are woken in the order in which they became idle.
        self._idle: dict[str, dict[Subscription, None]] = {}
        self._reading: dict[Subscription, None] = {}  # all others
        self._pair_starts: Counter[bytes] = Counter()  # with their number of readers
        self._times: deque[tuple[float, int]] = deque()  # a time, and the end of the ring then

    def append(self, event: ChangeEvent) -> None:
        self._events.append(event)
        self._bytes += event.size()
        self._touched.update(dict.fromkeys(_scopes(event.record.key)))
        for pair_start in self._pair_starts:
            self._touched.update(dict.fromkeys(_pairs(pair_start, event)))
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

        It can also be a pair as in JSON, ``"name":"value"``. It selects the changes of documents
        that contain the pair anywhere, before or after the change.
        """
        subscription = Subscription(self, self._start + self._index(since), scope, ready)
        self._reading[subscription] = None
        if pair_start := _pair_start(scope):
            self._pair_starts[pair_start] += 1
        if subscription.position == self._end:
            self._set_idle(subscription)
        return subscription

    def wake(self, now: float) -> None:
        """Wake each idle reader that has new events, once until it has caught up.

        A reader of a scope without events is not woken. ``now`` is monotonic time in seconds.
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
        self._forget_pair_start(_pair_start(subscription.scope))
        self._reading.pop(subscription, None)
        waiting = self._idle.get(subscription.scope)
        if waiting is not None:
            waiting.pop(subscription, None)
            if not waiting:
                del self._idle[subscription.scope]

    def _forget_pair_start(self, pair_start: bytes) -> None:
        if pair_start:
            self._pair_starts[pair_start] -= 1
            if not self._pair_starts[pair_start]:
                del self._pair_starts[pair_start]

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
        if not self._times or now - self._times[-1][0] >= _TIME_INTERVAL:
            self._times.append((now, self._end))
        old = 0
        while self._times[0][0] <= now - _RETENTION:
            old = self._times.popleft()[1]
        if old > self._start:
            read = min((reader.position for reader in self._reading), default=old)
            self._drop(max(min(old, read) - self._start, 0))

    def _surplus(self) -> int:
        """How many of the oldest events to drop: an eighth more than needed, so drops are rare."""
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

    Call `take` until the result is empty, then wait for ``ready``.
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
        """The next changes, at most ``limit``. Raises `Compacted` once they are dropped."""
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
    """Call a listener. An exception goes to the loop's handler; the other listeners still run."""
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - it is reported
        report = {"message": f"{call!r} failed on a change", "exception": error}
        asyncio.get_running_loop().call_exception_handler(report)


def _revision(event: ChangeEvent) -> int:
    return event.record.revision


def _pair_start(scope: str) -> bytes:
    """The start of a pair, up to its value; empty when the scope is not a pair."""
    return scope[: scope.index(_COLON) + len(_COLON)].encode() if scope.startswith('"') else b""


def _pairs(pair_start: bytes, event: ChangeEvent) -> Iterator[str]:
    """The pairs with this start in the document of a change, and in the one before it."""
    for record in (event.record, event.previous):
        start = -1 if record is None else record.data.find(pair_start)
        while record is not None and start >= 0:
            end = record.data.find(b'"', start + len(pair_start))
            yield record.data[start : end + 1].decode()
            start = record.data.find(pair_start, end)


def _scopes(key: str) -> tuple[str, ...]:
    """The scopes that contain this key."""
    namespace, slash, _ = key.partition("/")
    return ("", namespace + slash, key) if slash else ("", key)
