"""The fields of a policy are applied as Karmada applies them, or refused by the hub."""

import msgspec
import pytest

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy, SuspendClusters, Suspension, Taint
from compute.api.karmada_work import BindingSuspension, ResourceBinding, Work
from compute.decide.federation.policies import policy
from kubekit.api.errors import Invalid
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    change,
    condition_of,
    member,
    of_kinds,
    remove,
    report,
    run_story,
    scaled,
    send,
    sent,
    settle,
    work,
    written,
)
from tests.support.kubekit.stage import Stage

HELD = Suspension(dispatching=True)
OF_DFW = policy("DFW", NS)
PLACE = ObjectMeta(name="conf", namespace=NS)


def with_spec(of, **changes):
    return msgspec.structs.replace(of, spec=msgspec.structs.replace(of.spec, **changes))


async def suspend(stage: Stage, suspension: Suspension | None) -> None:
    await change(stage, "hub", OF_DFW, lambda it: with_spec(it, suspension=suspension))


async def asked(stage: Stage, cell: str = "dfw") -> int:
    """How many Instances the copy in a cell is for."""
    return (await arrived(stage, cell)).spec.scale_settings.min_replicas


def test_a_suspended_change_stays_on_the_hub_while_the_status_still_comes_back(tmp_path):
    """The Work has it and says that it is held; once that is lifted the cell gets it at once."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await suspend(stage, HELD)
        await settle(stage)
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 5))
        await report(stage, ready=1)
        await stage.named("hub", WorkloadDeployment, WD, NS, lambda wd: wd.status.ready_replicas)
        assert await asked(stage) == 1
        held = await work(stage)
        assert held.spec.workload.manifests[0]["spec"]["scaleSettings"]["minReplicas"] == 5
        dispatching = condition_of(held, "Dispatching")
        assert (dispatching.status, dispatching.reason) == ("False", "SuspendDispatching")
        assert condition_of(held, "Applied").status == "True"
        await settle(stage)
        assert await stage.quiet() == []
        await suspend(stage, None)
        await stage.until(lambda: _is(stage, 5))
        assert condition_of(await work(stage), "Dispatching").reason == "Dispatching"
        assert (await work(stage)).spec.suspend_dispatching is None

    run_story(tmp_path, story)


async def _is(stage: Stage, replicas: int) -> bool:
    return await asked(stage) == replicas


def test_nothing_is_made_in_a_cell_while_dispatching_is_suspended(tmp_path):
    """A deployment that arrives meanwhile has its Work, and no copy."""

    async def story(stage: Stage) -> None:
        await stage.client("hub").create(with_spec(OF_DFW, suspension=HELD))
        await stage.client("hub").create(sent())
        assert (await work(stage)).spec.suspend_dispatching is True
        await settle(stage)
        assert (await stage.client("dfw").every(WorkloadDeployment)).items == ()
        assert (await work(stage)).status.manifest_statuses == ()
        await suspend(stage, None)
        await arrived(stage)

    run_story(tmp_path, story)


def test_a_copy_that_is_edited_or_deleted_in_a_suspended_cell_stays_so(tmp_path):
    """Nothing is repaired until dispatching goes on; what was reported last stays."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        await suspend(stage, HELD)
        await settle(stage)
        await change(stage, "dfw", sent(), lambda wd: scaled(wd, 9))
        await settle(stage)
        assert await asked(stage) == 9
        await remove(stage, "dfw", sent())
        await settle(stage)
        assert (await stage.client("dfw").every(WorkloadDeployment)).items == ()
        assert len((await work(stage)).status.manifest_statuses) == 1
        await suspend(stage, None)
        await stage.until(lambda: _is(stage, 1))

    run_story(tmp_path, story)


def test_a_suspended_copy_still_ends_with_its_object(tmp_path):
    """To suspend holds back what is new, not the end."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        copy = await arrived(stage)
        await suspend(stage, HELD)
        await settle(stage)
        await remove(stage, "hub", made)
        await stage.gone("dfw", WorkloadDeployment, copy.metadata.name, NS)
        binding = names.resource_binding(WD, "WorkloadDeployment")
        await stage.gone("hub", ResourceBinding, binding, NS)

    run_story(tmp_path, story)


def test_dispatching_can_be_suspended_for_one_of_several_cells(tmp_path):
    """The other gets its change."""
    both = of_kinds(ConfigMap)
    everywhere = msgspec.structs.replace(both.spec.placement, spread_constraints=())

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        await hub.create(ConfigMap(metadata=PLACE, data={"a": "1"}))
        one = Suspension(dispatching_on_clusters=SuspendClusters(cluster_names=("dfw",)))
        await hub.create(with_spec(both, suspension=one, placement=everywhere))
        await stage.named("lhr", ConfigMap, "conf", NS)
        await settle(stage)
        assert await stage.client("dfw").find(ConfigMap, "conf", NS) is None

    run_story(tmp_path, story, "dfw", "lhr")


def test_an_abort_turned_into_an_overwrite_takes_what_stands_in_the_way(tmp_path):
    """The same object, once its policy says so."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        await stage.named("dfw", Namespace, NS, "")
        await stage.client("dfw").create(ConfigMap(metadata=PLACE, data={"whose": "theirs"}))
        await hub.create(ConfigMap(metadata=PLACE, data={"whose": "ours"}))
        abort = await hub.create(of_kinds(ConfigMap))
        blocked = await stage.named(
            "hub", ResourceBinding, "conf-configmap", NS, lambda b: b.status.aggregated_status
        )
        (item,) = blocked.status.aggregated_status
        assert item.applied is False
        assert "set conflictResolution: Overwrite" in item.applied_message
        kept = await stage.client("dfw").get(ConfigMap, "conf", NS)
        assert kept.data == {"whose": "theirs"}
        await change(stage, "hub", abort, lambda it: with_spec(it, conflict_resolution="Overwrite"))
        await stage.named(
            "dfw", ConfigMap, "conf", NS, lambda it: it.data == {"whose": "ours"}, 1.0
        )

    run_story(tmp_path, story)


def test_a_cell_chosen_before_is_kept_while_scheduling_is_suspended(tmp_path):
    """A taint moves it only once scheduling goes on; changes are still sent."""

    async def story(stage: Stage) -> None:
        await send(stage)
        before = await bound(stage, lambda b: b.spec.clusters)
        (home,) = [target.name for target in before.spec.clusters]
        other = "dfw" if home == "lhr" else "lhr"
        still = BindingSuspension(scheduling=True)
        await change(stage, "hub", before, lambda it: with_spec(it, suspension=still))
        out = Taint(key="down", effect="NoExecute")
        await change(stage, "hub", member(home), lambda it: with_spec(it, taints=(out,)))
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 3))
        await settle(stage)
        assert await asked(stage, home) == 3
        assert (await bound(stage)).spec.suspension == still
        await change(stage, "hub", before, lambda it: with_spec(it, suspension=None))
        await arrived(stage, other)

    run_story(tmp_path, story, "dfw", "lhr")


def test_a_cell_that_leaves_while_scheduling_is_suspended_is_not_sent_to(tmp_path):
    """It lets go of everything and is gone, though the binding still names it."""

    async def story(stage: Stage) -> None:
        await send(stage)
        before = await bound(stage, lambda b: b.spec.clusters)
        still = BindingSuspension(scheduling=True)
        await change(stage, "hub", before, lambda it: with_spec(it, suspension=still))
        await settle(stage)
        await remove(stage, "hub", member("dfw"))
        await stage.gone("hub", MemberCluster, "dfw", "")
        since = await settle(stage)
        assert (await stage.client("dfw").every(WorkloadDeployment)).items == ()
        assert written(stage, since) == []

    run_story(tmp_path, story)


def test_a_binding_of_another_scheduler_is_left_to_it(tmp_path):
    """It goes where that one says, and is sent there."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        await hub.create(with_spec(OF_DFW, scheduler_name="theirs"))
        await hub.create(sent())
        waiting = await bound(stage)
        await settle(stage)
        assert (await bound(stage)).spec.clusters == ()
        assert (await bound(stage)).status.conditions == ()
        assert (await hub.every(Work, names.execution_namespace("dfw"))).items != ()
        chosen = msgspec.convert([{"name": "dfw"}], type(waiting.spec.clusters))
        await change(stage, "hub", waiting, lambda it: with_spec(it, clusters=chosen))
        await arrived(stage)

    run_story(tmp_path, story)


REFUSED = {
    "failover": ({"failover": {"cluster": {}}}, "no failover"),
    "overrides": ({"dependentOverrides": ["mine"]}, "no override policies"),
    "lazy activation": ({"activationPreference": "Lazy"}, "no lazy activation"),
    "groups of clusters": (
        {"placement": {"clusterAffinities": [{"affinityName": "one"}]}},
        "no groups of clusters",
    ),
    "eviction after a time": (
        {"placement": {"clusterTolerations": [{"key": "a", "tolerationSeconds": 5}]}},
        "no eviction after a time",
    ),
    "two suspensions": (
        {"suspension": {"dispatching": True, "dispatchingOnClusters": {"clusterNames": ["dfw"]}}},
        "cannot be set together",
    ),
    "another field of clusters": (
        {
            "placement": {
                "clusterAffinity": {
                    "fieldSelector": {
                        "matchExpressions": [{"key": "name", "operator": "In", "values": ["a"]}]
                    }
                }
            }
        },
        'supported values: "provider", "region", "zone"',
    ),
}


def test_what_the_engine_cannot_carry_out_is_refused_by_its_hub(tmp_path):
    """Nothing is accepted in silence; the refusal says what is missing."""

    async def story(stage: Stage) -> None:
        place = ResourceLocation(PropagationPolicy.RESOURCE, NS)
        for spec, why in REFUSED.values():
            raw = msgspec.to_builtins(OF_DFW)
            raw["spec"] |= spec
            with pytest.raises(Invalid, match=why):
                await stage.client("hub").raw.create(place, raw, PLAIN_WRITE)

    run_story(tmp_path, story)


def test_the_scheduler_of_a_policy_cannot_be_changed(tmp_path):
    """As Karmada's own admission has it."""

    async def story(stage: Stage) -> None:
        await stage.client("hub").create(OF_DFW)
        with pytest.raises(Invalid, match="schedulerName cannot be changed"):
            await change(stage, "hub", OF_DFW, lambda it: with_spec(it, scheduler_name="b"))

    run_story(tmp_path, story)
