"""The work queue: requests that wait for a pass, in order, and never the same one twice at once.

A key (a request) is ready, is being processed, or waits for its timer. The queue stores that a key is
to be processed, not how often it was added. So its memory is bounded by the number of distinct keys.

Clusters take turns: a cluster with a hundred thousand objects waits no less between two takes than
one with a single object.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Final

from kubekit.runtime.reporting.counters import DurationHistogram
from kubekit.runtime.requests import ClusterName, Request

# The bounds of client-go's work queue: ten nanoseconds to a thousand seconds.
QUEUE_SECONDS: Final = tuple(10.0**power for power in range(-8, 4))


class QueueClosed(Exception):
    """The queue is closed: the worker that takes keys should end."""


class WorkQueue:
    """Keys to be processed. Every operation takes the same time, however many keys there are.

    (A delayed add also enters the loop's heap of timers.) Call all methods in the running loop.
    At most ``at_once`` keys of one cluster are processed together: with fewer than there are
    workers, a cluster whose server hangs cannot occupy them all.
    """

    def __init__(self, at_once: int | None = None) -> None:
        self.adds = 0
        self.retries = 0
        self.queued = DurationHistogram(QUEUE_SECONDS)
        self.worked = DurationHistogram(QUEUE_SECONDS)
        self._at_once = at_once
        self._closed = False
        # Keys that may be taken, the oldest first. A cluster is here only while it has such keys.
        # None of them is being processed.
        self._ready: dict[ClusterName, deque[Request]] = {}
        self._since: dict[
            Request, float
        ] = {}  # exactly the keys of `_ready`: with the time since when
        # The clusters of `_ready`, the next one first, without those that have `at_once` keys in
        # processing. (The front of a plain dict is not found in constant time.)
        self._turns: OrderedDict[ClusterName, None] = OrderedDict()
        # Keys that were taken and are not done, the oldest first, with the time since when. Each
        # has exactly one taker.
        self._processing: dict[Request, float] = {}
        self._processing_of: dict[ClusterName, int] = {}  # how many of each cluster; never 0
        # Keys being processed that were added again meanwhile, with the time since when.
        self._dirty: dict[Request, float] = {}
        # At most one timer for a key, and none for a key that is ready or dirty: it would only
        # request again what is about to happen.
        self._timers: dict[ClusterName, dict[Request, asyncio.TimerHandle]] = {}
        # Takers that sleep, the longest sleeping first. While there are turns, at least one
        # taker is awake or about to wake, or none sleeps.
        self._sleepers: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    def __len__(self) -> int:
        """How many keys are ready, without those being processed and those that wait for a timer."""
        return len(self._since)

    def add(self, request: Request) -> None:
        """Make a key ready; after its pass if it is being processed."""
        if self._closed:
            return
        self._stop_timer(request)
        now = asyncio.get_running_loop().time()
        if request in self._processing:
            self._mark_dirty(request, now)
        else:
            self._make_ready(request, now)

    def add_after(self, request: Request, seconds: float) -> None:
        """Make a key ready after this time at the latest.

        Of several delayed adds of a key the earliest counts. An add without delay replaces it: the
        pass that follows reads the current state and asks for its own requeue.
        """
        if self._closed:
            return
        self.retries += 1
        if seconds <= 0:
            self.add(request)
        elif request not in self._since and request not in self._dirty:
            self._set_timer(request, seconds)

    async def take(self) -> Request:
        """The next key. No other taker gets it until `done`.

        Other tasks always run first: passes that never wait would otherwise block the loop, and a
        lease would expire meanwhile.
        """
        await asyncio.sleep(0)
        while not self._closed:
            if self._turns:
                return self._next()
            await self._sleep()
        raise QueueClosed

    def done(self, request: Request) -> None:
        """End the processing of a key. It is ready again if it was added in the meantime."""
        now = asyncio.get_running_loop().time()
        self.worked.add(now - self._processing.pop(request))
        cluster = request.cluster
        remaining = self._processing_of[cluster] - 1
        if remaining:
            self._processing_of[cluster] = remaining
        else:
            del self._processing_of[cluster]
        since = self._dirty.pop(request, None)
        if since is not None:
            self._enqueue(request, since)
        elif cluster in self._ready and cluster not in self._turns:
            self._take_turns(cluster)

    def drop(self, cluster: ClusterName) -> None:
        """Forget the keys of a cluster, except those being processed.

        A cluster that is engaged again at once would otherwise run two passes of a key concurrently.
        """
        for request in self._ready.pop(cluster, ()):
            del self._since[request]
        self._turns.pop(cluster, None)
        for timer in self._timers.pop(cluster, {}).values():
            timer.cancel()
        for request in [dirty for dirty in self._dirty if dirty.cluster == cluster]:
            del self._dirty[request]

    def close(self) -> None:
        """Hand out no more keys and forget those that wait. `done` still works."""
        self._closed = True
        for cluster in [*self._ready, *self._timers, *self._processing_of]:
            self.drop(cluster)
        for sleeper in self._sleepers:
            _wake(sleeper)

    @property
    def oldest_age(self) -> float:
        """For how many seconds the oldest ready key has been ready."""
        now = asyncio.get_running_loop().time()
        return max((now - self._since[keys[0]] for keys in self._ready.values()), default=0.0)

    @property
    def unfinished_seconds(self) -> float:
        """The sum of the processing times so far. It grows when a pass hangs."""
        now = asyncio.get_running_loop().time()
        return sum(now - since for since in self._processing.values())

    @property
    def longest_running_seconds(self) -> float:
        """For how long the oldest key has been processed."""
        now = asyncio.get_running_loop().time()
        return now - next(iter(self._processing.values()), now)

    @property
    def delayed(self) -> int:
        """How many keys wait for a timer."""
        return sum(map(len, self._timers.values()))

    def _mark_dirty(self, request: Request, now: float) -> None:
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
        """Append a cluster to the turns, unless it is at its limit, and wake a taker."""
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
            # Woken and cancelled at the same moment: wake another taker instead.
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
    """Wake a sleeper. Returns False for one that was cancelled."""
    if sleeper.done():
        return False
    sleeper.set_result(None)
    return True
