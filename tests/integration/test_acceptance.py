"""The end-to-end suites of the original, one test each and under their names, on the whole world.

As there, deployments are made in the project by hand, so that no Workload is in the way. Beyond
what the original could see, everything here has quota, networks and a provider that starts machines.
"""

import asyncio

import msgspec
import pytest

from compute.api import annotations, finalizers, labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.networking import Network
from compute.api.quota import ResourceClaim
from compute.decide.conditions import status_of
from compute.decide.deployment.template import build_instance
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.integration.worlds import PROJECT, Watched, is_ready, run_story
from tests.support.compute import builders

CITIES = ("DFW", "ORD")
UPSTREAM = f"cluster-{PROJECT}"


async def deploy(
    world: Watched, name: str = "web", city: str = "DFW", namespace: str = "default"
) -> WorkloadDeployment:
    """A deployment of one Instance, made by hand."""
    made = builders.deployment(name=name, namespace=namespace, uid="", generation=0)
    spec = msgspec.structs.replace(made.spec, city_code=city)
    return await world.user.create(msgspec.structs.replace(made, spec=spec))


async def withdraw(world: Watched, name: str = "web") -> None:
    await world.user.delete(await world.user.get(WorkloadDeployment, name, "default"))


async def on_hub(world: Watched, name: str = "web") -> WorkloadDeployment:
    return await world.named("hub", WorkloadDeployment, name, await world.space(), seconds=30.0)


async def ready(world: Watched, name: str = "web-0") -> Instance:
    """The Instance as the project sees it, once it serves."""
    return await world.named(PROJECT, Instance, name, true=is_ready)


def unready(instance: Instance) -> bool:
    return status_of(instance.status.conditions, "Ready") == "False"


def test_workload_deployment_federation():
    """A deployment is on the hub with its city, in the project's own namespace, with a policy."""

    async def story(world: Watched) -> None:
        await deploy(world)
        space, city = await world.space(), {labels.TOPOLOGY_CITY_CODE: "DFW"}

        copy = await on_hub(world)
        assert copy.metadata.labels.items() >= city.items()
        room = await world.client("hub").get(Namespace, space)
        assert room.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM
        assert room.metadata.labels[labels.UPSTREAM_NAMESPACE] == "default"

        policy = await world.named("hub", PropagationPolicy, "city-dfw", space, seconds=30.0)
        (selector,) = policy.spec.resource_selectors
        assert selector.kind == WorkloadDeployment.RESOURCE.kind
        assert selector.label_selector is not None
        assert selector.label_selector.match_labels == city
        affinity = policy.spec.placement.cluster_affinity
        assert affinity is not None
        assert affinity.label_selector is not None
        assert affinity.label_selector.match_labels == city

    run_story(story, CITIES)


def test_propagation_policy_lifecycle():
    """A city's policy stays with the second deployment, and goes with it."""

    async def story(world: Watched) -> None:
        space = await world.space()
        for name in ("one", "two"):
            await deploy(world, name)
        for name in ("one", "two"):
            await on_hub(world, name)
        first = await world.named("hub", PropagationPolicy, "city-dfw", space)

        await withdraw(world, "one")
        await world.gone("hub", WorkloadDeployment, "one", space, 30.0)
        await asyncio.sleep(8)
        still = await world.client("hub").get(PropagationPolicy, "city-dfw", space)
        assert still.metadata.uid == first.metadata.uid

        await withdraw(world, "two")
        await world.gone("hub", PropagationPolicy, "city-dfw", space, 30.0)

    run_story(story, CITIES)


def test_deletion_cascade():
    """What the project deletes leaves the hub, and every cell."""

    async def story(world: Watched) -> None:
        await deploy(world)
        await ready(world)
        space = await world.space()

        await withdraw(world)
        await world.gone("hub", WorkloadDeployment, "web", space, 30.0)
        await world.gone("dfw", WorkloadDeployment, "web", space, 30.0)
        await world.gone(PROJECT, WorkloadDeployment, "web", "default", 30.0)
        await world.rest()
        assert await world.left(WorkloadDeployment, Instance) == {}

    run_story(story, CITIES)


def test_instance_writeback():
    """An Instance that an operator made in a cell is on the hub, labelled as its namespace is there."""

    async def story(world: Watched) -> None:
        await deploy(world)
        space, cell = await world.space(), world.client("dfw")
        parent = await world.named("dfw", WorkloadDeployment, "web", space)
        bare = build_instance(parent, 7, ())
        foreign = bare.metadata.labels | {labels.DEPLOYMENT_UID: "unknown"}
        metadata = ObjectMeta(name=bare.metadata.name, namespace=space, labels=foreign)
        await cell.create(msgspec.structs.replace(bare, metadata=metadata))

        copy = await world.named("hub", Instance, "web-7", space)
        room = await world.client("hub").get(Namespace, space)
        for key in (labels.UPSTREAM_CLUSTER, labels.UPSTREAM_NAMESPACE):
            assert copy.metadata.labels[key] == room.metadata.labels[key]

    run_story(story, CITIES)


def test_instance_projection():
    """An Instance that an operator put on the hub is in the project, and belongs to its deployment."""

    async def story(world: Watched) -> None:
        mine = await deploy(world)
        space, there = await world.space(), await on_hub(world)
        made = build_instance(there, 7, ())
        linked = made.metadata.labels | {
            labels.UPSTREAM_CLUSTER: UPSTREAM,
            labels.UPSTREAM_NAMESPACE: "default",
        }
        metadata = ObjectMeta(name=made.metadata.name, namespace=space, labels=linked)
        await world.client("hub").create(msgspec.structs.replace(made, metadata=metadata))

        shown = await world.named(PROJECT, Instance, "web-7")
        assert shown.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM
        (owner,) = shown.metadata.owner_references
        assert (owner.kind, owner.name, owner.uid) == (mine.kind, "web", mine.metadata.uid)

    run_story(story, CITIES)


@pytest.mark.parametrize("city", CITIES)
def test_full_federation(city):
    """Down to the cell of the city and no other, and the Instance's health all the way back."""

    async def story(world: Watched) -> None:
        cell, space = city.lower(), await world.space()
        await world.set_provider(cell, startSeconds="90")
        await deploy(world, city=city)
        await on_hub(world)
        for plane in (cell, "hub"):
            await world.named(
                plane,
                WorkloadDeployment,
                "web",
                space,
                lambda d: (d.status.replicas, d.status.desired_replicas) == (1, 1),
            )
        await world.named(cell, Instance, "web-0", space, unready)
        copy = await world.named("hub", Instance, "web-0", space, unready)
        shown = await world.named(PROJECT, Instance, "web-0", "default", unready)
        for each in (copy, shown):
            assert each.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM

        await world.named(PROJECT, Instance, "web-0", "default", is_ready, seconds=120.0)
        await world.rest()
        original = await world.client(cell).get(Instance, "web-0", space)
        copy = await world.client("hub").get(Instance, "web-0", space)
        shown = await world.user.get(Instance, "web-0", "default")
        assert original.status == copy.status == shown.status
        counted = await world.user.get(WorkloadDeployment, "web", "default")
        assert (counted.status.ready_replicas, counted.status.replicas) == (1, 1)
        (other,) = {each.lower() for each in CITIES} - {cell}
        assert await world.instances(other) == []

    run_story(story, CITIES)


def test_federation_ownership():
    """The project notes where its copy is, and holds on to it. The hub's Instance has no owner.

    In the original the hub's deployment owned it, so it was gone while its machine still stopped.
    """

    async def story(world: Watched) -> None:
        await deploy(world)
        await ready(world)
        space, there = await world.space(), await on_hub(world)

        mine = await world.user.get(WorkloadDeployment, "web", "default")
        assert mine.metadata.annotations[annotations.FEDERATION_NAMESPACE] == space
        assert finalizers.FEDERATOR in mine.metadata.finalizers
        copy = await world.client("hub").get(Instance, "web-0", space)
        assert copy.metadata.owner_references == ()
        assert copy.metadata.labels[labels.DEPLOYMENT_NAME] == there.metadata.name

    run_story(story, CITIES)


def test_federation_hub_reclaim():
    """A copy goes with the hub's deployment, and none comes back while that is gone.

    The controllers that would create the deployment again, or withdraw it from the cell, are paused.
    """

    async def story(world: Watched) -> None:
        await deploy(world)
        await ready(world)
        space, hub = await world.space(), world.client("hub")
        for part in ("management", "engine"):
            await world.world.pause(part)

        await hub.delete(await on_hub(world))
        await world.gone("hub", Instance, "web-0", space, 300.0)
        here = await world.client("dfw").get(Instance, "web-0", space)
        assert not here.deleting
        assert [each for each in await world.quiet(100) if each[0] == "hub"] == []
        assert await world.instances("hub") == []

        for part in ("management", "engine"):
            await world.world.resume(part)
        await on_hub(world)
        await world.named("hub", Instance, "web-0", space, is_ready)
        await ready(world)

    run_story(story, CITIES)


def test_federation_reclaim_without_cell():
    """Deployment and copies vanish from project and hub though no controller runs in the cell.

    The project waits for the cell at first, since it answers, and its machines may yet be stopped.
    """

    async def story(world: Watched) -> None:
        await deploy(world)
        await ready(world)
        space = await world.space()
        await world.world.pause("cell dfw")

        await withdraw(world)
        await world.gone("hub", WorkloadDeployment, "web", space)
        await world.gone(PROJECT, WorkloadDeployment, "web", "default", 310.0)
        await world.gone("hub", Instance, "web-0", space)
        await world.gone(PROJECT, Instance, "web-0", "default")
        assert await world.instances("dfw") == ["web-0"]

        await world.world.resume("cell dfw")
        await world.rest()
        assert await world.left(WorkloadDeployment, Instance, ResourceClaim) == {}

    run_story(story, CITIES)


def test_federation_finalizer_no_wedge():
    """A whole namespace of the project can be deleted: it ends, and its deployment leaves the hub."""

    async def story(world: Watched) -> None:
        await world.user.create(Namespace(metadata=ObjectMeta(name="team")))
        network = await world.user.get(Network, "default", "default")
        metadata = ObjectMeta(name="default", namespace="team")
        await world.user.create(Network(metadata=metadata, spec=network.spec))
        await deploy(world, namespace="team")
        space = await world.space(namespace="team")
        await world.named(PROJECT, Instance, "web-0", "team", is_ready)
        await world.client("hub").get(WorkloadDeployment, "web", space)

        await world.user.delete(await world.user.get(Namespace, "team"))
        await world.gone(PROJECT, Namespace, "team")
        await world.gone("hub", WorkloadDeployment, "web", space)
        await world.rest()
        assert await world.left(WorkloadDeployment, Instance) == {}

    run_story(story, CITIES)
