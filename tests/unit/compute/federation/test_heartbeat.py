"""Whether cells answer, and what happens while they do not."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.federation import engine
from kubekit.api import times
from kubekit.api.kinds.coordination import Lease
from kubekit.client.client import Client, K
from kubekit.plane.local import LocalClient
from kubekit.runtime.requests import cluster_name
from tests.support.compute.engine_builders import (
    NS,
    WD,
    bound,
    change,
    condition_of,
    engage,
    is_ready,
    member,
    planes,
    report,
    run_story,
    run_story_with_links,
    scaled,
    send,
    sent,
    settle,
    start,
    written,
)
from tests.support.kubekit.stage import Stage, staged

PLACE = "karmada-cluster"


async def renewed(stage: Stage, cell: str = "dfw"):
    lease = await stage.client("hub").get(Lease, cell, PLACE)
    return times.parse(lease.spec.renew_time or "")


def is_unknown(cluster: MemberCluster) -> bool:
    return condition_of(cluster, "Ready").status == "Unknown"


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_a_cell_that_answers_renews_its_lease_every_ten_seconds(tmp_path, copies):
    """The lease is all that is written at rest, and no oftener for two that write it."""

    async def story(stage: Stage) -> None:
        await settle(stage)
        before = len(stage.writes)
        await asyncio.sleep(600.0)
        kinds = [kind.rpartition("/")[2] for _, kind, _ in stage.writes[before:]]
        assert set(kinds) == {"leases"}
        assert 55 <= len(kinds) <= 61
        assert stage.environment.now() - await renewed(stage) <= timedelta(seconds=10)
        lease = await stage.client("hub").get(Lease, "dfw", PLACE)
        assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == ("dfw", 40)

    run_story(tmp_path, story, copies=copies)


def test_a_cell_that_is_cut_off_is_unknown_after_forty_seconds(tmp_path):
    """Not before, and with the time of its last answer; once the link is back, it is ready within ten."""

    async def story(stage: Stage, links) -> None:
        links["dfw"].cut()
        cut = stage.environment.now()
        silent = await stage.named("hub", MemberCluster, "dfw", "", is_unknown, 60.0)
        last = await renewed(stage)
        assert timedelta(seconds=30) <= stage.environment.now() - cut <= timedelta(seconds=42)
        said = condition_of(silent, "Ready")
        assert said.reason == "ClusterStatusUnknown"
        assert said.message == f"the cell has not answered since {times.format_time(last)}"
        await settle(stage)
        assert await stage.quiet() == []
        assert await renewed(stage) == last
        links["dfw"].heal()
        await stage.named("hub", MemberCluster, "dfw", "", is_ready, 10.5)

    run_story_with_links(tmp_path, story)


def test_a_shorter_timeout_probes_more_often(tmp_path):
    """A cell that answers stays ready, and its Lease is written less often than in a conflict loop."""

    async def story(stage: Stage) -> None:
        await stage.client("hub").create(member())
        engine_controllers = engine.controllers(planes(stage), stage.factory, timedelta(seconds=5))
        stage.start(*engine_controllers)
        await engage(stage, "dfw")
        await stage.named("hub", MemberCluster, "dfw", "", is_ready)
        lease = await stage.client("hub").get(Lease, "dfw", PLACE)
        assert lease.spec.lease_duration_seconds == 5
        await asyncio.sleep(600.0)
        assert is_ready(await stage.client("hub").get(MemberCluster, "dfw"))
        assert stage.environment.now() - await renewed(stage) <= timedelta(seconds=2.5)
        await stage.role("cell").disengage(cluster_name("dfw"))
        gone = stage.environment.now()
        await stage.named("hub", MemberCluster, "dfw", "", is_unknown, 10.0)
        assert timedelta(seconds=2.5) <= stage.environment.now() - gone <= timedelta(seconds=7)

    staged(tmp_path, story, ("hub", "hub"))


def test_nothing_moves_while_a_cell_is_only_unreachable(tmp_path):
    """Its instances keep running, and no other cell runs them; the status on the hub stays."""

    async def story(stage: Stage, links) -> None:
        await send(stage)
        binding = await bound(stage, lambda rb: rb.status.aggregated_status)
        home = binding.spec.clusters[0].name
        other = "dfw-2" if home == "dfw" else "dfw"
        await report(stage, home)
        await settle(stage)
        links[home].cut()
        await stage.named("hub", MemberCluster, home, "", is_unknown)
        await settle(stage, 3600.0)
        assert (await bound(stage)).spec.clusters == binding.spec.clusters
        assert await stage.client(other).find(WorkloadDeployment, WD, NS) is None
        hub = await stage.client("hub").get(WorkloadDeployment, WD, NS)
        assert hub.status.ready_replicas == 1

    run_story_with_links(tmp_path, story, "dfw", "dfw-2")


def test_a_silent_cell_is_given_nothing_new(tmp_path):
    """New deployments go to the cell that answers; with none, they wait for one that does."""

    async def story(stage: Stage, links) -> None:
        links["dfw"].cut()
        await stage.named("hub", MemberCluster, "dfw", "", is_unknown)
        await send(stage)
        binding = await bound(stage, lambda rb: rb.status.conditions)
        said = condition_of(binding, "Scheduled")
        assert (said.reason, said.message) == ("NoClusterFit", "of 1 known, 1 not ready")
        links["dfw"].heal()
        await stage.named("dfw", WorkloadDeployment, WD, NS, seconds=11.0)

    run_story_with_links(tmp_path, story)


@pytest.mark.parametrize("seconds", [20.0, 7200.0], ids=["short", "long"])
def test_a_cell_that_returns_gets_and_tells_only_what_changed(tmp_path, seconds):
    """What changed on the hub reaches the cell, what changed in the cell reaches the hub."""

    async def story(stage: Stage, links) -> None:
        await send(stage)
        await send(stage, "api-home-dfw")
        await report(stage)
        await settle(stage)
        links["dfw"].cut()
        await change(stage, "hub", sent("api-home-dfw"), lambda wd: scaled(wd, 3))
        await report(stage, ready=0)
        await asyncio.sleep(seconds)
        await settle(stage)
        before = len(stage.writes)
        links["dfw"].heal()
        await stage.named(
            "dfw",
            WorkloadDeployment,
            "api-home-dfw",
            NS,
            lambda wd: wd.spec.scale_settings.min_replicas == 3,
            30.0,
        )
        await stage.named(
            "hub", WorkloadDeployment, WD, NS, lambda wd: wd.status.ready_replicas == 0, 60.0
        )
        await settle(stage)
        assert written(stage, before).count("dfw workloaddeployments") == 1
        assert written(stage, before).count("hub workloaddeployments") == 1

    run_story_with_links(tmp_path, story)


def test_a_world_that_starts_anew_gives_its_cells_time(tmp_path):
    """That no engine ran for an hour says nothing about the cells."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        await hub.create(member())
        start(stage)
        await engage(stage, "dfw")
        await stage.named("hub", MemberCluster, "dfw", "", is_ready)
        lease = await hub.get(Lease, "dfw", PLACE)
        hour = times.format_micro(stage.environment.now() - timedelta(hours=1))
        await stage.role("cell").disengage(cluster_name("dfw"))
        spec = msgspec.structs.replace(lease.spec, renew_time=hour)
        await hub.patch(lease, msgspec.structs.replace(lease, spec=spec))
        await asyncio.sleep(30.0)
        assert is_ready(await hub.get(MemberCluster, "dfw"))
        await stage.named("hub", MemberCluster, "dfw", "", is_unknown, 30.0)

    staged(tmp_path, story, ("hub", "hub"))


def test_a_cluster_that_never_answered_says_so(tmp_path):
    """A Cluster without a cell is not ready, and not for lack of waiting."""

    async def story(stage: Stage) -> None:
        await stage.client("hub").create(member("nowhere"))
        silent = await stage.named(
            "hub", MemberCluster, "nowhere", "", lambda c: c.status.conditions and is_unknown(c)
        )
        said = condition_of(silent, "Ready")
        assert said.message == "the cell has not answered yet"
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_a_lease_that_does_not_say_when_is_written_anew(tmp_path):
    """A field that was removed from a Lease must not stop the heartbeat."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        lease = await hub.get(Lease, "dfw", PLACE)
        spec = msgspec.structs.replace(lease.spec, renew_time=None)
        await hub.patch(lease, msgspec.structs.replace(lease, spec=spec))
        await asyncio.sleep(11.0)
        assert stage.environment.now() - await renewed(stage) <= timedelta(seconds=11)

    run_story(tmp_path, story)


class Hanging(LocalClient):
    """A cell that takes requests and never answers one."""

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        await asyncio.sleep(3600.0)
        return await super().get(kind, name, namespace)


def test_a_cell_that_hangs_does_not_hold_up_the_others(tmp_path):
    """Each is asked by itself, and waited for only so long."""

    async def story(stage: Stage) -> None:
        client: Client = Hanging(await stage.plane("hung"))
        await stage.role("cell").engage(cluster_name("hung"), client)
        await stage.client("hub").create(member("hung"))
        await stage.named(
            "hub", MemberCluster, "hung", "", lambda c: c.status.conditions and is_unknown(c), 90.0
        )
        assert stage.environment.now() - await renewed(stage) <= timedelta(seconds=11)

    run_story(tmp_path, story)
