"""The changes that a controller receives: in every process, of all engaged clusters and no others."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from compute.api.compute import Workload
from compute.api.quota import ResourceClaim
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.client.client import K, Listing
from kubekit.client.options import EVERYTHING, ListOptions
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import ControllerSettings
from kubekit.runtime.requests import ClusterName, Request, Result, cluster_name
from kubekit.runtime.sources import mapped, own, owned
from tests.support.kubekit.runtime_builders import (
    A,
    B,
    Reconciling,
    RuntimeWorld,
    config,
    owner_of,
    run_story,
    secret,
)

HUB = cluster_name("hub")


class SlowClient(LocalClient):
    """A client whose lists of one kind wait until they are released."""

    def __init__(self, plane: Plane, kind: type) -> None:
        super().__init__(plane)
        self.go = asyncio.Event()
        self._slow = kind

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        if kind is self._slow:
            await self.go.wait()
        return await super().list(kind, namespace, options)


@asynccontextmanager
async def hub(world: RuntimeWorld) -> AsyncIterator[Clusters]:
    """A second role, whose one cluster is the plane of ``b``."""
    clusters = Clusters("hub", world.environment)
    await clusters.engage(HUB, LocalClient(world.planes[B]))
    yield clusters
    await clusters.close()


def to_project(_: ClusterName, obj: ConfigMap) -> list[Request]:
    """What a hub's object is a copy of: its data say which project, and its name is the same."""
    return [Request(cluster_name(obj.data["project"]), "default", obj.metadata.name)]


def test_trap_117_every_replica_listens_and_only_the_leader_works(tmp_path):
    """A process that does not lead engages clusters and fills its queue, ready to take over."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        reconciler = Reconciling()
        controller = world.controller(reconciler)
        await asyncio.sleep(600)
        assert controller.synced
        assert reconciler.asked == []
        assert world.projects.get(A).informers.of(ConfigMap).cache.get("default", "one")
        world.start(controller)
        await asyncio.sleep(1)
        assert "one" in reconciler.names

    run_story(tmp_path, story)


def test_trap_171_a_kind_that_is_not_served_stops_no_controller(tmp_path):
    """A source on a kind that the cluster does not have is waited for, and nothing else is."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        reconciler = Reconciling()
        sources = [own(ConfigMap, world.projects), own(ResourceClaim, world.projects)]
        controller = world.controller(reconciler, sources)
        world.start(controller)
        await asyncio.sleep(5)
        assert "one" in reconciler.names
        assert controller.synced

    run_story(tmp_path, story)


def test_trap_1_1_one_cluster_that_does_not_serve_a_kind_stops_no_other(tmp_path):
    """Whether a kind is served is a matter of each cluster, not of the process."""

    async def story(world: RuntimeWorld) -> None:
        await world.engage(B)
        await world.write("one", A)
        await world.write("two", B)
        reconciler = Reconciling()
        sources = [own(ConfigMap, world.projects), owned(Workload, world.projects, ConfigMap)]
        world.start(world.controller(reconciler, sources))
        await asyncio.sleep(5)
        assert {"one", "two"} <= {*reconciler.names}

    run_story(tmp_path, story)


def test_no_pass_begins_before_the_caches_are_filled(tmp_path):
    """While one source of the cluster is not listed yet its requests are held, and none is lost."""

    async def story(world: RuntimeWorld) -> None:
        await world.write("one", B)
        slow = SlowClient(world.planes[B], Secret)
        await world.projects.engage(B, slow)
        reconciler = Reconciling()
        sources = [own(ConfigMap, world.projects), owned(Secret, world.projects, ConfigMap)]
        controller = world.controller(reconciler, sources)
        world.start(controller)
        await world.write("elsewhere", A)
        await asyncio.sleep(60)
        assert not controller.synced
        assert {request.cluster for request in reconciler.asked} == {A}
        slow.go.set()
        await asyncio.sleep(1)
        assert Request(B, "default", "one") in reconciler.asked
        assert controller.synced

    run_story(tmp_path, story)


def test_an_owned_object_brings_its_owner_a_pass(tmp_path):
    """A child that comes, changes or goes requests its parent."""

    async def story(world: RuntimeWorld) -> None:
        parent = await world.write("parent")
        reconciler = Reconciling()
        sources = [own(ConfigMap, world.projects), owned(Secret, world.projects, ConfigMap)]
        world.start(world.controller(reconciler, sources))
        await asyncio.sleep(1)
        child = await world.client().create(secret("child", [owner_of(parent)]))
        await asyncio.sleep(1)
        await world.client().delete(child)
        await asyncio.sleep(1)
        assert reconciler.names.count("parent") == 3

    run_story(tmp_path, story)


def test_class_6_a_deletion_that_a_finalizer_holds_up_requests_a_pass(tmp_path):
    """A finalizer keeps the object; its deletion timestamp causes a pass all the same."""

    async def story(world: RuntimeWorld) -> None:
        held = config("held")
        metadata = msgspec.structs.replace(held.metadata, finalizers=("example.com/held",))
        made = await world.client().create(msgspec.structs.replace(held, metadata=metadata))
        reconciler = Reconciling()
        world.start(world.controller(reconciler))
        await asyncio.sleep(1)
        await world.client().delete(made)
        await asyncio.sleep(1)
        assert reconciler.names.count("held") == 2
        assert (await world.client().get(ConfigMap, "held", "default")).deleting

    run_story(tmp_path, story)


def test_trap_1_5_a_change_in_the_hub_asks_for_the_project_it_names(tmp_path):
    """The request keeps the project's name, although the change was seen in another role."""

    async def story(world: RuntimeWorld) -> None:
        async with hub(world) as clusters:
            reconciler = Reconciling()
            controller = world.controller(reconciler, [mapped(ConfigMap, clusters, to_project)])
            world.start(controller)
            await world.client(B).create(config("copy", {"project": "a"}))
            await asyncio.sleep(1)
            assert Request(A, "default", "copy") in reconciler.asked
            assert controller.synced

    run_story(tmp_path, story)


def test_trap_1_5_a_request_for_a_cluster_that_is_not_engaged_is_dropped(tmp_path, caplog):
    """It is counted and logged at debug level; once the cluster is engaged its own watch requests it."""
    caplog.set_level(logging.DEBUG)

    async def story(world: RuntimeWorld) -> None:
        async with hub(world) as clusters:
            reconciler = Reconciling()
            sources = [own(ConfigMap, world.projects), mapped(ConfigMap, clusters, to_project)]
            controller = world.controller(reconciler, sources)
            world.start(controller)
            await world.client(B).create(config("copy", {"project": "b"}))
            await asyncio.sleep(1)
            assert "copy" not in reconciler.names
            assert controller.counters.dropped == 1
            await world.engage(B)
            await asyncio.sleep(1)
            assert Request(B, "default", "copy") in reconciler.asked

    run_story(tmp_path, story)
    dropped = [r for r in caplog.records if r.message.startswith("request dropped")]
    assert (dropped[0].request, dropped[0].levelname) == ("b/default/copy", "DEBUG")


def test_a_disengaged_cluster_causes_no_more_requests(tmp_path):
    """What waits for it is forgotten; when it is engaged again its objects are reconciled from the start."""

    async def story(world: RuntimeWorld) -> None:
        reconciler = Reconciling()
        controller = world.controller(reconciler)
        await world.write("one")
        await asyncio.sleep(1)
        await world.projects.disengage(A)
        world.start(controller)
        await asyncio.sleep(60)
        assert reconciler.asked == []
        assert controller.synced
        await world.engage(A)
        await asyncio.sleep(1)
        assert reconciler.names.count("one") == 1

    run_story(tmp_path, story)


def test_a_pass_ends_when_its_cluster_leaves(tmp_path, caplog):
    """It is stopped where it stands, without an error and without another try."""
    caplog.set_level(logging.INFO)
    ended = []

    async def reconcile(_: Request) -> Result | None:
        try:
            await asyncio.sleep(50)
        finally:
            ended.append(asyncio.get_running_loop().time())
        return None

    async def story(world: RuntimeWorld) -> None:
        await world.write("one")
        controller = world.controller(Reconciling(reconcile))
        world.start(controller)
        await asyncio.sleep(10)
        await world.projects.disengage(A)
        await asyncio.sleep(100)
        assert controller.counters.errors == 0
        assert controller.counters.active == 0
        assert len(controller.queue) == 0

    run_story(tmp_path, story)
    assert set(ended) == {10.0}


def test_the_passes_of_other_clusters_go_on_when_one_leaves(tmp_path):
    """Only the passes of the disengaged cluster are stopped."""
    finished = []

    async def reconcile(request: Request) -> Result | None:
        await asyncio.sleep(20)
        finished.append(request.cluster)
        return None

    async def story(world: RuntimeWorld) -> None:
        await world.engage(B)
        await world.write("one", A)
        await world.write("one", B)
        world.start(world.controller(Reconciling(reconcile)))
        await asyncio.sleep(10)
        await world.projects.disengage(A)
        await asyncio.sleep(100)

    run_story(tmp_path, story)
    assert set(finished) == {B}


def test_a_hanging_cluster_does_not_hold_every_worker(tmp_path):
    """Of four workers one cluster can have three, so that the others get their passes."""

    async def reconcile(request: Request) -> Result | None:
        if request.cluster == A:
            await asyncio.sleep(30)
        return None

    async def story(world: RuntimeWorld) -> None:
        await world.engage(B)
        for number in range(8):
            await world.write(f"hanging-{number}", A)
        reconciler = Reconciling(reconcile)
        world.start(world.controller(reconciler, settings=ControllerSettings(workers=4)))
        await asyncio.sleep(5)
        await world.write("one", B)
        await asyncio.sleep(0.01)
        assert Request(B, "default", "one") in reconciler.asked

    run_story(tmp_path, story)


def test_a_role_that_leaves_is_not_listened_to_any_more(tmp_path):
    """A controller whose sources are elsewhere drops a hub that was disengaged."""

    async def story(world: RuntimeWorld) -> None:
        reconciler = Reconciling()
        async with hub(world) as clusters:
            controller = world.controller(reconciler, [mapped(ConfigMap, clusters, to_project)])
            world.start(controller)
        await world.client(B).create(config("copy", {"project": "a"}))
        await asyncio.sleep(60)
        assert "copy" not in reconciler.names
        assert controller.synced

    run_story(tmp_path, story)
