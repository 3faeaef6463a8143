"""Bindings with stale caches: what is gone, or has changed, is not written again."""

from dataclasses import replace

import msgspec

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster as Member
from compute.api.karmada_work import ResourceBinding, TargetCluster, Work
from compute.federation import engine
from compute.federation.binder import Binder
from compute.federation.bindings import Bindings
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import K, Listing, UnreadableObject
from kubekit.client.options import EVERYTHING, ListOptions
from kubekit.plane.local import LocalClient
from tests.support.compute.engine_builders import (
    NS,
    WD,
    bound,
    member,
    remove,
    sent,
    work,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.stale_caches import (
    BINDING,
    HUB,
    PLACE,
    frozen,
    halted,
    reconcile_once,
    recreated,
    removed_at_once,
)
from tests.support.kubekit.stage import Stage


def test_nothing_is_bound_that_has_gone(tmp_path):
    """A binding is made only for an object that is there."""

    async def story(stage: Stage) -> None:
        await removed_at_once(stage, await bound(stage))
        late = await frozen(stage, "hub", "hub")
        await remove(stage, "hub", sent())
        await reconcile_once(Binder(WorkloadDeployment, late, stage.environment), HUB, NS, WD)
        assert (await stage.client("hub").list(ResourceBinding, NS)).items == ()

    halted(tmp_path, story)


def test_a_binding_that_was_deleted_by_mistake_is_back_in_the_same_moment(tmp_path):
    """Without a binding its Works would stay if their object were deleted."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        before = await bound(stage)
        await hub.delete(before)
        late = await frozen(stage, "hub", "hub")
        await reconcile_once(Bindings(engine.KINDS, late, stage.environment), HUB, NS, BINDING)

        again = await hub.get(ResourceBinding, BINDING, NS)
        assert again.metadata.uid != before.metadata.uid
        assert not again.deleting
        assert again.spec == before.spec
        kept = [before.metadata, again.metadata]
        assert kept[0].finalizers == kept[1].finalizers
        assert kept[0].owner_references == kept[1].owner_references
        assert kept[0].labels == kept[1].labels

    halted(tmp_path, story)


def test_nothing_is_dispatched_for_a_binding_that_has_gone(tmp_path):
    """A Work is made only for a binding that is there, of an object that is."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        made = await work(stage)
        await removed_at_once(stage, made)
        late = await frozen(stage, "hub", "hub")
        await hub.delete(await bound(stage))
        await reconcile_once(Bindings(engine.KINDS, late, stage.environment), HUB, NS, BINDING)
        assert await hub.find(Work, made.metadata.name, PLACE) is None

    halted(tmp_path, story)


def test_a_cluster_that_a_cache_lacks_is_looked_for(tmp_path):
    """What is placed stays where it is while the server knows the cluster."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        cluster = await hub.get(Member, "dfw")
        elsewhere = with_meta(cluster, labels={})
        cluster = await hub.patch(cluster, elsewhere)
        late = await frozen(stage, "hub", "hub")
        await hub.patch(cluster, with_meta(cluster, labels=member().metadata.labels))
        bindings = Bindings(engine.KINDS, late, stage.environment)
        await reconcile_once(bindings, HUB, NS, BINDING)
        assert [target.name for target in (await bound(stage)).spec.clusters] == ["dfw"]
        assert not (await work(stage)).deleting

    halted(tmp_path, story)


def test_a_work_is_not_withdrawn_from_a_cluster_that_is_named_by_now(tmp_path):
    """A Work is deleted only if the binding, as the server has it, does not name its cluster."""

    async def story(stage: Stage) -> None:
        hub, here = stage.client("hub"), await work(stage)
        there = names.execution_namespace("dfw-2")
        await hub.create(Namespace(metadata=ObjectMeta(name=there)))
        again = await hub.create(recreated(here, namespace=there))
        late = await frozen(stage, "hub", "hub")
        binding = await bound(stage)
        named = msgspec.structs.replace(binding.spec, clusters=(TargetCluster(name="dfw-2"),))
        await hub.patch(binding, msgspec.structs.replace(binding, spec=named))
        await reconcile_once(Bindings(engine.KINDS, late, stage.environment), HUB, NS, BINDING)
        assert not (await hub.get(Work, again.metadata.name, there)).deleting

    halted(tmp_path, story)


class Blurred(LocalClient):
    """A server with a Cluster that this release cannot decode."""

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        listed = await super().list(kind, namespace, options)
        if kind is not Member:
            return listed
        return replace(
            listed, items=(), unreadable=(UnreadableObject("", "dfw", "from the future"),)
        )


def test_a_cluster_that_cannot_be_read_keeps_what_it_has(tmp_path):
    """That a newer release wrote a Cluster is no reason to empty it."""

    async def story(stage: Stage) -> None:
        late = await frozen(stage, "hub", "hub", Blurred(stage.planes["hub"]))
        await reconcile_once(Bindings(engine.KINDS, late, stage.environment), HUB, NS, BINDING)
        assert [target.name for target in (await bound(stage)).spec.clusters] == ["dfw"]
        assert not (await work(stage)).deleting

    halted(tmp_path, story)
