"""What waits for a pass: which objects to look at, in what order, and never one twice at once.

A key is ready, or in hand, or waits for its timer. Events that arrive meanwhile are one event: the
queue remembers that a key is to be looked at, never how often it was told. So its memory follows
the number of distinct keys, and a storm of events costs no more than its adding.

Clusters take turns: one that has a hundred thousand objects waits no less between two takes than
one that has a single object.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Final

from kubekit.runtime.reporting.counters import DurationHistogram
from kubekit.runtime.requests import ClusterName, Request

# The bounds of client-go's work queue: ten nanoseconds to a thousand seconds.
QUEUE_SECONDS: Final = tuple(10.0**power for power in range(-8, 4))


class QueueClosed(Exception):
    """Nothing is handed out any more: whoever takes should end."""


class WorkQueue:
    """Keys to be looked at. Every operation takes the same time, however many keys there are.

    (A delayed add also enters the loop's heap of timers.) All methods are for the running loop.
    ``at_once`` is the most keys of one cluster that may be in hand together: with fewer than there
    are workers, a cluster whose server hangs cannot hold them all.
    """

    def __init__(self, at_once: int | None = None) -> None:
        self.adds = 0
        self.retries = 0
        self.queued = DurationHistogram(QUEUE_SECONDS)
        self.worked = DurationHistogram(QUEUE_SECONDS)
        self._at_once = at_once
        self._closed = False
        # Keys that may be taken, the one waiting longest first. A cluster is here only while it
        # has such keys. None of them is in hand.
        self._ready: dict[ClusterName, deque[Request]] = {}
        self._since: dict[Request, float] = {}  # exactly the keys of `_ready`: ready since when
        # The clusters of `_ready`, the next one to be served first, without those that have
        # `at_once` keys in hand. (The front of a plain dict is not found in constant time.)
        self._turns: OrderedDict[ClusterName, None] = OrderedDict()
        # Keys that somebody took and has not given back, the one taken first in front, with the
        # time since when. Each has exactly one taker.
        self._processing: dict[Request, float] = {}
        self._processing_of: dict[ClusterName, int] = {}  # how many of each cluster; never 0
        # Keys in hand that are to be looked at again afterwards, with the time since when.
        self._dirty: dict[Request, float] = {}
        # At most one timer for a key, and none for a key that is ready or dirty: it would only
        # ask again for what is about to happen.
        self._timers: dict[ClusterName, dict[Request, asyncio.TimerHandle]] = {}
        # Takers that sleep, the one sleeping longest first. While there are turns, at least one
        # taker is awake or on its way, or none sleeps.
        self._sleepers: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    def __len__(self) -> int:
        """How many keys are ready. Those in hand and those that wait for a timer do not count."""
        return len(self._since)

    def add(self, request: Request) -> None:
        """Have a key looked at as soon as it is its turn; after its pass if it is in hand."""
        if self._closed:
            return
        self._stop_timer(request)
        now = asyncio.get_running_loop().time()
        if request in self._processing:
            self._mark(request, now)
        else:
            self._make_ready(request, now)

    def add_after(self, request: Request, seconds: float) -> None:
        """Have a key looked at after this time at the latest.

        Delayed adds of a key are one: the earliest. An add without delay replaces it, since the
        pass that follows looks at everything and asks for its own next time.
        """
        if self._closed:
            return
        self.retries += 1
        if seconds <= 0:
            self.add(request)
        elif request not in self._since and request not in self._dirty:
            self._set_timer(request, seconds)

    async def take(self) -> Request:
        """The next key, which is the taker's alone until it is given back with ``done``.

        Others always run first: passes that never wait would otherwise hold the loop, and a lease
        would run out meanwhile.
        """
        await asyncio.sleep(0)
        while not self._closed:
            if self._turns:
                return self._next()
            await self._sleep()
        raise QueueClosed

    def done(self, request: Request) -> None:
        """Give a key back. It is ready again if it was added in the meantime."""
        now = asyncio.get_running_loop().time()
        self.worked.add(now - self._processing.pop(request))
        cluster = request.cluster
        left = self._processing_of[cluster] - 1
        if left:
            self._processing_of[cluster] = left
        else:
            del self._processing_of[cluster]
        since = self._dirty.pop(request, None)
        if since is not None:
            self._enqueue(request, since)
        elif cluster in self._ready and cluster not in self._turns:
            self._take_turns(cluster)

    def drop(self, cluster: ClusterName) -> None:
        """Forget everything of a cluster, but not which of its keys are in hand.

        A cluster that comes back at once would otherwise see two passes of a key beside each other.
        """
        for request in self._ready.pop(cluster, ()):
            del self._since[request]
        self._turns.pop(cluster, None)
        for timer in self._timers.pop(cluster, {}).values():
            timer.cancel()
        for request in [dirty for dirty in self._dirty if dirty.cluster == cluster]:
            del self._dirty[request]

    def close(self) -> None:
        """Hand out nothing any more and forget what waits. Keys in hand can still be given back."""
        self._closed = True
        for cluster in [*self._ready, *self._timers, *self._processing_of]:
            self.drop(cluster)
        for sleeper in self._sleepers:
            _wake(sleeper)

    @property
    def oldest_age(self) -> float:
        """Since how many seconds the key that is ready longest has been ready."""
        now = asyncio.get_running_loop().time()
        return max((now - self._since[keys[0]] for keys in self._ready.values()), default=0.0)

    @property
    def unfinished_seconds(self) -> float:
        """How long the keys in hand have been in hand, together. It grows when a pass hangs."""
        now = asyncio.get_running_loop().time()
        return sum(now - since for since in self._processing.values())

    @property
    def longest_running_seconds(self) -> float:
        """How long the key that was taken first has been in hand."""
        now = asyncio.get_running_loop().time()
        return now - next(iter(self._processing.values()), now)

    @property
    def delayed(self) -> int:
        """How many keys wait for a timer."""
        return sum(map(len, self._timers.values()))

    def _mark(self, request: Request, now: float) -> None:
        if request not in self._dirty:
            self.adds += 1
            self._dirty[request] = now

    def _make_ready(self, request: Request, now: float) -> None:
        if request not in self._since:
            self.adds += 1
            self._enqueue(request, now)

    def _enqueue(self, request: Request, since: float) -> None:
        self._since[request] = since
        keys = self._ready.get(request.cluster)
        if keys is None:
            keys = self._ready[request.cluster] = deque()
        keys.append(request)
        self._take_turns(request.cluster)

    def _take_turns(self, cluster: ClusterName) -> None:
        """Let a cluster be served after those that wait, unless it is at its limit; tell a taker."""
        if self._at_once is not None and self._processing_of.get(cluster, 0) >= self._at_once:
            return
        self._turns.setdefault(cluster)
        self._wake_one()

    def _next(self) -> Request:
        now = asyncio.get_running_loop().time()
        cluster, _ = self._turns.popitem(last=False)
        keys = self._ready[cluster]
        request = keys.popleft()
        self.queued.add(now - self._since.pop(request))
        self._processing[request] = now
        self._processing_of[cluster] = self._processing_of.get(cluster, 0) + 1
        if keys:
            self._take_turns(cluster)
        else:
            del self._ready[cluster]
        return request

    def _set_timer(self, request: Request, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        timers = self._timers.setdefault(request.cluster, {})
        earlier = timers.get(request)
        if earlier is not None:
            if earlier.when() <= loop.time() + seconds:
                return
            earlier.cancel()
        timers[request] = loop.call_later(seconds, self.add, request)

    def _stop_timer(self, request: Request) -> None:
        timers = self._timers.get(request.cluster)
        if timers is None or (timer := timers.pop(request, None)) is None:
            return
        timer.cancel()
        if not timers:
            del self._timers[request.cluster]

    async def _sleep(self) -> None:
        sleeper = asyncio.get_running_loop().create_future()
        self._sleepers[sleeper] = None
        try:
            await sleeper
        except asyncio.CancelledError:
            # Woken and cancelled at the same moment: what it was woken for is then another's.
            if not sleeper.cancelled() and self._turns:
                self._wake_one()
            raise
        finally:
            self._sleepers.pop(sleeper, None)

    def _wake_one(self) -> None:
        while self._sleepers:
            sleeper, _ = self._sleepers.popitem(last=False)
            if _wake(sleeper):
                return


def _wake(sleeper: asyncio.Future[None]) -> bool:
    """Whether this sleeper could still be woken: one that was cancelled could not."""
    if sleeper.done():
        return False
    sleeper.set_result(None)
    return True
