"""Cells that join and leave the federation."""

import pytest

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.api.karmada_work import Work
from compute.federation import karmada_keys
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import Namespace
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    change,
    member,
    remove,
    report,
    run_story,
    run_story_with_links,
    send,
    sent,
    settle,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

PLACE = names.execution_namespace("dfw")


async def nothing_left(stage: Stage) -> None:
    await stage.gone("hub", MemberCluster, "dfw")
    await stage.gone("hub", Namespace, PLACE)
    await stage.gone("hub", Lease, "dfw", karmada_keys.CLUSTER_NAMESPACE)


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_a_member_has_a_place_on_the_hub(tmp_path, copies):
    """A namespace for its Works, and a finalizer until the namespace is deleted."""

    async def story(stage: Stage) -> None:
        cluster = await stage.client("hub").get(MemberCluster, "dfw")
        assert cluster.metadata.finalizers == (karmada_keys.CLUSTER,)
        assert await stage.client("hub").find(Namespace, PLACE) is not None

    run_story(tmp_path, story, copies=copies)


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_a_member_that_leaves_lets_go_of_everything(tmp_path, copies):
    """Its copies and namespaces go, then its place on the hub, then itself."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await remove(stage, "hub", member())
        await nothing_left(stage)
        await stage.gone("dfw", WorkloadDeployment, WD, NS)
        await stage.gone("dfw", Namespace, NS)
        assert (await bound(stage)).spec.clusters == ()
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story, copies=copies)


def test_what_a_leaving_member_had_goes_to_another_of_its_city(tmp_path):
    """The city is served for as long as it has a cell."""

    async def story(stage: Stage) -> None:
        await send(stage)
        home = (await bound(stage, lambda rb: rb.spec.clusters)).spec.clusters[0].name
        other = "dfw-2" if home == "dfw" else "dfw"
        await arrived(stage, home)
        await remove(stage, "hub", member(home))
        await arrived(stage, other)
        await stage.gone("hub", MemberCluster, home)
        assert await stage.client(home).find(WorkloadDeployment, WD, NS) is None
        await report(stage, other)
        await stage.named(
            "hub", WorkloadDeployment, WD, NS, lambda wd: wd.status.ready_replicas == 1
        )

    run_story(tmp_path, story, "dfw", "dfw-2")


def test_a_member_that_leaves_waits_for_its_machines(tmp_path):
    """A copy that is still being removed in the cell holds its Cluster."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        held = ("example.com/busy",)
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=held))
        await remove(stage, "hub", member())
        await settle(stage)
        assert (await stage.client("hub").get(MemberCluster, "dfw")).deleting
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=()))
        await nothing_left(stage)

    run_story(tmp_path, story)


def test_a_silent_member_is_let_go_as_it_is(tmp_path):
    """A cell that is lost permanently can be removed; its deployments move to another cell."""

    async def story(stage: Stage, links) -> None:
        await send(stage)
        home = (await bound(stage, lambda rb: rb.spec.clusters)).spec.clusters[0].name
        other = "dfw-2" if home == "dfw" else "dfw"
        copy = await arrived(stage, home)
        links[home].cut()
        await remove(stage, "hub", member(home))
        await stage.gone("hub", MemberCluster, home)
        await arrived(stage, other)
        assert (await arrived(stage, home)).metadata.uid == copy.metadata.uid

    run_story_with_links(tmp_path, story, "dfw", "dfw-2")


def test_a_member_that_comes_back_takes_its_copies_over(tmp_path):
    """A cell that was removed while unreachable, and joins again, keeps its copies."""

    async def story(stage: Stage, links) -> None:
        await send(stage)
        copy = await arrived(stage)
        links["dfw"].cut()
        await remove(stage, "hub", member())
        await stage.gone("hub", MemberCluster, "dfw", seconds=120.0)
        await settle(stage)
        links["dfw"].heal()
        await stage.client("hub").create(member())
        await bound(stage, lambda rb: rb.status.aggregated_status)
        await settle(stage)
        assert (await arrived(stage)).metadata.uid == copy.metadata.uid
        assert await stage.quiet() == []

    run_story_with_links(tmp_path, story)


def test_works_of_a_cluster_that_is_gone_hold_nothing_up(tmp_path):
    """A Cluster that was removed by force leaves no Works behind."""

    async def story(stage: Stage, links) -> None:
        await send(stage)
        await arrived(stage)
        links["dfw"].cut()
        await remove(stage, "hub", member())
        await change(stage, "hub", member(), lambda c: with_meta(c, finalizers=()))
        await stage.gone("hub", MemberCluster, "dfw")
        await settle(stage)
        left = (await stage.client("hub").every(Work, PLACE)).items
        assert [
            w for w in left if w.deleting or karmada_keys.BINDING_NAME in w.metadata.annotations
        ] == []

    run_story_with_links(tmp_path, story)
