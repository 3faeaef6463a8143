"""Which cell a deployment goes to, and when it moves."""

import msgspec

from compute.api import labels
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.decide.federation.policies import policy
from compute.federation import karmada_keys
from kubekit.api.meta import ObjectMeta
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    change,
    condition_of,
    engage,
    member,
    remove,
    run_story,
    send,
    sent,
    settle,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

BOTH = ("dfw", "dfw-2")


async def homes(stage: Stage, name: str = WD) -> list[str]:
    """The cells that have a copy."""
    return [c for c in BOTH if await stage.client(c).find(WorkloadDeployment, name, NS)]


async def placed(stage: Stage, name: str = WD) -> str:
    """The cell that a deployment goes to."""
    binding = await bound(stage, lambda rb: rb.spec.clusters, name)
    return binding.spec.clusters[0].name


def other(cell: str) -> str:
    return BOTH[cell == BOTH[0]]


def moved(cluster: MemberCluster) -> MemberCluster:
    return with_meta(cluster, labels={labels.TOPOLOGY_CITY_CODE: "LHR"})


def test_w62_two_cells_of_one_city_share_its_deployments(tmp_path):
    """Each deployment is in exactly one cell, and neither cell has them all."""

    async def story(stage: Stage) -> None:
        every = [f"web-home{n}-dfw" for n in range(12)]
        for name in every:
            await send(stage, name)
            await bound(stage, lambda rb: rb.status.aggregated_status, name)
        at = [await homes(stage, name) for name in every]
        assert all(len(cells) == 1 for cells in at)
        assert sorted(at.count([cell]) for cell in BOTH) == [6, 6]

    run_story(tmp_path, story, *BOTH)


def test_a_deployment_without_a_cell_says_so_and_goes_when_one_comes(tmp_path):
    """A city that no cell serves is reported on the binding; a cell that joins is used at once."""

    async def story(stage: Stage) -> None:
        await send(stage, "web-home-lhr", "LHR")
        binding = await bound(stage, lambda rb: rb.status.conditions, "web-home-lhr")
        said = condition_of(binding, "Scheduled")
        assert (said.status, said.reason) == ("False", "NoClusterFit")
        assert said.message == "of 1 known, 1 elsewhere"
        await settle(stage)
        assert await stage.quiet() == []
        await engage(stage, "lhr")
        await stage.client("hub").create(member("lhr", "LHR"))
        await arrived(stage, "lhr", "web-home-lhr")
        binding = await bound(stage, name="web-home-lhr")
        assert condition_of(binding, "Scheduled").status == "True"

    run_story(tmp_path, story)


def test_a_deployment_moves_when_its_cell_serves_another_city(tmp_path):
    """An object that no longer fits a cell is removed, and sent to one that fits; never to both."""

    async def story(stage: Stage) -> None:
        await send(stage)
        home = await placed(stage)
        await arrived(stage, home)
        await change(stage, "hub", member(home), moved)
        await arrived(stage, other(home))
        assert await homes(stage) == [other(home)]
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story, *BOTH)


def test_a_deployment_waits_until_the_old_cell_has_let_go(tmp_path):
    """Two cells that answer never have it at the same time."""

    async def story(stage: Stage) -> None:
        await send(stage)
        home = await placed(stage)
        await arrived(stage, home)
        held = await change(
            stage, home, sent(), lambda wd: with_meta(wd, finalizers=("example.com/busy",))
        )
        await change(stage, "hub", member(home), moved)
        await settle(stage)
        assert await homes(stage) == [home]
        await change(stage, home, held, lambda wd: with_meta(wd, finalizers=()))
        await arrived(stage, other(home))
        assert await homes(stage) == [other(home)]

    run_story(tmp_path, story, *BOTH)


def test_without_any_cell_left_the_copy_goes(tmp_path):
    """A cell that must not have it does not keep it for want of another."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await change(stage, "hub", member(), moved)
        await stage.gone("dfw", WorkloadDeployment, WD, NS)
        binding = await bound(stage)
        assert binding.spec.clusters == ()
        assert condition_of(binding, "Scheduled").reason == "NoClusterFit"

    run_story(tmp_path, story)


def named_policy(name: str, city: str) -> PropagationPolicy:
    made = policy("DFW", NS)
    affinity = policy(city, NS).spec.placement
    return msgspec.structs.replace(
        made,
        metadata=ObjectMeta(name=name, namespace=NS),
        spec=msgspec.structs.replace(made.spec, placement=affinity, priority=5),
    )


def test_a_claim_holds_while_its_policy_is_there(tmp_path):
    """A later policy takes nothing over, whatever its priority; when the first is gone it does."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        await arrived(stage)
        hub = stage.client("hub")
        await hub.create(named_policy("better", "SIN"))
        await settle(stage)
        claimed = await hub.get(WorkloadDeployment, WD, NS)
        assert claimed.metadata.annotations[karmada_keys.POLICY_NAME] == "city-dfw"
        first = await hub.get(PropagationPolicy, "city-dfw", NS)
        policy_id = claimed.metadata.labels[karmada_keys.POLICY_ID]
        assert policy_id == first.metadata.labels[karmada_keys.POLICY_ID]
        await hub.delete(first)
        await change(stage, "hub", made, lambda wd: with_meta(wd, annotations={}))
        await stage.gone("dfw", WorkloadDeployment, WD, NS)

    run_story(tmp_path, story)


def test_a_policy_that_goes_leaves_everything(tmp_path):
    """Copies stay without their policy, and still go with the object."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        copy = await arrived(stage)
        await remove(stage, "hub", policy("DFW", NS))
        await settle(stage)
        assert (await arrived(stage)).metadata.uid == copy.metadata.uid
        await remove(stage, "hub", made)
        await stage.gone("dfw", WorkloadDeployment, WD, NS)

    run_story(tmp_path, story)


def test_a_policy_may_come_after_the_object(tmp_path):
    """Who comes first does not matter."""

    async def story(stage: Stage) -> None:
        await stage.client("hub").create(sent())
        await settle(stage)
        await stage.client("hub").create(policy("DFW", NS))
        await arrived(stage)

    run_story(tmp_path, story)


def test_another_city_label_does_not_move_what_is_claimed(tmp_path):
    """As Karmada has it: a claimed object stays with its policy."""

    async def story(stage: Stage) -> None:
        await send(stage)
        copy = await arrived(stage)
        city = {labels.TOPOLOGY_CITY_CODE: "LHR"}
        await change(
            stage, "hub", sent(), lambda wd: with_meta(wd, labels=wd.metadata.labels | city)
        )
        await settle(stage)
        now = await arrived(stage)
        assert now.metadata.uid == copy.metadata.uid
        assert now.metadata.labels[labels.TOPOLOGY_CITY_CODE] == "LHR"

    run_story(tmp_path, story)


def test_a_policy_that_changes_is_followed(tmp_path):
    """What a policy says of clusters holds for what it has claimed before."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        lhr = policy("LHR", NS).spec.placement

        def elsewhere(it: PropagationPolicy) -> PropagationPolicy:
            return msgspec.structs.replace(it, spec=msgspec.structs.replace(it.spec, placement=lhr))

        await change(stage, "hub", policy("DFW", NS), elsewhere)
        await stage.gone("dfw", WorkloadDeployment, WD, NS)

    run_story(tmp_path, story)
