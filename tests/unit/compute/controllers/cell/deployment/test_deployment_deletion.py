"""The deletion of a deployment, in any order of events."""

import asyncio
from pathlib import Path

from compute.api import finalizers
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.networking import NetworkBinding
from compute.decide.conditions import find
from compute.decide.deployment.template import build_instance
from kubekit.api.kinds.core import Namespace
from tests.support.compute.builders import deployment
from tests.support.compute.cell_neighbours import NAMESPACE, PLANE, Cell, cell, scaled
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

NAME = "web-home-dfw"


async def gone(at: Cell) -> None:
    await at.stage.gone(PLANE, WorkloadDeployment, NAME, NAMESPACE)


def test_w12_a_deployment_is_released_after_its_instances(tmp_path: Path) -> None:
    """A deployment being deleted stays, and counts down, until its last Instance is gone."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3))
        present = await at.ready(3)
        at.machines.stopping = 5.0
        await at.client.delete(present)
        await asyncio.sleep(1)
        going = await at.client.get(WorkloadDeployment, NAME, NAMESPACE)
        assert all(one.deleting for one in await at.instances())
        assert (going.status.desired_replicas, going.status.replicas) == (0, 3)
        reported = find(going.status.conditions, "Available")
        assert reported is not None
        assert (reported.reason, reported.message) == (
            "Stopping",
            "Being removed; instances left: 3",
        )
        await gone(at)
        assert await at.names() == []
        await stage.gone(PLANE, NetworkBinding, f"{NAME}-net-0", NAMESPACE)

    staged(tmp_path, story)


def test_a_deployment_is_deleted_during_startup(tmp_path: Path) -> None:
    """Instances that are starting are deleted with the deployment, and no other is created."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 30.0
        present = await at.deploy(deployment(3, policy="Parallel"))
        await stage.named(PLANE, Instance, f"{NAME}-2", NAMESPACE)
        await at.client.delete(present)
        await gone(at)
        assert await at.names() == []
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_nothing_is_created_for_a_deployment_that_is_gone(tmp_path: Path) -> None:
    """A deployment that only the cache still has creates nothing: it is read live before."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        present = await at.ready(1)
        at.transport.hold("WorkloadDeployment")
        free = await at.client.patch(present, with_meta(present, finalizers=()))
        await at.client.delete(free)
        (left,) = await at.instances()
        await stage.gone(PLANE, Instance, left.metadata.name, NAMESPACE)
        await asyncio.sleep(300)
        assert await at.names() == []
        at.transport.hold()
        await stage.rest()
        assert await at.names() == []

    staged(tmp_path, story)


def test_a_successor_is_not_treated_as_its_predecessor(tmp_path: Path) -> None:
    """While the cache shows the predecessor, the Instances of its successor are left alone."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        first = await at.ready(1)
        at.transport.hold("WorkloadDeployment")
        free = await at.client.patch(first, with_meta(first, finalizers=()))
        await at.client.delete(free)
        await stage.gone(PLANE, Instance, f"{NAME}-0", NAMESPACE)
        second = await at.deploy(deployment(image="registry.test/web:2"))
        made = await at.client.create(build_instance(second, 0, ()))
        await asyncio.sleep(300)
        assert [one.metadata.uid for one in await at.instances()] == [made.metadata.uid]
        at.transport.hold()
        await at.ready(1)
        assert [one.metadata.uid for one in await at.instances()] == [made.metadata.uid]

    staged(tmp_path, story)


def test_instances_deleted_behind_the_cache_are_no_error(tmp_path: Path) -> None:
    """To delete an Instance that is gone, or was replaced, harms and blocks nothing."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3, policy="Parallel"))
        present = await at.ready(3)
        at.transport.hold("Instance")
        for old in (await at.instances())[1:]:
            free = await at.client.patch(old, with_meta(old, finalizers=()))
            await at.client.delete(free)
        twin = await at.client.create(build_instance(present, 2, ()))
        await at.client.patch(
            await at.client.get(WorkloadDeployment, NAME, NAMESPACE), scaled(present, 1)
        )
        done = await at.reported(lambda one: one.status.desired_replicas == 1)
        assert done.status.replicas == 1
        assert await at.client.get(Instance, twin.metadata.name, NAMESPACE) == twin
        at.transport.hold()
        await stage.gone(PLANE, Instance, twin.metadata.name, NAMESPACE)
        await at.ready(1)
        assert await at.names() == [f"{NAME}-0"]

    staged(tmp_path, story)


def test_a_deployment_of_the_same_name_is_another(tmp_path: Path) -> None:
    """A deployment that is deleted and created again at once gets its own Instances."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2))
        first = await at.ready(2)
        before = [one.metadata.uid for one in await at.instances()]
        await at.client.delete(first)
        await gone(at)
        await at.deploy(deployment(2))
        await at.ready(2)
        after = [one.metadata.uid for one in await at.instances()]
        assert not set(before) & set(after)

    staged(tmp_path, story)


def test_a_deployment_waits_for_instances_that_the_cache_does_not_show(tmp_path: Path) -> None:
    """The finalizer stays while a live read shows Instances, even if the cache has none."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        present = await at.deploy(deployment(0))
        await at.reported(lambda one: one.metadata.finalizers)
        await stage.rest()
        at.transport.hold("Instance")
        at.machines.stopping = 60.0
        hidden = build_instance(present, 0, ())
        hidden = await at.client.create(with_meta(hidden, finalizers=(finalizers.CLAIM,)))
        await at.client.delete(await at.client.get(WorkloadDeployment, NAME, NAMESPACE))
        await asyncio.sleep(30)
        assert await at.client.find(WorkloadDeployment, NAME, NAMESPACE) is not None
        at.transport.hold()
        await gone(at)
        assert await at.names() == []

    staged(tmp_path, story)


def test_instances_may_be_deleted_before_their_deployment(tmp_path: Path) -> None:
    """A namespace that is deleted in any order leaves nothing behind."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3))
        await at.ready(3)
        await at.client.delete(await at.client.get(Namespace, NAMESPACE))
        await gone(at)
        await stage.gone(PLANE, Namespace, NAMESPACE)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_two_controllers_remove_a_deployment_together(tmp_path: Path) -> None:
    """A delete of one replica is no error for the other."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, copies=2)
        await at.deploy(deployment(3))
        await at.client.delete(await at.ready(3))
        await gone(at)
        assert await at.names() == []

    staged(tmp_path, story)
