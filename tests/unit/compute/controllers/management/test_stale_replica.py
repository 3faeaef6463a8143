"""Two replicas of each controller, one with a cache that lags: it restores nothing old.

The test plays the replica whose cache does not lag.
"""

import msgspec

from compute.api.compute import Instance
from compute.controllers.management.federator import controller as federator
from tests.support.compute.builders import condition, template
from tests.support.compute.federation_builders import PROJECT
from tests.support.compute.management_builders import (
    WEB,
    ClientWithoutEvents,
    ManagementWorld,
    set_up,
)

FIRST = f"{WEB}-0"
READY = condition("Ready", "True", "Available")
WAITING = condition("Ready", "False", "Provisioning", "it is being set up")
SERVED = condition("Available", "True", "StableInstanceFound", "1 of 1 instances ready")
SHORT = condition("Available", "False", "InstancesProvisioning", "0 of 1 instances ready")


async def _hear_no_more_of(on: ManagementWorld, role: str, plane: str) -> None:
    await on.leave(role)
    await on.engage(role, ClientWithoutEvents(on.stage.planes[plane]))
    await on.stage.rest()


def test_an_old_spec_is_not_written_again(tmp_path):
    """What was written to the hub meanwhile stays."""

    async def story(on: ManagementWorld) -> None:
        shop, hub = on.stage.client("shop"), on.stage.client("hub")
        on.start(federator.controllers)
        await on.deploy()
        copy = await on.copy()
        await on.stage.rest()
        await _hear_no_more_of(on, "projects", PROJECT)
        sent = await on.project()
        spec = msgspec.structs.replace(sent.spec, template=template("registry.test/web:2"))
        await shop.patch(sent, msgspec.structs.replace(sent, spec=spec))
        await hub.patch(copy, msgspec.structs.replace(copy, spec=spec))
        await on.stage.rest(120)

        assert (await on.copy()).spec == spec
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_an_old_status_is_not_written_again(tmp_path):
    """What was written to the project meanwhile stays."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(SHORT)
        await on.project(lambda d: d.status.conditions)
        await on.stage.rest()
        await _hear_no_more_of(on, "hub", "hub")
        await on.report(SERVED, ready_replicas=1)
        sent = await on.project()
        status = msgspec.structs.replace(sent.status, conditions=(SERVED,), ready_replicas=1)
        await on.stage.client("shop").patch_status(
            sent, msgspec.structs.replace(sent, status=status)
        )
        await on.stage.rest(120)

        assert (await on.project()).status.ready_replicas == 1
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_an_old_projection_is_not_shown_again(tmp_path):
    """What is shown meanwhile stays."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(WAITING)
        await on.stage.rest()
        await _hear_no_more_of(on, "hub", "hub")
        await on.write_back(0, READY)
        status = msgspec.structs.replace(shown.status, conditions=(READY,))
        await on.stage.client("shop").patch_status(
            shown, msgspec.structs.replace(shown, status=status)
        )
        await on.stage.rest(120)

        last = await on.stage.client("shop").get(Instance, FIRST, "default")
        assert last.status.conditions == (READY,)
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_projection_whose_copy_was_deleted_unseen_is_deleted(tmp_path):
    """Whatever requeued it, there is nothing to project."""

    async def story(on: ManagementWorld) -> None:
        shown = await on.show_one(WAITING)
        await on.stage.rest()
        await _hear_no_more_of(on, "hub", "hub")
        hub = on.stage.client("hub")
        await hub.delete(await hub.get(Instance, FIRST, on.hub_namespace))
        status = msgspec.structs.replace(shown.status, conditions=(READY,))
        await on.stage.client("shop").patch_status(
            shown, msgspec.structs.replace(shown, status=status)
        )

        await on.stage.gone("shop", Instance, FIRST, "default")
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_the_status_of_a_copy_that_was_deleted_unseen_is_not_written(tmp_path):
    """There is nothing to report; the watch event of the deletion has it created again."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(SERVED)
        await on.project(lambda d: d.status.conditions)
        await on.stage.rest()
        await _hear_no_more_of(on, "hub", "hub")
        hub = on.stage.client("hub")
        await hub.delete(await on.copy())
        sent = await on.project()
        emptied = msgspec.structs.replace(sent, status=type(sent.status)())
        await on.stage.client("shop").patch_status(sent, emptied)
        await on.stage.rest(120)
        assert (await on.project()).status.conditions == ()
        await on.leave("hub")
        await on.stage.engage("hub", "hub")

        assert (await on.copy()).spec == sent.spec

    set_up(tmp_path, story)
