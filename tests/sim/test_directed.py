"""Bugs that seeds have found, each as a directed test without randomness."""

import asyncio
from random import Random

import pytest
from msgspec.structs import replace

from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.queueing.queue import WorkQueue
from kubekit.runtime.queueing.queue_admission import QueueAdmission
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import DONE, Request, cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.sources import mapped, own
from kubekit.runtime.watching.cache import Cache
from tests.sim.kinds import NAMESPACE, Child, CopySpec, Mirror, Parent, ParentSpec
from tests.sim.loop import SimLoop, run
from tests.sim.network import Link, Wires
from tests.sim.planes import environment, open_plane
from tests.sim.process import LinkClient
from tests.sim.trace import Trace
from tests.sim.weather import Weather

A = cluster_name("project-a")
HUB = cluster_name("hub")


class Stage:
    """Two planes, a link to each, and a controller over them whose reconciler the story brings."""

    def __init__(self, planes):
        self.planes = planes
        self.users = {name: LocalClient(plane) for name, plane in planes.items()}
        self.wires = Wires(Trace())
        self.links = {
            name: Link(name, plane, self.wires, Random(1)) for name, plane in planes.items()
        }
        self.around = environment("stage")
        self.projects = Clusters("project", self.around)
        self.hubs = Clusters("hub", self.around)
        self.scope = Scope("stage")

    async def engage(self, name):
        clusters = self.hubs if name == HUB else self.projects
        return await clusters.engage(name, LinkClient(self.links[name]))

    def control(self, reconcile, *sources):
        """Run a controller with this reconciler, and return it."""
        reconciler = type("Directed", (), {"reconcile": staticmethod(reconcile)})()
        made = Controller("directed", reconciler, self.projects, sources, self.around, Metrics())
        made.join()
        self.scope.spawn(made.run(), "controller")
        return made

    async def close(self):
        await self.scope.close()
        await self.projects.close()
        await self.hubs.close()
        await self.wires.close()


def on_stage(story):
    async def main():
        planes = {name: await open_plane(name) for name in (HUB, A)}
        stage = Stage(planes)
        try:
            return await story(stage)
        finally:
            await stage.close()
            for plane in planes.values():
                await plane.close()

    return run(main(), SimLoop(1))


def parent(name="ann", copies=1):
    return Parent(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=ParentSpec(copies=copies)
    )


def child(of="ann"):
    metadata = ObjectMeta(name=f"{of}-0", namespace=NAMESPACE)
    return Child(metadata=metadata, spec=CopySpec(parent=of))


def to_parent(cluster, copy):
    return [Request(cluster, NAMESPACE, copy.spec.parent)]


def to_project(_, mirror):
    return [Request(cluster_name(mirror.spec.cluster), NAMESPACE, mirror.spec.parent)]


def test_waiting_for_an_own_write_never_fails():
    """A cache that stands still for many looks makes them rarer, and breaks nothing."""
    freshness = Freshness()
    request = Request(A, NAMESPACE, "ann")
    freshness.follow(freshness, [_informer(Cache(Parent))])
    freshness.wrote(request, freshness, ObjectKey(A, "sim.test", "parents", NAMESPACE, "ann"), "7")

    waits = [freshness.behind(request, 0.0) for _ in range(3000)]

    assert waits[-1] == 1.0


def _informer(cache):
    """The part of an informer that a pass uses: its kind and its cache."""
    return type("Informer", (), {"kind": Parent, "served": True, "cache": cache})()


def test_an_own_write_that_was_seen_before_its_answer_came_is_not_forgotten():
    """A list from a server that lags takes it out of the cache again; the next pass waits."""
    cache = Cache(Parent)
    cache.revision = 9
    request = Request(A, NAMESPACE, "ann")
    freshness = Freshness()
    freshness.follow(freshness, [_informer(cache)])
    freshness.wrote(request, freshness, ObjectKey(A, "sim.test", "parents", NAMESPACE, "ann"), "9")

    cache.revision = 5

    assert freshness.behind(request, 0.0) > 0.0


def test_the_first_page_of_an_old_list_already_sets_the_cache_back():
    """Between the pages of a stale list a pass must not take the cache for what it was before."""

    async def story(stage):
        cluster = await stage.engage(A)
        informer = cluster.informers.of(Parent)
        stage.links[A].page = 1
        for name in ("ann", "bob"):
            await stage.users[A].create(parent(name))
        await informer.wait_synced()
        await asyncio.sleep(1.0)
        store = stage.planes[A].store
        await store.compact(store.revision)  # no list is older than this
        for name in ("ann", "bob"):
            seen = await stage.users[A].get(Parent, name, NAMESPACE)
            await stage.users[A].patch(seen, replace(seen, spec=ParentSpec(content="new")))
        await asyncio.sleep(1.0)
        changes = []
        informer.listen(lambda change: changes.append((change.new, informer.cache.revision)))
        newest = informer.cache.revision
        changes.clear()
        stage.links[A].weather = Weather(stale_list=1.0, expired=1.0)
        await _relisted(stage, informer)
        return [newest - revision for shown, revision in changes if not shown.spec.content]

    behind = on_stage(story)

    assert behind
    assert all(revisions > 0 for revisions in behind)


async def _relisted(stage, informer):
    """Break the watch, refuse the next one as too old, and wait for the list after it."""
    before = informer.relists
    for stream in list(stage.links[A]._streams):
        stream.heal("breaks")
    await asyncio.sleep(10.0)
    assert informer.relists > before


@pytest.mark.parametrize("made_by", ["the pass", "another client"])
@pytest.mark.parametrize("seen", [True, False])
def test_what_the_cache_never_showed_is_looked_at_again(seen, made_by):
    """A child that came and went in a gap of the watch leaves no change behind; its parent is asked.

    It makes no difference whether a pass made it, or found it by reading live.
    """

    async def story(stage):
        cluster = await stage.engage(A)

        async def reconcile(request):
            parents = cluster.informers.of(Parent).cache.list()
            if parents and await cluster.client.find(Child, "ann-0", NAMESPACE) is None:
                await cluster.client.create(child(request.name))
            return DONE

        stage.control(
            reconcile, own(Parent, stage.projects), mapped(Child, stage.projects, to_parent)
        )
        await asyncio.sleep(1.0)
        if not seen:
            await silenced(stage)
        if made_by == "another client":
            await stage.users[A].create(child())
        await stage.users[A].create(parent())
        await asyncio.sleep(5.0)
        await stage.users[A].delete(await stage.users[A].get(Child, "ann-0", NAMESPACE))
        store = stage.planes[A].store
        await store.compact(store.revision)  # so that no watch delivers it later either
        await asyncio.sleep(900.0)
        return await stage.users[A].find(Child, "ann-0", NAMESPACE)

    assert on_stage(story) is not None


async def silenced(stage):
    """Silence the watch of children from its next event on."""
    stage.links[A].weather = Weather(silent=1.0)
    await stage.users[A].create(replace(child("x"), spec=CopySpec(parent="missing")))
    await stage.users[A].delete(await stage.users[A].get(Child, "x-0", NAMESPACE))
    stage.links[A].weather = Weather()


def test_a_pass_that_needs_another_cluster_waits_for_it():
    """Only the request's own cluster ends its work by going; any other may come yet."""

    async def story(stage):
        passed = []
        await stage.users[A].create(parent())

        async def reconcile(request):
            stage.hubs.get(HUB)
            passed.append(request.name)
            return DONE

        stage.control(reconcile, own(Parent, stage.projects))
        await stage.engage(A)
        await asyncio.sleep(5.0)
        before = list(passed)
        await stage.engage(HUB)
        await asyncio.sleep(30.0)
        return before, passed

    assert on_stage(story) == ([], ["ann"])


def test_what_was_asked_before_a_cluster_came_is_looked_at_when_it_comes():
    """A mirror whose parent is gone is delivered once; the project may be engaged after that."""

    async def story(stage):
        passed = []
        spec = CopySpec(cluster=A, parent="gone")
        metadata = ObjectMeta(name="orphan", namespace=NAMESPACE)
        await stage.users[HUB].create(Mirror(metadata=metadata, spec=spec))

        async def reconcile(request):
            passed.append(request.name)
            return DONE

        stage.control(
            reconcile, own(Parent, stage.projects), mapped(Mirror, stage.hubs, to_project)
        )
        await stage.engage(HUB)
        await asyncio.sleep(5.0)
        before = list(passed)
        await stage.engage(A)
        await asyncio.sleep(5.0)
        return before, passed

    assert on_stage(story) == ([], ["gone"])


def test_what_is_asked_of_clusters_that_never_come_is_bounded():
    """Of too many requests the longest kept are forgotten, and the newest are there."""

    async def main():
        queue, figures = WorkQueue(), Metrics().controller("directed")
        unused = Client(None)  # type: ignore[arg-type] # no request is sent
        entrance = QueueAdmission("directed", queue, figures)
        entrance.add(Request(HUB, NAMESPACE, "first"))
        for number in range(65_536):
            entrance.add(Request(A, NAMESPACE, str(number)))
        for name in (HUB, A):
            cluster = Cluster(name, unused, environment("stage"))
            entrance.engage(cluster)
            entrance.open_when_ready(cluster, [])
        await asyncio.sleep(1.0)
        return len(queue), figures.dropped

    assert run(main(), SimLoop(1)) == (65_536, 65_537)
