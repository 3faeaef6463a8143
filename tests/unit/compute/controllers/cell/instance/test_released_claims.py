"""A released grant opens no gate, however long a cache shows it."""

from compute.api import labels
from compute.api.compute import WorkloadDeployment
from compute.controllers.cell.instance import claims
from compute.controllers.cell.instance.quota_gate import ReleasedClaims
from kubekit.api.meta import with_metadata
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import instance
from tests.support.compute.cell_rig import CELL, CLAIM, NAMESPACE, Rig, on_a_cell, waiting
from tests.support.compute.quota_builders import wanted


def test_a_grant_that_this_cell_released_opens_no_gate(tmp_path):
    """While the project is unreachable the slot's cached grant counts, unless it was released."""

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


def test_a_grant_that_was_released_as_leaked_opens_no_gate(tmp_path):
    """The Instance went while its project was unreachable; its claim was released later."""

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
        await rig.cell.patch(held, with_metadata(held, finalizers=()))
        await rig.gone()
        await rig.claim_gone()
        rig.shop.cut()
        await rig.scale(1)
        await rig.instance()
        await rig.stage.rest()

        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_released_claim_is_forgotten_once_it_is_gone(tmp_path):
    """A cell whose deployments come and go would otherwise remember every name there ever was."""

    async def story(rig: Rig) -> None:
        released: ReleasedClaims = {}
        made = claims.controllers(rig.planes, rig.settings, rig.stage.factory, released)
        released["shop", "default", CLAIM] = "uid-1"
        rig.stage.start(*made)
        await rig.deploy()
        await rig.planes.reach(cluster_name("shop"))
        await rig.stage.rest()
        await rig.project.delete(await rig.project.create(wanted(instance(), CELL)))
        await rig.stage.rest()

        assert released == {}

    on_a_cell(tmp_path, story)


def test_a_claim_that_an_earlier_deployment_left_is_adopted(tmp_path):
    """Once adopted it belongs to this deployment, and counts while the project is unreachable."""

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


def test_a_claim_that_is_deleted_while_it_is_adopted_opens_no_gate(tmp_path):
    """It was just read, and is released by the controller of leaked claims."""

    async def story(rig: Rig) -> None:
        earlier = wanted(instance(labels={labels.DEPLOYMENT_UID: "uid-of-the-earlier"}), CELL)
        await rig.deploy()
        left = await rig.project.create(earlier)
        await rig.decide()

        async def released(verb: str, place: ResourceLocation) -> None:
            if (verb, place.resource.kind) == ("patch", "ResourceClaim"):
                rig.shop.crossing = None
                await rig.project.delete(await rig.claim())

        rig.shop.crossing = released
        rig.start()
        await rig.instance()
        await rig.claim(lambda claim: claim.metadata.uid != left.metadata.uid)
        await rig.stage.rest()

        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_grant_of_an_earlier_deployment_opens_no_gate(tmp_path):
    """Another process released it with the deployment, which no watch event reported here."""

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
