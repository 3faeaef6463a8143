"""One process of controllers, from its beginning to its end, on a real plane."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.election import ElectionSettings, Elector
from kubekit.runtime.manager import BackgroundTask, Manager, Runnables
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import DONE, Request, cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.sources import own
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run

CELL = cluster_name("cell")
ELECTION = ElectionSettings(name="test", namespace="default")


class Looking:
    """A slow reconciler that records its requests."""

    def __init__(self, seconds=0.0):
        self.started, self.ended, self._seconds = [], [], seconds

    async def reconcile(self, request):
        self.started.append(request.name)
        await asyncio.sleep(self._seconds)
        self.ended.append(request.name)
        return DONE


def box(name="box"):
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def process(
    plane, reconciler, seed=1, *, elected=False, always=False, grace=30.0, background_tasks=()
):
    """A process with one controller of ConfigMaps."""
    around = environment(seed)
    clusters = Clusters("cell", around)
    controller = Controller(
        "looking",
        reconciler,
        clusters,
        [own(ConfigMap, clusters)],
        around,
        Metrics(CollectorRegistry()),
    )
    program = Runnables(
        clusters=[clusters],
        providers=[FixedCluster(clusters, CELL, LocalClient(plane))],
        background_tasks=list(background_tasks),
    )
    (program.always if always else program.leading).append(controller)
    elector = Elector(LocalClient(plane), "test", around, ELECTION) if elected else None
    return Manager(program, elector, grace=grace)


def on_a_plane(directory, story):
    async def scenario():
        async with opened(directory) as world:
            scope = Scope("test")
            try:
                await story(world.plane, scope)
            finally:
                await scope.close()

    run(scenario())


def test_a_stop_finishes_the_pass_in_hand(tmp_path):
    """Running passes finish; waiting requests are left to the next process."""

    async def story(plane, scope):
        await LocalClient(plane).create(box())
        looking = Looking(seconds=5)
        manager = process(plane, looking)
        running = scope.spawn(manager.run(), "manager")
        await asyncio.sleep(1)
        assert (looking.started, looking.ended) == (["box"], [])
        manager.stop()
        await running
        assert looking.ended == ["box"]

    on_a_plane(tmp_path, story)


def test_a_pass_past_the_grace_is_cut_off(tmp_path):
    """A process ends within its grace, whatever a pass does."""

    async def story(plane, scope):
        await LocalClient(plane).create(box())
        looking = Looking(seconds=1000)
        manager = process(plane, looking, grace=10)
        running = scope.spawn(manager.run(), "manager")
        await asyncio.sleep(1)
        manager.stop()
        started = asyncio.get_running_loop().time()
        await running
        assert asyncio.get_running_loop().time() - started < 15
        assert looking.ended == []

    on_a_plane(tmp_path, story)


def test_only_one_of_two_processes_works_and_the_other_takes_over(tmp_path):
    """The lease is handed over at once by a process that ends well."""

    async def story(plane, scope):
        first, second = Looking(), Looking()
        managers = [
            process(plane, looking, seed, elected=True)
            for seed, looking in enumerate((first, second))
        ]
        for manager in managers:
            scope.spawn(manager.run(), "manager")
            await asyncio.sleep(5)
        assert [_leads(manager) for manager in managers] == [True, False]
        await LocalClient(plane).create(box("one"))
        await asyncio.sleep(1)
        assert (first.started, second.started) == (["one"], [])
        managers[0].stop()
        await asyncio.sleep(6)  # no longer than a candidate's pause, far less than the lease
        assert second.started == ["one"]
        assert [_leads(manager) for manager in managers] == [False, True]
        lease = await LocalClient(plane).get(Lease, "test", "default")
        assert lease.spec.lease_transitions == 1

    on_a_plane(tmp_path, story)


def _leads(manager):
    """What a scrape says of the lease."""
    return manager.metrics.registry.get_sample_value(
        "leader_election_master_status", {"name": "test"}
    )


def test_a_scrape_tells_of_the_informers(tmp_path):
    """How many objects are cached, of which kind, in which cluster."""

    async def story(plane, scope):
        await LocalClient(plane).create(box())
        manager = process(plane, Looking())
        scope.spawn(manager.run(), "manager")
        await asyncio.sleep(1)
        assert (
            'compute_runtime_informer_objects{cluster="cell",kind="ConfigMap",role="cell"} 1.0'
            in manager.metrics.text().decode()
        )

    on_a_plane(tmp_path, story)


def test_trap_117_clusters_are_engaged_on_every_replica(tmp_path):
    """A process that does not lead knows every cluster, and is ready to answer for it."""

    async def story(plane, scope):
        leading = process(plane, Looking(), seed=1, elected=True)
        scope.spawn(leading.run(), "leader")
        await asyncio.sleep(5)
        candidate = process(plane, Looking(), seed=2, elected=True)
        assert not candidate.health.report("readyz").well
        scope.spawn(candidate.run(), "candidate")
        await asyncio.sleep(5)
        assert candidate.health.report("readyz").well

    on_a_plane(tmp_path, story)


def test_controllers_of_every_replica_do_not_wait_to_lead(tmp_path):
    """What belongs on every replica works on one that does not lead."""

    async def story(plane, scope):
        scope.spawn(process(plane, Looking(), seed=1, elected=True).run(), "leader")
        await asyncio.sleep(5)
        looking = Looking()
        candidate = process(plane, looking, seed=2, elected=True, always=True)
        scope.spawn(candidate.run(), "candidate")
        await LocalClient(plane).create(box())
        await asyncio.sleep(5)
        assert looking.started == ["box"]

    on_a_plane(tmp_path, story)


def test_a_part_that_fails_ends_the_process(tmp_path):
    """Half a process is of no use: the rest ends in order, and the error is raised."""

    async def fails():
        await asyncio.sleep(1)
        raise LookupError("broken")

    async def story(plane, _):
        manager = process(plane, Looking(), background_tasks=[BackgroundTask("failing", fails)])
        with pytest.raises(LookupError, match="broken"):
            await manager.run()

    on_a_plane(tmp_path, story)


def test_duties_are_drained_at_the_end(tmp_path):
    """What waits to be sent is sent before the process goes."""
    drained = []

    async def drain(limit):
        drained.append(limit)

    async def story(plane, scope):
        task = BackgroundTask("sending", lambda: asyncio.sleep(1000), drain)
        manager = process(plane, Looking(), grace=7.0, background_tasks=[task])
        running = scope.spawn(manager.run(), "manager")
        await asyncio.sleep(1)
        manager.stop()
        await running
        assert drained == [7.0]

    on_a_plane(tmp_path, story)


def test_readiness_tells_what_is_missing(tmp_path):
    """Before the clusters are engaged and their caches filled the page says so, by name."""

    async def story(plane, _):
        report = process(plane, Looking()).health.report("readyz")
        assert str(report).splitlines()[1:] == [
            "[+]clusters ok",
            "[-]providers failed: cell cell is not engaged yet",
            "readyz check failed",
        ]

    on_a_plane(tmp_path, story)


def test_a_role_that_was_forgotten_is_named(tmp_path):
    """A controller on clusters without a provider would do nothing, and appear healthy."""

    async def story(_plane, _scope):
        clusters = Clusters("cell", environment())
        controller = Controller(
            "looking",
            Looking(),
            clusters,
            [own(ConfigMap, clusters)],
            environment(),
            Metrics(CollectorRegistry()),
        )
        with pytest.raises(ValueError, match="looking works on the role cell, which is not in"):
            Manager(Runnables(leading=[controller]))

    on_a_plane(tmp_path, story)


def test_a_request_is_made_for_each_object(tmp_path):
    """The request that arrives names the cluster that the object is in."""
    seen = []

    class Noting:
        async def reconcile(self, request):
            seen.append(request)
            return DONE

    async def story(plane, scope):
        await LocalClient(plane).create(box())
        scope.spawn(process(plane, Noting()).run(), "manager")
        await asyncio.sleep(1)
        assert seen == [Request(CELL, "default", "box")]

    on_a_plane(tmp_path, story)
