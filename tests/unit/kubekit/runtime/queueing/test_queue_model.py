"""The laws of the work queue, whatever is done to it in whatever order."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kubekit.runtime.queueing.queue import QueueClosed, WorkQueue
from kubekit.runtime.requests import ClusterName, Request, cluster_name
from tests.support.generated import depth
from tests.support.kubekit.virtual_time import VirtualLoop

CLUSTERS = tuple(map(cluster_name, ("east", "north", "west")))
KEYS = st.builds(
    Request, cluster=st.sampled_from(CLUSTERS), namespace=st.just("ns"), name=st.sampled_from("ab")
)


class QueueMachine(RuleBasedStateMachine):
    """The queue beside plain dictionaries that say what must be where."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        self.ready: dict[Request, None] = {}  # in the order in which they became ready
        self.in_hand: dict[Request, None] = {}
        self.dirty: dict[Request, None] = {}
        self.timers: dict[Request, float] = {}
        self.sleeping: list[asyncio.Task[None]] = []
        self.served_while_waiting: dict[ClusterName, list[ClusterName]] = {}
        self.ticks = 0
        self.adds = 0

    @initialize(at_once=st.sampled_from((None, 1, 2)))
    def begin(self, at_once: int | None) -> None:
        """An empty queue, with or without a limit for each cluster."""
        self.at_once = at_once
        self.queue = WorkQueue(at_once)

    @rule(key=KEYS)
    def add(self, key: Request) -> None:
        self._added(key)
        self._in_loop(lambda: self.queue.add(key))
        self._settle()

    @rule(key=KEYS, seconds=st.integers(1, 20))
    def add_after(self, key: Request, seconds: int) -> None:
        self.ticks += 1  # no two timers end together, so their order is known
        delay = seconds + self.ticks * 1e-6
        self._in_loop(lambda: self.queue.add_after(key, delay))
        if key not in self.ready and key not in self.dirty:
            due = self.loop.time() + delay
            self.timers[key] = min(due, self.timers.get(key, due))
        self._settle()

    @rule()
    def take(self) -> None:
        """One more taker. It may find a key, or sleep."""
        self.sleeping.append(self.loop.create_task(self._take()))
        self._settle()

    @precondition(lambda self: self.sleeping)
    @rule(data=st.data(), key=KEYS, late=st.booleans())
    def cancel(self, data: st.DataObject, key: Request, *, late: bool) -> None:
        """A sleeper is cancelled at the very moment a key is added, just after it or before."""
        taker = data.draw(st.sampled_from(self.sleeping))
        self._added(key)
        acts: list[Callable[[], object]] = [lambda: self.queue.add(key), taker.cancel]
        self._in_loop(*(acts if late else reversed(acts)))
        self._settle()

    @precondition(lambda self: self.in_hand)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.in_hand)))
        del self.in_hand[key]
        if key in self.dirty:
            del self.dirty[key]
            self.ready[key] = None
        self._in_loop(lambda: self.queue.done(key))
        self._settle()

    @rule(cluster=st.sampled_from(CLUSTERS))
    def drop(self, cluster: ClusterName) -> None:
        self._in_loop(lambda: self.queue.drop(cluster))
        for keys in (self.ready, self.dirty, self.timers):
            for key in [key for key in keys if key.cluster == cluster]:
                del keys[key]
        self.served_while_waiting.pop(cluster, None)
        self._settle()

    @rule(seconds=st.integers(1, 25))
    def wait(self, seconds: int) -> None:
        end = self.loop.time() + seconds
        for key, due in sorted(self.timers.items(), key=lambda timer: timer[1]):
            if due > end:
                break
            self._added(key)
            self._pass(due - self.loop.time())
            self._settle()
        self._pass(end - self.loop.time())

    @invariant()
    def counts(self) -> None:
        """The metrics count as many keys as there are."""
        assert len(self.queue) == len(self.ready)
        assert self.queue.delayed == len(self.timers)
        assert self.queue.adds == self.adds

    @invariant()
    def no_taker_sleeps_beside_work(self) -> None:
        """No wake-up is lost: a taker sleeps only while there is nothing for it."""
        assert not (self.sleeping and self._may_be_served())

    def teardown(self) -> None:
        """Every taker ends when the queue is closed, and no timer is left."""
        try:
            self._in_loop(self.queue.close)
            for taker in self.sleeping:
                with pytest.raises(QueueClosed):
                    self.loop.run_until_complete(taker)
            assert (len(self.queue), self.queue.delayed) == (0, 0)
        finally:
            self.loop.close()

    async def _take(self) -> None:
        key = await self.queue.take()
        assert key not in self.in_hand, "two takers have the same key"
        assert key == next(k for k in self.ready if k.cluster == key.cluster), "not first in line"
        self._served(key.cluster)
        del self.ready[key]
        self.in_hand[key] = None

    def _served(self, cluster: ClusterName) -> None:
        """No cluster is served twice while another waits: with k that have work, k - 1 takes."""
        waiting = self._may_be_served()
        assert cluster in waiting
        for other in waiting:
            if other != cluster:
                served = self.served_while_waiting.setdefault(other, [])
                assert cluster not in served
                served.append(cluster)
        self.served_while_waiting.pop(cluster, None)

    def _may_be_served(self) -> dict[ClusterName, None]:
        busy = [key.cluster for key in self.in_hand]
        limit = self.at_once or len(KEYS_OF_ALL)
        return {key.cluster: None for key in self.ready if busy.count(key.cluster) < limit}

    def _added(self, key: Request) -> None:
        self.timers.pop(key, None)
        keys = self.dirty if key in self.in_hand else self.ready
        if key not in keys:
            self.adds += 1
            keys[key] = None

    def _in_loop(self, *acts: Callable[[], object]) -> None:
        async def call() -> None:
            for act in acts:
                act()

        self.loop.run_until_complete(call())

    def _pass(self, seconds: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def _settle(self) -> None:
        self.loop.run_until_complete(_rounds(8))
        for taker in self.sleeping:
            if taker.done() and not taker.cancelled():
                taker.result()
        self.sleeping = [taker for taker in self.sleeping if not taker.done()]


async def _rounds(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


KEYS_OF_ALL = [(cluster, name) for cluster in CLUSTERS for name in "ab"]


@pytest.mark.slow
def test_laws_of_the_queue():
    """No key has two takers, no wake-up is lost, one timer a key, clusters in turn, FIFO inside."""
    run_state_machine_as_test(
        QueueMachine,
        settings=settings(max_examples=depth.examples(100), stateful_step_count=40, deadline=None),
    )
