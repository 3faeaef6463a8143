"""Clusters that come and go, many at once and again and again: nothing of them stays behind."""

import asyncio
import gc
import weakref
from itertools import cycle
from typing import Any

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.reconciling import commit
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, Request, cluster_name
from kubekit.runtime.sources import mapped, own
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.runtime_builders import A, B, Reconciling, config, run_story, world
from tests.support.kubekit.virtual_time import run


class SlowTransport(LocalClient):
    """A client that takes its time to close, may fail at it, and tells when it is closed."""

    def __init__(self, plane, seconds=0.0, error=None):
        super().__init__(plane)
        self.closed = 0
        self._seconds, self._error = seconds, error

    async def close(self):
        await asyncio.sleep(self._seconds)
        self.closed += 1
        if self._error is not None:
            raise self._error


def tasks_of(name):
    return [
        task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith(f"{name}/")
    ]


def test_of_two_that_take_the_place_of_one_at_once_one_stays(tmp_path):
    """The second cluster replaces the first: neither keeps running unseen."""

    async def story(there):
        transports = [SlowTransport(there.planes[A], seconds=1.0) for _ in range(3)]
        clusters = Clusters("cell", environment())
        await clusters.engage(A, transports[0])
        for transport in transports[1:]:
            there.scope.spawn(clusters.engage(A, transport), "engaging")
        await asyncio.sleep(10)
        clusters.get(A).informers.of(ConfigMap)
        await clusters.close()
        assert [transport.closed for transport in transports] == [1, 1, 1]

    run_story(tmp_path, story)


def test_a_cluster_whose_leaving_was_interrupted_leaves_with_the_rest(tmp_path):
    """A pass or a provider that is cancelled while it lets a cluster go leaves nothing running."""

    async def lingering():
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(5)

    async def story(there):
        transport = SlowTransport(there.planes[A])
        clusters = Clusters("cell", environment())
        cluster = await clusters.engage(A, transport)
        cluster.informers.of(ConfigMap)
        cluster.scope.spawn(lingering(), "lingering")
        await asyncio.sleep(1)
        leaving = there.scope.spawn(clusters.disengage(A), "leaving")
        await asyncio.sleep(1)
        leaving.cancel()
        await clusters.close()
        assert (tasks_of("a"), transport.closed) == ([], 1)

    async def alone():
        async with world(tmp_path) as there:
            await story(there)

    run(alone())


def test_letting_a_cluster_go_again_finishes_what_was_interrupted(tmp_path):
    """The pass that comes after an interrupted one completes what that had started."""

    async def story(there):
        transport = SlowTransport(there.planes[B], seconds=5.0)
        await there.projects.engage(B, transport)
        leaving = there.scope.spawn(there.projects.disengage(B), "leaving")
        await asyncio.sleep(1)
        leaving.cancel()
        await asyncio.sleep(1)
        await there.projects.disengage(B)
        assert transport.closed == 1

    run_story(tmp_path, story)


def test_a_connection_that_cannot_be_closed_stops_nothing(tmp_path, caplog):
    """Later clusters are disengaged all the same; the log reports it."""

    async def story(there):
        transports = [
            SlowTransport(there.planes[A]),
            SlowTransport(there.planes[B], error=OSError("broken")),
        ]
        clusters = Clusters("cell", environment())
        for name, transport in zip((A, B), transports, strict=True):
            await clusters.engage(name, transport)
        await clusters.close()
        assert [transport.closed for transport in transports] == [1, 1]

    run_story(tmp_path, story)
    assert [r.cluster for r in caplog.records if r.message == "connection not closed"] == ["b"]


@pytest.mark.parametrize("error", [LookupError("while it was ended"), None], ids=["error", "end"])
def test_a_pass_of_a_cluster_that_left_is_no_failure_of_its_key(tmp_path, error):
    """Whatever it raises on its way out says nothing of the cluster that comes back."""
    started = []

    async def slow(_):
        started.append(asyncio.get_running_loop().time())
        if len(started) > 1:
            raise LookupError("now it fails")
        try:
            await asyncio.sleep(1000)
        finally:
            if error is not None:
                raise error

    async def story(there):
        controller = there.controller(
            Reconciling(slow), settings=ControllerSettings(first_backoff=100.0)
        )
        there.start(controller)
        await there.write("one")
        await asyncio.sleep(1)
        await there.projects.disengage(A)
        await asyncio.sleep(1)
        assert controller.counters.panics == 0
        await there.engage(A)
        await asyncio.sleep(105)
        assert len(started) == 3  # the second failure is the first one that counts

    run_story(tmp_path, story)


class Troubled:
    """A reconciler that fails, hangs, writes elsewhere and says things, in turn."""

    def __init__(self, projects, hubs, recorder):
        self._projects, self._hubs, self._recorder = projects, hubs, recorder
        self._turn = cycle(range(4))

    async def reconcile(self, request):
        turn = next(self._turn)
        if turn == 0:
            raise LookupError("some fail")
        client = self._projects.get(request.cluster).client
        found = await client.find(ConfigMap, request.name, request.namespace)
        if found is None:  # an error would be kept, with all that it has seen, by the log capture
            return DONE
        self._recorder.event(client, found, "Normal", "Seen", "again", "Look")
        if turn == 1:
            await asyncio.sleep(30)
        if turn == 2:
            count = {"passes": str(asyncio.get_running_loop().time())}
            wanted = config("all", count)
            await commit.create_or_patch(self._hubs.get(B).client, wanted, lambda there: there)
        return DONE


async def come_and_go(there, names, rounds):
    """Engage many and let them go, while users write; what is left of them, by weak reference."""
    clients = [there.client(A), there.client(B)]
    engaged = []
    for number in range(rounds):
        for name, plane in zip(names, cycle(there.planes.values())):
            cluster = await there.projects.engage(name, LocalClient(plane))
            engaged += [weakref.ref(cluster), weakref.ref(cluster.client)]
            del cluster
        for client in clients:
            await client.create(config(f"c{number}"))
        await asyncio.sleep(number)  # they are met in different states of their beginning
        for name in names[number:] + names[:number]:
            await there.projects.disengage(name)
    await asyncio.sleep(2)  # a cancelled pass has a second to end
    gc.collect()
    return [ref() for ref in engaged if ref() is not None]


def test_fifty_clusters_that_come_and_go_leave_nothing_behind(tmp_path):
    """No task, timer, request or figure stays, and no cluster or client in memory."""
    names = [cluster_name(f"p{number}") for number in range(50)]

    async def story(there):
        await there.projects.disengage(A)
        hubs = Clusters("hub", environment())
        await hubs.engage(B, LocalClient(there.planes[B]))
        recorder = EventRecorder("minder", "test", environment())
        there.scope.spawn(recorder.run(), "recorder")
        to_three = mapped(ConfigMap, hubs, lambda _, obj: [_named(n, obj) for n in names[:3]])
        controller = there.controller(
            Troubled(there.projects, hubs, recorder),
            [own(ConfigMap, there.projects), to_three],
            recorder=recorder,
        )
        there.start(controller)
        await asyncio.sleep(1)
        tasks = names_of_tasks()

        assert await come_and_go(there, names, rounds=6) == []
        queue, counters = controller.queue, controller.counters
        assert (len(queue), queue.delayed, queue.unfinished_seconds) == (0, 0, 0.0)
        assert (counters.active, controller.synced) == (0, True)
        assert counters.results["success"] > 100
        assert names_of_tasks() == tasks
        assert pending_timers() < 20
        await hubs.close()

    run_story(tmp_path, story)


def _named(cluster, obj):
    return Request(cluster, "default", obj.metadata.name)


def pending_timers():
    """The timers of the loop that were not cancelled."""
    loop: Any = asyncio.get_running_loop()  # what it has scheduled is not for the public
    return sum(not timer.cancelled() for timer in loop._scheduled)


def names_of_tasks():
    """The tasks of the runtime; a plane has some of its own, which are not in a scope."""
    return sorted(name for task in asyncio.all_tasks() if "/" in (name := task.get_name()))
