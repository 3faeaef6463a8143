"""Deployments that move to another cell: management assigns their copies to it."""

import asyncio

import pytest

from compute.api import labels, names
from compute.api.compute import Instance
from compute.api.quota import ResourceClaim
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import moves
from compute.decide import quota
from kubekit.api.meta import with_metadata
from tests.support.compute import builders
from tests.support.compute.management_builders import CELL, WEB, ManagementWorld, set_up

OTHER = "cell-two"


async def claimed(on: ManagementWorld, deployment: str = WEB, cell: str = CELL) -> ResourceClaim:
    """The claim of the first Instance of a deployment, as its cell creates it."""
    instance = builders.instance(name=f"{deployment}-0", namespace=on.hub_namespace)
    wanted = quota.claim(instance, project="shop", claim_namespace="default", source_cluster=cell)
    return await on.stage.client("shop").create(wanted)


async def deployed(on: ManagementWorld) -> None:
    """A deployment in a cell, with a copy and a claim of its first Instance."""
    await on.deploy()
    await on.copy()
    await on.bind(CELL)
    await on.write_back()
    await claimed(on)


def written_by(cell: str):
    return lambda obj: obj.metadata.labels[labels.SOURCE_CLUSTER] == cell


CLAIM = names.claim(f"{WEB}-0")
PATIENCE = 300.0  # seconds until a claim is taken from a cell that does not release it


async def copy_of(on: ManagementWorld) -> Instance:
    return await on.stage.client("hub").get(Instance, f"{WEB}-0", on.hub_namespace)


async def assigned(on: ManagementWorld, cell: str = OTHER, ordinal: int = 0) -> Instance:
    """The copy, once it bears the name of a cell."""
    name = f"{WEB}-{ordinal}"
    return await on.stage.named("hub", Instance, name, on.hub_namespace, written_by(cell), 5.0)


async def release(on: ManagementWorld) -> None:
    """Delete the claim, as the former cell does once its machine has stopped."""
    shop = on.stage.client("shop")
    await shop.delete(await shop.get(ResourceClaim, CLAIM, "default"))


def test_the_copies_of_a_deployment_that_moves_are_assigned_to_its_new_cell(tmp_path):
    """And back again; their uids and other labels stay."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        await release(on)
        before = await copy_of(on)
        await on.bind(OTHER)
        after = await assigned(on)
        assert after.metadata.uid == before.metadata.uid
        assert after.metadata.labels == before.metadata.labels | {labels.SOURCE_CLUSTER: OTHER}
        await on.bind(CELL)
        await assigned(on, CELL)
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_w17_a_copy_whose_machine_may_run_is_assigned_when_its_claim_is_released(tmp_path):
    """By management, if the former cell does not do it: it may never be reachable again."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        await on.bind(OTHER)
        await asyncio.sleep(PATIENCE - 5.0)
        assert written_by(CELL)(await copy_of(on))
        await on.stage.client("shop").get(ResourceClaim, CLAIM, "default")
        await asyncio.sleep(6.0)
        assert written_by(OTHER)(await copy_of(on))
        await on.stage.gone("shop", ResourceClaim, CLAIM, "default", seconds=1.0)
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_move_that_no_process_saw_shows_in_the_copies(tmp_path):
    """After a restart the copies of the former cell are assigned, and its claims released."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await deployed(on)
        await on.bind(OTHER)
        on.start(moves.controllers)
        await on.stage.gone("shop", ResourceClaim, CLAIM, "default", seconds=PATIENCE + 5.0)
        await assigned(on)

    set_up(tmp_path, story)


def test_a_move_without_copies_is_remembered_across_a_time_without_a_cell(tmp_path):
    """The engine takes a deployment from a removed cell before it chooses the next one."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        await on.stage.rest()
        hub = on.stage.client("hub")
        await hub.delete(await copy_of(on))
        await on.bind()
        await on.stage.rest()
        await on.bind(OTHER)
        await on.stage.gone("shop", ResourceClaim, CLAIM, "default", seconds=PATIENCE + 5.0)

    set_up(tmp_path, story)


def test_a_copy_that_the_former_cell_writes_later_is_assigned_too(tmp_path):
    """It may have been unreachable when the deployment moved."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        await release(on)
        await on.bind(OTHER)
        await assigned(on)
        await on.write_back(1)
        await assigned(on, ordinal=1)

    set_up(tmp_path, story)


def test_only_the_claims_of_the_deployment_are_released(tmp_path):
    """Not those of another one whose name begins alike, nor any without the label of a cell."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        shop = on.stage.client("shop")
        others = [await claimed(on, f"{WEB}-2"), await claimed(on, "api-home-dfw")]
        foreign = await claimed(on, f"{WEB}-x")
        foreign = await shop.patch(foreign, with_metadata(foreign, labels={}))
        await on.bind(OTHER)
        await on.stage.gone("shop", ResourceClaim, CLAIM, "default", seconds=PATIENCE + 5.0)
        for claim in (*others, foreign):
            assert await shop.get(ResourceClaim, claim.metadata.name, "default") == claim

    set_up(tmp_path, story)


@pytest.mark.parametrize("cells", [(), (CELL, OTHER)])
def test_nothing_is_assigned_while_no_single_cell_is_chosen(tmp_path, cells):
    """No cell, or several: what the first one wrote stays its own."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, moves.controllers)
        await deployed(on)
        await on.bind(*cells)
        await asyncio.sleep(PATIENCE + 5.0)
        await assigned(on, CELL)

    set_up(tmp_path, story)
