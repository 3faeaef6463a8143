"""From a Workload to Instances in cities, and their health back in the project."""

import pytest

from compute.api import annotations, finalizers, labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.core import Namespace
from compute.api.karmada import PropagationPolicy
from compute.api.networking import NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import ResourceClaim
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    is_served,
    reason_of,
    told,
    with_image,
    with_replicas,
    workload,
)


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

    told(story)


def test_health_reaches_the_project_by_watches_alone():
    """From the provider's word to the Workload's status no timer is waited for."""

    async def story(world: Watched) -> None:
        await world.user.create(workload(cities=("DFW",)))
        await world.served("web", seconds=2.0)

    told(story)


def test_a_deployment_is_on_the_hub_with_its_policy():
    """The hub's copy carries the city, and the city's policy selects it and the cells of it."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space = await world.space()
        hub = world.client("hub")
        copy = await hub.get(WorkloadDeployment, "web-home-dfw", space)
        policy = await hub.get(PropagationPolicy, "city-dfw", space)
        namespace = await hub.get(Namespace, space)
        city = {labels.TOPOLOGY_CITY_CODE: "DFW"}
        assert copy.metadata.labels.items() >= city.items()
        selector = policy.spec.resource_selectors[0].label_selector
        affinity = policy.spec.placement.cluster_affinity
        assert selector is not None
        assert selector.match_labels == city
        assert affinity is not None
        assert affinity.label_selector is not None
        assert affinity.label_selector.match_labels == city
        assert namespace.metadata.labels[labels.UPSTREAM_CLUSTER] == f"cluster-{PROJECT}"
        assert namespace.metadata.labels[labels.UPSTREAM_NAMESPACE] == "default"

    told(story)


def test_every_plane_agrees_on_two_cities():
    """Cell, hub and project have the same Instances; copies and projections know their owners."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        space = await world.space()
        for city in ("dfw", "lhr"):
            name = f"web-home-{city}-0"
            there = await world.client(city).get(Instance, name, space)
            copy = await world.client("hub").get(Instance, name, space)
            shown = await world.user.get(Instance, name, "default")
            assert there.status == copy.status == shown.status
            assert shown.metadata.labels[labels.UPSTREAM_CLUSTER] == f"cluster-{PROJECT}"
            owner = await world.client("hub").get(WorkloadDeployment, f"web-home-{city}", space)
            (reference,) = copy.metadata.owner_references
            assert (reference.uid, reference.controller) == (owner.metadata.uid, True)
            mine = await world.user.get(WorkloadDeployment, f"web-home-{city}", "default")
            (reference,) = shown.metadata.owner_references
            assert reference.uid == mine.metadata.uid
            assert mine.metadata.annotations[annotations.FEDERATION_NAMESPACE] == space
            assert finalizers.FEDERATOR in mine.metadata.finalizers

    told(story)


def test_a_policy_goes_with_the_last_deployment_of_its_city():
    """It stays while another deployment of the city is there."""

    async def story(world: Watched) -> None:
        await world.deploy(workload("one", cities=("DFW",)))
        await world.deploy(workload("two", cities=("DFW",)))
        space, hub = await world.space(), world.client("hub")
        await world.user.delete(await world.user.get(Workload, "one", "default"))
        await world.gone(PROJECT, Workload, "one", "default")
        await world.rest()
        await hub.get(PropagationPolicy, "city-dfw", space)
        await world.user.delete(await world.user.get(Workload, "two", "default"))
        await world.gone("hub", PropagationPolicy, "city-dfw", space)

    told(story)


def test_a_policy_that_is_changed_or_deleted_is_repaired():
    """W21: nothing but the policy itself is touched, and it is as it was."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space, hub = await world.space(), world.client("hub")
        policy = await hub.get(PropagationPolicy, "city-dfw", space)
        await hub.delete(policy)
        again = await world.named("hub", PropagationPolicy, "city-dfw", space)
        assert again.metadata.uid != policy.metadata.uid
        assert again.spec == policy.spec

    told(story)


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

    told(story)


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

    told(story)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_bad_image_is_repaired_by_a_new_template(policy):
    """W41: what never became ready stands in nobody's way, and its cause is told at every level."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2, instance_management_policy=policy))
        await world.change("web", with_image("registry.test/does-not-exist:1"))
        bad = await world.named(
            PROJECT, Workload, "web", true=lambda w: "cannot be pulled" in str(w.status.conditions)
        )
        assert not is_served(bad)
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")

    told(story)
