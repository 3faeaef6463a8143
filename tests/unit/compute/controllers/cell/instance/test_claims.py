"""Leaked claims: those that have no Instance any more."""

import pytest
from msgspec.structs import replace

from compute.api import labels
from compute.api.quota import ResourceClaim
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.reporting.counters import PassResult
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import instance
from tests.support.compute.cell_rig import CELL, CLAIM, NAMESPACE, Rig, on_a_cell
from tests.support.compute.quota_builders import wanted

SHOP = cluster_name("shop")


async def forgotten(rig: Rig, name: str = CLAIM, cell: str = CELL, **meta) -> ResourceClaim:
    """A claim under this name without an Instance."""
    made = wanted(instance(), cell)
    metadata = replace(made.metadata, name=name, **meta)
    return await rig.project.create(replace(made, metadata=metadata))


def test_w51_a_claim_without_an_instance_is_released_and_reported(tmp_path):
    """It has no Instance and no slot: it is deleted, with an event in the project."""

    async def story(rig: Rig) -> None:
        await forgotten(rig)
        rig.start()
        await rig.claim_gone(seconds=5)
        await rig.stage.rest()

        assert await rig.reasons(CLAIM, "shop") == ["QuotaClaimReleased"]
        text = rig.stage.factory.metrics.text().decode()
        assert "compute_quota_claim_reclaimed_total 1.0" in text
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_w51_a_claim_whose_finalizer_was_removed_by_hand(tmp_path):
    """An Instance that was deleted without releasing its claim leaves none behind."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        running = await rig.running()
        await rig.scale(0)
        rig.home.conflicts = 1000
        await rig.delete()
        held = await rig.seen(lambda i: i.deleting)
        await rig.cell.patch(held, with_metadata(held, finalizers=()))
        await rig.gone()

        await rig.claim_gone(seconds=20)
        assert running.metadata.uid == held.metadata.uid

    on_a_cell(tmp_path, story)


def test_w51_a_slot_that_is_removed_while_it_is_empty(tmp_path):
    """A claim that was kept for the next Instance is deleted with the slot."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(2)
        await rig.running()
        await rig.running(1)
        second = f"{CLAIM[:-1]}1"
        await rig.remove("web-home-dfw-1")
        await rig.gone("web-home-dfw-1")
        await rig.stage.rest(120)
        await rig.claim(name=second)

        await rig.scale(1)

        await rig.claim_gone(second, seconds=20)
        await rig.claim()

    on_a_cell(tmp_path, story)


def test_w51_claims_of_empty_slots_are_deleted_with_their_deployment(tmp_path):
    """The deletion of a deployment requeues the claims of its slots at once."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.remove()
        await rig.gone()
        await rig.claim()
        await rig.undeploy()

        await rig.claim_gone(seconds=1)

    on_a_cell(tmp_path, story)


def test_claims_of_others_are_left_alone(tmp_path):
    """Another cell's, a claim of no Instance, and one that is deleted already."""

    async def story(rig: Rig) -> None:
        await forgotten(rig, cell="cell-two")
        await forgotten(rig, name="something")
        mine = {labels.SOURCE_CLUSTER: CELL}
        await forgotten(rig, name="instance-web-home-dfw-1", labels=mine)
        dying = await forgotten(rig, name="instance-web-home-dfw-2", finalizers=("example.com/x",))
        await rig.project.delete(dying)
        rig.start()
        await rig.deploy(replicas=0)
        await rig.planes.reach(SHOP)
        await rig.stage.rest()
        await rig.undeploy()
        await rig.stage.rest()
        before = (await rig.project.list(ResourceClaim, "default")).items
        assert await rig.stage.quiet() == []

        assert (await rig.project.list(ResourceClaim, "default")).items == before

    on_a_cell(tmp_path, story)


def test_w51_two_replicas_report_the_same_claim_once(tmp_path):
    """The second controller finds nothing left to do."""

    async def story(rig: Rig) -> None:
        await forgotten(rig)
        rig.start(twice=True)
        await rig.claim_gone()
        await rig.stage.rest()

        assert await rig.reasons(CLAIM, "shop") == ["QuotaClaimReleased"]
        results = rig.stage.factory.metrics.controller("claim-controller").results
        assert results[PassResult.ERROR] == 0

    on_a_cell(tmp_path, story)


def test_an_instance_that_the_cache_does_not_show_yet_keeps_its_claim(tmp_path):
    """Before a claim is deleted its Instance is read live."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.stage.rest()
        rig.home.deaf = True
        await rig.deploy()
        await rig.instance()
        await forgotten(rig)
        await rig.planes.reach(SHOP)
        await rig.stage.rest(5)

        await rig.claim(lambda c: not c.deleting)

    on_a_cell(tmp_path, story)


def test_a_claim_that_is_gone_already_is_not_reported(tmp_path):
    """Before a claim is released it is read live."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.remove()
        await rig.gone()
        rig.shop.deaf = True
        await rig.project.delete(await rig.claim())
        await rig.undeploy()
        await rig.stage.rest(5)

        assert await rig.reasons(CLAIM, "shop") == []

    on_a_cell(tmp_path, story)


def test_a_claim_with_a_name_of_no_deployment_is_released(tmp_path):
    """A claim of this cell for an Instance without a slot has no owner."""

    async def story(rig: Rig) -> None:
        await forgotten(rig, name="instance-oddity")
        rig.start()

        await rig.claim_gone("instance-oddity")

    on_a_cell(tmp_path, story)


def test_a_project_without_claims_is_disengaged_again(tmp_path):
    """Namespaces are in every cell; a watch is kept only where the cell has something."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.stage.rest()
        assert rig.planes.projects.find(SHOP) is None
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()

        assert rig.planes.projects.find(SHOP) is not None

    on_a_cell(tmp_path, story)


async def leave(rig: Rig) -> None:
    """Delete the namespace in the cell, as the engine does with that of the project."""
    await rig.cell.delete(await rig.cell.get(Namespace, NAMESPACE))
    await rig.stage.gone(CELL, Namespace, NAMESPACE)


@pytest.mark.parametrize("refusal", [None, NotFound("gone"), Forbidden("gone")], ids=repr)
def test_a_project_whose_namespaces_are_gone_is_disengaged(tmp_path, refusal):
    """Projects come and go for years: a cell must not watch the planes of all that it has ever served."""

    async def story(rig: Rig) -> None:
        async def refused(_: str, __: ResourceLocation) -> None:
            raise refusal

        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        assert rig.planes.projects.find(SHOP) is not None
        await rig.undeploy()
        await rig.remove()
        await rig.gone()
        await rig.claim_gone()
        rig.shop.crossing = refused if refusal else None
        await leave(rig)
        await rig.stage.rest(120)

        assert rig.planes.projects.find(SHOP) is None

    on_a_cell(tmp_path, story)


def test_a_project_with_a_claim_of_this_cell_is_kept_until_that_is_released(tmp_path):
    """Nothing else would release it."""

    async def story(rig: Rig) -> None:
        name = "instance-oddity"
        await forgotten(rig, name, finalizers=("example.test/hold",))
        rig.start()
        await rig.claim(lambda claim: claim.deleting, name)
        await leave(rig)
        await rig.stage.rest(120)
        assert rig.planes.projects.find(SHOP) is not None

        held = await rig.claim(name=name)
        await rig.project.patch(held, with_metadata(held, finalizers=()))
        await rig.stage.rest(120)
        assert rig.planes.projects.find(SHOP) is None

    on_a_cell(tmp_path, story)


def test_namespaces_without_a_project_and_of_projects_that_are_gone(tmp_path):
    """A namespace without a project is not visited, and a project that is gone blocks nothing."""

    async def story(rig: Rig) -> None:
        upstream_labels = {
            labels.UPSTREAM_CLUSTER: "cluster-gone",
            labels.UPSTREAM_NAMESPACE: "default",
        }
        await rig.cell.create(Namespace(metadata=ObjectMeta(name="ns-2", labels=upstream_labels)))
        rig.start()
        await rig.stage.rest()

        metrics = rig.stage.factory.metrics.controller("claim-controller-visits")
        assert sum(metrics.results.values()) > 1
        assert rig.planes.projects.find(cluster_name("gone")) is None

    on_a_cell(tmp_path, story)


def test_an_unreachable_project_is_visited_when_it_is_back(tmp_path):
    """Leaked claims in it are found then."""

    async def story(rig: Rig) -> None:
        await forgotten(rig)
        rig.shop.cut()
        rig.start()
        await rig.stage.rest(200)
        rig.shop.heal()

        await rig.claim_gone(seconds=60)

    on_a_cell(tmp_path, story)
