"""Copies of Instances whose deployment is gone from the hub."""

from datetime import timedelta

import pytest

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces
from compute.controllers.management.projector import controller as projector
from tests.support.compute.builders import NOW, instance
from tests.support.compute.management_builders import (
    CELL,
    WEB,
    ManagementWorld,
    held,
    set_up,
    upstream,
)

FIRST = f"{WEB}-0"


async def withdrawn(on: ManagementWorld) -> None:
    """A deployment with one copy, deleted in its project and on the hub."""
    on.start(federator.controllers, projector.controllers, namespaces.controllers)
    sent = await on.deploy()
    await on.project(held)
    await on.write_back()
    await on.shown()
    await on.stage.client("shop").delete(sent)
    await on.stage.gone("hub", WorkloadDeployment, WEB, on.hub_namespace)


def test_a_copy_outlives_its_deployment_until_its_cell_deletes_it(tmp_path):
    """Until then the project shows the Instance, and its deployment waits."""

    async def story(on: ManagementWorld) -> None:
        await on.cell("True", NOW)
        await withdrawn(on)
        await on.stage.quiet(240.0)
        await on.shown()
        assert (await on.project()).deleting
        hub = on.stage.client("hub")
        await hub.delete(await hub.get(Instance, FIRST, on.hub_namespace))

        await on.stage.gone("shop", Instance, FIRST, "default", 0.1)
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default", 0.1)

    set_up(tmp_path, story)


@pytest.mark.parametrize("ready", ["False", "Unknown", ""])
def test_the_copy_of_an_unreachable_cell_is_deleted_at_once(tmp_path, ready):
    """Nothing is known of its machine, and the cell may be gone indefinitely, as its Cluster may."""

    async def story(on: ManagementWorld) -> None:
        if ready:
            await on.cell(ready, NOW)
        await withdrawn(on)

        await on.stage.gone("hub", Instance, FIRST, on.hub_namespace, 0.1)
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default", 0.1)
        assert await on.stage.client("shop").find(Instance, FIRST, "default") is None

    set_up(tmp_path, story)


def test_the_copy_of_a_cell_that_becomes_unreachable_is_deleted(tmp_path):
    """The change of its Cluster is enough; no timer is waited for."""

    async def story(on: ManagementWorld) -> None:
        await on.cell("True", NOW)
        await withdrawn(on)
        await on.stage.quiet(30.0)
        await on.shown()
        await on.cell("Unknown", NOW + timedelta(seconds=60))

        await on.stage.gone("hub", Instance, FIRST, on.hub_namespace, 0.1)

    set_up(tmp_path, story)


def test_a_cell_that_does_nothing_has_five_minutes(tmp_path):
    """It is reachable, but its controllers may be down."""

    async def story(on: ManagementWorld) -> None:
        await on.cell("True", NOW)
        await withdrawn(on)
        await on.stage.quiet(295.0)
        await on.shown()
        await on.stage.quiet(10.0)

        assert await on.stage.client("hub").find(Instance, FIRST, on.hub_namespace) is None
        assert await on.stage.client("shop").find(Instance, FIRST, "default") is None

    set_up(tmp_path, story)


def test_a_cell_without_a_name_is_taken_for_reachable(tmp_path):
    """It is not known which Cluster it is. So its machines have the same time to stop."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, projector.controllers, namespaces.controllers)
        sent = await on.deploy()
        await on.project(held)
        copy = await on.write_back()
        unnamed = names.unnamed_cell("705ab4f5-6393-11e8-b7cc-42010a800002")
        own = copy.metadata.labels | {labels.SOURCE_CLUSTER: unnamed}
        await on.change("hub", copy, labels=own)
        await on.bind(CELL)
        await on.stage.rest()
        there = await on.stage.client("hub").get(Instance, FIRST, on.hub_namespace)
        assert there.metadata.labels == own
        await on.stage.client("shop").delete(sent)
        await on.stage.gone("hub", WorkloadDeployment, WEB, on.hub_namespace)

        await on.stage.quiet(240.0)
        await on.shown()
        await on.stage.gone("hub", Instance, FIRST, on.hub_namespace, 120.0)

    set_up(tmp_path, story)


def test_a_deployment_that_is_created_again_keeps_the_copies(tmp_path):
    """The cell still runs their machines, and shows them."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, namespaces.controllers)
        await on.cell("True", NOW)
        await on.deploy()
        await on.project(held)
        made = await on.write_back()
        hub = on.stage.client("hub")
        old = await on.copy()
        await hub.delete(old)
        await on.copy(lambda copy: copy.metadata.uid != old.metadata.uid)
        await on.stage.quiet(600.0)

        assert await hub.get(Instance, FIRST, on.hub_namespace) == made

    set_up(tmp_path, story)


def test_instances_that_are_no_copies_are_left_alone(tmp_path):
    """A namespace of the hub that stands for no project is not ours."""

    async def story(on: ManagementWorld) -> None:
        on.start(namespaces.controllers)
        made = instance(0, namespace="default", uid="", generation=0, labels=upstream())
        await on.stage.client("hub").create(made)
        await on.stage.quiet(600.0)

        assert await on.stage.client("hub").find(Instance, FIRST, "default") is not None
        assert await on.stage.client("hub").find(Instance, CELL, "default") is None

    set_up(tmp_path, story)
