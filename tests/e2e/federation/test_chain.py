"""The suites of the original, one test each, with every process and every plane as in production.

As there, deployments are made in the project by hand. tests/integration/test_acceptance.py tells the
same in one process, where time passes at will.
"""

import pytest
from msgspec.structs import replace

from compute.api import annotations, finalizers, labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.networking import Network
from compute.decide.conditions import status_of
from compute.decide.deployment.template import build_instance
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.e2e.federation.real_stage import SINGLE, PlatformStage
from tests.peers.stack.assembly import HUB, PROJECT
from tests.support.compute.user_stage import is_ready

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

UPSTREAM = f"cluster-{SINGLE}"
CITY = {labels.TOPOLOGY_CITY_CODE: "DFW"}


async def on_hub(stage: PlatformStage, name: str = "web") -> WorkloadDeployment:
    return await stage.named(HUB, WorkloadDeployment, name, await stage.hub_namespace())


async def withdraw(stage: PlatformStage, name: str = "web") -> None:
    await stage.user.delete(await stage.user.get(WorkloadDeployment, name, stage.namespace))


async def ready(stage: PlatformStage, name: str = "web-0") -> Instance:
    return await stage.named(PROJECT, Instance, name, stage.namespace, is_ready)


def test_workload_deployment_federation(play):
    """A deployment is on the hub with its city, in the project's own namespace, with a policy."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        space = await stage.hub_namespace()

        copy = await on_hub(stage)
        assert copy.metadata.labels.items() >= CITY.items()
        room = await stage.client(HUB).get(Namespace, space)
        assert room.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM
        assert room.metadata.labels[labels.UPSTREAM_NAMESPACE] == stage.namespace

        policy = await stage.named(HUB, PropagationPolicy, "city-dfw", space)
        (selector,) = policy.spec.resource_selectors
        assert selector.label_selector is not None
        assert selector.label_selector.match_labels == CITY
        affinity = policy.spec.placement.cluster_affinity
        assert affinity is not None
        assert affinity.label_selector is not None
        assert affinity.label_selector.match_labels == CITY

    play(story)


def test_propagation_policy_lifecycle(play):
    """A city's policy stays with the second deployment, and goes with it."""

    async def story(stage: PlatformStage) -> None:
        space = await stage.hub_namespace()
        for name in ("one", "two"):
            await stage.deploy_by_hand(name)
        for name in ("one", "two"):
            await on_hub(stage, name)
        first = await stage.named(HUB, PropagationPolicy, "city-dfw", space)

        await withdraw(stage, "one")
        await stage.gone(HUB, WorkloadDeployment, "one", space)
        await stage.gone(PROJECT, WorkloadDeployment, "one", stage.namespace)
        still = await stage.client(HUB).get(PropagationPolicy, "city-dfw", space)
        assert still.metadata.uid == first.metadata.uid

        await withdraw(stage, "two")
        await stage.gone(HUB, PropagationPolicy, "city-dfw", space)

    play(story)


def test_deletion_cascade(play):
    """What the project deletes leaves the hub and the cell; the project's object goes last."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        await ready(stage)
        space = await stage.hub_namespace()

        await withdraw(stage)
        await stage.gone(PROJECT, WorkloadDeployment, "web", stage.namespace)
        for plane in (HUB, "dfw"):
            for kind in (WorkloadDeployment, Instance):
                assert (await stage.client(plane).every(kind, space)).items == ()

    play(story)


def test_instance_writeback(play):
    """An Instance that an operator made in a cell is on the hub, labelled as its namespace is there."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        space, cell = await stage.hub_namespace(), stage.client("dfw")
        parent = await stage.named("dfw", WorkloadDeployment, "web", space)
        await ready(stage)
        bare = build_instance(parent, 7, ())
        foreign = bare.metadata.labels | {labels.DEPLOYMENT_UID: "unknown"}
        metadata = ObjectMeta(name=bare.metadata.name, namespace=space, labels=foreign)
        mine = await cell.create(replace(bare, metadata=metadata))

        copy = await stage.named(HUB, Instance, "web-7", space)
        room = await stage.client(HUB).get(Namespace, space)
        for key in (labels.UPSTREAM_CLUSTER, labels.UPSTREAM_NAMESPACE):
            assert copy.metadata.labels[key] == room.metadata.labels[key]
        await cell.delete(mine)
        await stage.gone(HUB, Instance, "web-7", space)

    play(story)


def test_instance_projection(play):
    """An Instance that an operator put on the hub is in the project, and belongs to its deployment."""

    async def story(stage: PlatformStage) -> None:
        mine = await stage.deploy_by_hand()
        space, there = await stage.hub_namespace(), await on_hub(stage)
        made = build_instance(there, 7, ())
        linked = made.metadata.labels | {
            labels.UPSTREAM_CLUSTER: UPSTREAM,
            labels.UPSTREAM_NAMESPACE: stage.namespace,
        }
        metadata = ObjectMeta(name=made.metadata.name, namespace=space, labels=linked)
        copy = await stage.client(HUB).create(replace(made, metadata=metadata))

        shown = await stage.named(PROJECT, Instance, "web-7", stage.namespace)
        assert shown.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM
        (owner,) = shown.metadata.owner_references
        assert (owner.kind, owner.name, owner.uid) == (mine.kind, "web", mine.metadata.uid)
        await stage.client(HUB).delete(copy)
        await stage.gone(PROJECT, Instance, "web-7", stage.namespace)

    play(story)


@pytest.mark.parametrize("city", ["DFW", "LHR"])
def test_full_federation(play, city):
    """Down to the cell of the city and no other, and the Instance's health all the way back."""

    async def story(stage: PlatformStage) -> None:
        cell, space = city.lower(), await stage.hub_namespace()
        await stage.deploy_by_hand(city=city)
        await ready(stage)
        counted = await stage.named(
            PROJECT,
            WorkloadDeployment,
            "web",
            stage.namespace,
            lambda d: (d.status.ready_replicas, d.status.desired_replicas) == (1, 1),
        )
        assert status_of(counted.status.conditions, "Available") == "True"
        for plane in (cell, HUB):
            there = await stage.client(plane).get(Instance, "web-0", space)
            assert is_ready(there)
        shown = await stage.user.get(Instance, "web-0", stage.namespace)
        assert shown.metadata.labels[labels.UPSTREAM_CLUSTER] == UPSTREAM
        (other,) = set(stage.stack.cells) - {cell}
        assert await stage.machines(other) == {}

    play(story)


def test_federation_ownership(play):
    """The project notes where its copy is, and holds on to it. The hub's Instance has no owner.

    So the garbage collector leaves it until its machine has stopped, and the project shows that.
    """

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        await ready(stage)
        space = await stage.hub_namespace()
        await on_hub(stage)

        mine = await stage.user.get(WorkloadDeployment, "web", stage.namespace)
        assert mine.metadata.annotations[annotations.FEDERATION_NAMESPACE] == space
        assert finalizers.FEDERATOR in mine.metadata.finalizers
        copy = await stage.client(HUB).get(Instance, "web-0", space)
        assert copy.metadata.owner_references == ()

    play(story)


def test_federation_reclaim_without_cell(play):
    """What is deleted while a cell is dead leaves project and hub; the cell follows when it is back."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        await ready(stage)
        space = await stage.hub_namespace()

        async with stage.without("dfw-kube-apiserver", "dfw-manager-0"):
            await stage.cell_is("dfw", "False")
            await withdraw(stage)
            await stage.gone(PROJECT, WorkloadDeployment, "web", stage.namespace)
            await stage.gone(PROJECT, Instance, "web-0", stage.namespace)
            await stage.gone(HUB, WorkloadDeployment, "web", space)
            await stage.gone(HUB, Instance, "web-0", space)
        for kind in (WorkloadDeployment, Instance):
            name = "web" if kind is WorkloadDeployment else "web-0"
            await stage.gone("dfw", kind, name, space)

    play(story)


def test_namespace_deletion(play):
    """A whole namespace of the project can be deleted: it ends, and so does what it had elsewhere."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy_by_hand()
        await ready(stage)
        space = await stage.hub_namespace()

        await stage.user.delete(await stage.user.get(Namespace, stage.namespace))
        await stage.gone(PROJECT, Namespace, stage.namespace)
        for plane in (HUB, "dfw", "lhr"):
            await stage.gone(plane, Namespace, space)
        assert await stage.user.find(Network, "default", stage.namespace) is None

    play(story)
