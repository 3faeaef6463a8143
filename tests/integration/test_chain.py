"""From a Workload to Instances in cities, and their health back in the project."""

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.networking import NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import ResourceClaim
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    reason_of,
    run_story,
    with_replicas,
    workload,
)
from tests.support.compute import builders


def test_a_workload_is_served_in_every_city():
    """Each city runs its own Instances, and the project sees all of them Ready."""

    async def story(world: Watched) -> None:
        served = await world.deploy(workload(replicas=2))
        assert served.status.deployments == 3
        assert reason_of(served, "Available") == "AvailablePlacementFound"
        for city in ("dfw", "lhr", "sin"):
            assert await world.instances(city) == [f"web-home-{city}-0", f"web-home-{city}-1"]
        shown = (await world.user.every(Instance)).items
        assert len(shown) == 6
        assert all(map(is_ready, shown))
        assert all(i.status.network_interfaces[0].assignments.network_ip for i in shown)

    run_story(story)


def test_a_workload_is_one_deployment_for_each_place_that_it_names():
    """Each has the template and the scale of its placement, and belongs to the Workload."""
    asked = (
        builders.placement("edge", "DFW", "LHR", replicas=2),
        builders.placement("core", "SIN", replicas=1, instance_management_policy="Parallel"),
    )

    async def story(world: Watched) -> None:
        made = await world.user.create(builders.workload("web", *asked))
        await world.served("web")
        found = {d.metadata.name: d for d in (await world.user.every(WorkloadDeployment)).items}
        assert {name: (d.spec.placement_name, d.spec.city_code) for name, d in found.items()} == {
            "web-edge-dfw": ("edge", "DFW"),
            "web-edge-lhr": ("edge", "LHR"),
            "web-core-sin": ("core", "SIN"),
        }
        scales = {placement.name: placement.scale_settings for placement in asked}
        for deployment in found.values():
            spec, meta = deployment.spec, deployment.metadata
            assert spec.template == made.spec.template
            assert spec.scale_settings == scales[spec.placement_name]
            assert (spec.workload_ref.name, spec.workload_ref.uid) == ("web", made.metadata.uid)
            assert meta.labels[labels.WORKLOAD_UID] == made.metadata.uid
            assert [o.uid for o in meta.owner_references if o.controller] == [made.metadata.uid]

    run_story(story)


def test_health_reaches_the_project_by_watches_alone():
    """From the provider's word to the Workload's status no timer is waited for."""

    async def story(world: Watched) -> None:
        await world.user.create(workload(cities=("DFW",)))
        await world.served("web", seconds=2.0)

    run_story(story)


def test_w21_a_policy_that_is_changed_is_repaired():
    """Nothing but the policy itself is touched, and it is as it was."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space, hub = await world.space(), world.client("hub")
        policy = await hub.get(PropagationPolicy, "city-dfw", space)
        before = await world.client("dfw").get(Instance, "web-home-dfw-0", space)
        placement = msgspec.structs.replace(policy.spec.placement, cluster_affinity=None)
        spec = msgspec.structs.replace(policy.spec, placement=placement)
        await hub.patch(policy, msgspec.structs.replace(policy, spec=spec))
        again = await world.named(
            "hub", PropagationPolicy, "city-dfw", space, lambda p: p.spec == policy.spec
        )
        assert again.metadata.uid == policy.metadata.uid
        await world.rest()
        assert await world.client("dfw").get(Instance, "web-home-dfw-0", space) == before
        assert await world.instances("lhr") == await world.instances("sin") == []

    run_story(story)


def test_deleting_a_workload_empties_every_plane():
    """Deployments, Instances, copies, projections, claims and networks go; the Workload goes last."""
    everything = (
        Workload,
        WorkloadDeployment,
        Instance,
        PropagationPolicy,
        ResourceClaim,
        NetworkBinding,
        NetworkContext,
        SubnetClaim,
        Subnet,
    )

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=2))
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default")
        left = await world.left(WorkloadDeployment, Instance, ResourceClaim)
        assert left == {}
        await world.rest()
        assert await world.left(*everything) == {}

    run_story(story)


def test_scaling_up_and_down():
    """New ordinals come above, the highest go first, and nothing of them is left."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=1))
        await world.change("web", with_replicas(3))
        await world.served("web")
        assert await world.instances("dfw") == [f"web-home-dfw-{n}" for n in range(3)]
        await world.change("web", with_replicas(1))
        await world.served("web")
        await world.rest()
        for plane in ("dfw", "hub", PROJECT):
            assert await world.instances(plane) == ["web-home-dfw-0"]
        claims = (await world.user.every(ResourceClaim)).items
        assert [c.metadata.name for c in claims] == [names.claim("web-home-dfw-0")]

    run_story(story)
