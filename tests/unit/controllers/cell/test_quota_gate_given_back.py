"""A grant that was given back lets nobody through, however long a cache shows it."""

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import WorkloadDeployment
from tests.builders import instance
from tests.cell_rig import CELL, NAMESPACE, Rig, on_a_cell, waiting
from tests.quota_builders import wanted


def test_a_grant_that_this_cell_gave_back_lets_nobody_through(tmp_path):
    """While the project is away the slot's grant counts as it was last seen, unless it was given back."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.shop.deaf = True  # its watch is half open
        await rig.scale(0)
        await rig.delete()
        await rig.stop_machine()
        await rig.claim_gone()
        await rig.gone()
        rig.shop.cut()
        await rig.scale(1)
        await rig.instance()
        await rig.stage.rest()

        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_grant_that_was_given_back_as_forgotten_lets_nobody_through(tmp_path):
    """The Instance went while its project was away; its claim was found and given back later."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.shop.deaf = True
        await rig.scale(0)
        held = await rig.seen()
        await rig.delete()
        held = await rig.seen(lambda i: i.deleting)
        await rig.cell.patch(held, replace(held, metadata=replace(held.metadata, finalizers=())))
        await rig.gone()
        await rig.claim_gone()
        rig.shop.cut()
        await rig.scale(1)
        await rig.instance()
        await rig.stage.rest()

        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_claim_that_an_earlier_deployment_left_is_adopted(tmp_path):
    """Once it was seen to be there it is this one's, and counts as such while the project is away."""

    async def story(rig: Rig) -> None:
        earlier = wanted(instance(labels={labels.DEPLOYMENT_UID: "uid-of-the-earlier"}), CELL)
        await rig.deploy()
        await rig.project.create(earlier)
        rig.start()
        await rig.running()
        owner = await rig.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        kept = await rig.claim()
        assert kept.metadata.labels[labels.DEPLOYMENT_UID] == owner.metadata.uid

        await rig.stage.rest()
        rig.shop.cut()
        await rig.remove()
        await rig.gone()
        await rig.instance()
        await rig.seen(lambda i: not waiting(i))

    on_a_cell(tmp_path, story)


def test_a_grant_of_an_earlier_deployment_lets_nobody_through(tmp_path):
    """Another process gave it back when the deployment went, which nobody here was told of."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.shop.deaf = True
        await rig.project.delete(await rig.claim())
        rig.shop.cut()
        for plane in (CELL, "hub"):
            await rig.undeploy(plane)
        await rig.remove()
        await rig.gone(seconds=3600)
        await rig.deploy()
        await rig.instance()
        await rig.stage.rest()

        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)
