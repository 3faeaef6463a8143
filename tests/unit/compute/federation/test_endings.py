"""What happens when something goes: the object, its binding, its Work, the whole hub."""

import pytest

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.decide.federation.policies import policy
from compute.federation import engine, karmada_keys
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    change,
    is_ready,
    member,
    of_kinds,
    remove,
    report,
    run_story,
    run_story_with_links,
    send,
    sent,
    settle,
    work,
    written,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

HELD = ("example.com/busy",)
BINDING = names.resource_binding(WD, "WorkloadDeployment")


async def works(stage: Stage) -> list[str]:
    """The Works for anything but namespaces."""
    every = (await stage.client("hub").every(Work)).items
    return [w.metadata.name for w in every if karmada_keys.BINDING_NAME in w.metadata.annotations]


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_what_is_deleted_on_the_hub_goes_from_the_cell(tmp_path, copies):
    """Binding and Work go too, and nothing is left."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        await report(stage)
        await settle(stage)
        await remove(stage, "hub", made)
        await stage.gone("dfw", WorkloadDeployment, WD, NS, 1.0)
        await stage.gone("hub", ResourceBinding, BINDING, NS, 1.0)
        await settle(stage)
        assert await works(stage) == []
        assert await stage.quiet() == []

    run_story(tmp_path, story, copies=copies)


def test_the_work_stays_until_the_copy_has_really_gone(tmp_path):
    """A machine that takes its time to stop is not forgotten by the hub."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        await arrived(stage)
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=HELD))
        await remove(stage, "hub", made)
        await settle(stage)
        assert (await arrived(stage)).deleting
        assert (await work(stage)).deleting
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=()))
        await settle(stage)
        assert await works(stage) == []

    run_story(tmp_path, story)


def test_what_is_made_anew_while_the_old_copy_dies_comes_after_it(tmp_path):
    """The new one gets a copy of its own, as soon as the old one has gone."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        old = await arrived(stage)
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=HELD))
        await remove(stage, "hub", made)
        await stage.gone("hub", WorkloadDeployment, WD, NS)
        again = await stage.client("hub").create(sent())
        await settle(stage)
        assert (await arrived(stage)).metadata.uid == old.metadata.uid
        await change(stage, "dfw", sent(), lambda wd: with_meta(wd, finalizers=()))
        await settle(stage)
        new = (await arrived(stage)).metadata
        assert new.uid != old.metadata.uid
        assert new.annotations[karmada_keys.TEMPLATE_UID] == again.metadata.uid

    run_story(tmp_path, story)


def test_a_finalizer_on_the_hub_holds_the_copy(tmp_path):
    """What the hub still has, the cell still has."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        await arrived(stage)
        await change(stage, "hub", made, lambda wd: with_meta(wd, finalizers=HELD))
        await remove(stage, "hub", made)
        await settle(stage)
        assert not (await arrived(stage)).deleting
        await change(stage, "hub", made, lambda wd: with_meta(wd, finalizers=()))
        await stage.gone("dfw", WorkloadDeployment, WD, NS, 1.0)

    run_story(tmp_path, story)


def test_a_binding_that_was_deleted_by_hand_stops_nothing(tmp_path):
    """It is created again, finds its cluster again, and the copy does not change."""

    async def story(stage: Stage) -> None:
        await send(stage)
        binding = await bound(stage, lambda rb: rb.status.aggregated_status)
        home = binding.spec.clusters[0].name
        copy = await arrived(stage, home)
        await remove(stage, "hub", binding)
        again = await bound(stage, lambda rb: rb.metadata.uid != binding.metadata.uid)
        await settle(stage)
        assert (await bound(stage)).spec.clusters == binding.spec.clusters
        assert (await arrived(stage, home)).metadata.uid == copy.metadata.uid
        label = again.metadata.labels[karmada_keys.BINDING_ID]
        assert (await arrived(stage, home)).metadata.labels[karmada_keys.BINDING_ID] == label

    run_story(tmp_path, story, "dfw", "dfw-2", "dfw-3")


def test_a_work_that_was_deleted_by_hand_is_carried_out_and_made_anew(tmp_path):
    """A deleted Work deletes the copy in the cell; the binding sends it again."""

    async def story(stage: Stage) -> None:
        await send(stage)
        copy = await arrived(stage)
        await remove(stage, "hub", await work(stage))
        await settle(stage)
        assert (await arrived(stage)).metadata.uid != copy.metadata.uid

    run_story(tmp_path, story)


def test_a_copy_that_has_another_owner_by_now_is_not_deleted(tmp_path):
    """Only what a Work made goes with it."""

    async def story(stage: Stage) -> None:
        hub, place = stage.client("hub"), ObjectMeta(name="conf", namespace=NS)
        await stage.named("dfw", Namespace, NS, "")
        await stage.client("dfw").create(ConfigMap(metadata=place, data={"whose": "theirs"}))
        made = await hub.create(ConfigMap(metadata=place))
        await hub.create(of_kinds(ConfigMap))
        await settle(stage)
        await hub.delete(made)
        await settle(stage)
        assert await works(stage) == []
        assert await stage.client("dfw").find(ConfigMap, "conf", NS) is not None

    run_story(tmp_path, story)


def test_what_is_to_be_kept_becomes_the_cells_own(tmp_path):
    """A policy may say that copies outlive the object; no mark of the hub is left on them."""

    async def story(stage: Stage) -> None:
        hub, place = stage.client("hub"), ObjectMeta(name="conf", namespace=NS)
        made = await hub.create(ConfigMap(metadata=place, data={"a": "1"}))
        await hub.create(of_kinds(ConfigMap, preserve_resources_on_deletion=True))
        await stage.named("dfw", ConfigMap, "conf", NS)
        await hub.delete(made)
        await settle(stage)
        kept = await stage.client("dfw").get(ConfigMap, "conf", NS)
        assert kept.data == {"a": "1"}
        assert (kept.metadata.labels, kept.metadata.annotations) == ({}, {})
        assert await works(stage) == []

    run_story(tmp_path, story)


def test_a_hub_that_was_lost_deletes_nothing_and_finds_its_copies_again(tmp_path):
    """An empty hub changes nothing in its cells; objects created again on it take over the copies."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        await settle(stage)
        copy = await arrived(stage)
        await stage.role("hub").disengage(cluster_name("hub"))
        await stage.engage("hub", "new-hub")
        new = stage.client("new-hub")
        await new.create(member())
        await stage.named("new-hub", type(member()), "dfw", "", is_ready)
        await settle(stage)
        assert not (await arrived(stage)).deleting
        await new.create(Namespace(metadata=ObjectMeta(name=NS, labels={"of": "shop"})))
        again = await new.create(sent())
        await new.create(policy("DFW", NS))
        await stage.named(
            "new-hub", WorkloadDeployment, WD, NS, lambda wd: wd.status == copy.status
        )
        await settle(stage)
        now = (await arrived(stage)).metadata
        assert now.uid == copy.metadata.uid
        assert now.annotations[karmada_keys.TEMPLATE_UID] == again.metadata.uid
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_a_deletion_that_a_cell_missed_reaches_it_when_it_is_back(tmp_path):
    """The Work waits on the hub for as long as it takes, and nothing else does."""

    async def story(stage: Stage, links) -> None:
        made = await send(stage)
        await arrived(stage)
        links["dfw"].cut()
        await remove(stage, "hub", made)
        await stage.gone("hub", ResourceBinding, BINDING, NS)
        before = await settle(stage, 600.0)
        assert (await work(stage)).deleting
        await stage.quiet(3600.0)
        assert written(stage, before) == []
        links["dfw"].heal()
        await stage.gone("dfw", WorkloadDeployment, WD, NS, 30.0)
        await settle(stage)
        assert await works(stage) == []

    run_story_with_links(tmp_path, story)


def test_an_object_may_go_while_its_work_is_already_going(tmp_path):
    """In any order of the events, everything is deleted."""

    async def story(stage: Stage, links) -> None:
        made = await send(stage)
        await arrived(stage)
        links["dfw"].cut()
        await remove(stage, "hub", await work(stage))
        await remove(stage, "hub", made)
        await stage.gone("hub", ResourceBinding, BINDING, NS)
        links["dfw"].heal()
        await stage.gone("dfw", WorkloadDeployment, WD, NS)
        await settle(stage)
        assert await works(stage) == []

    run_story_with_links(tmp_path, story)


def test_a_cell_that_shows_only_our_data_is_enough(tmp_path):
    """The engine need not see the settings and secrets of others, nor take them over unseen."""

    async def story(stage: Stage) -> None:
        hub, mine = stage.client("hub"), ObjectMeta(name="mine", namespace=NS)
        theirs = ObjectMeta(name="theirs", namespace=NS)
        await stage.named("dfw", Namespace, NS, "")
        await stage.client("dfw").create(ConfigMap(metadata=theirs, data={"whose": "theirs"}))
        made = [await hub.create(ConfigMap(metadata=meta)) for meta in (mine, theirs)]
        await hub.create(of_kinds(ConfigMap))
        await stage.named("dfw", ConfigMap, "mine", NS)
        await settle(stage)
        assert await stage.quiet() == []
        for each in made:
            await hub.delete(each)
        await stage.gone("dfw", ConfigMap, "mine", NS)
        await settle(stage)
        assert (await stage.client("dfw").get(ConfigMap, "theirs", NS)).data["whose"] == "theirs"
        assert await works(stage) == []

    run_story(tmp_path, story, parts=engine.CELL_SELECTORS)
