"""The quota gate: what the responses of the quota service do to an Instance."""

import asyncio

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.decide.quota import INSTANCES, VCPUS
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.cell_rig import (
    CLAIM,
    NAME,
    NAMESPACE,
    Rig,
    has_condition,
    is_ready,
    on_a_cell,
    status_and_reason,
    waiting,
)


def test_w50_a_claim_names_its_cell_and_its_instance(tmp_path):
    """The claim has the size of the Instance and refers to it."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        claim = await rig.claim()
        asked = {r.resource_type: r.amount for r in claim.spec.requests}
        of, by = claim.spec.resource_ref, claim.spec.consumer_ref

        assert (asked[INSTANCES], asked[VCPUS]) == (1, 1000)
        assert of
        assert (of.kind, of.name, of.namespace) == ("Instance", NAME, NAMESPACE)
        assert by
        assert (by.kind, by.name) == ("Project", "shop")
        assert claim.metadata.labels[labels.SOURCE_CLUSTER] == "cell-dfw"

    on_a_cell(tmp_path, story)


def test_a_denied_instance_passes_when_budget_is_free(tmp_path):
    """A denial is reported once, everywhere; the claim is created again, and granted then."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        first = await rig.decide("False", "QuotaExceeded")
        denied = await rig.seen(has_condition("QuotaGranted", "False", "QuotaExceeded"))
        assert (
            status_and_reason(denied, "Programmed")
            == status_and_reason(denied, "Available")
            == ("False", "PendingQuota")
        )
        await asyncio.sleep(58)
        await rig.claim(lambda c: c.metadata.uid != first.metadata.uid)
        assert status_and_reason(await rig.seen(), "QuotaGranted") == ("False", "QuotaExceeded")

        await rig.decide()
        await rig.run_machine()

        assert await rig.reasons() == ["QuotaExceeded"]

    on_a_cell(tmp_path, story)


def test_an_instance_that_was_denied_for_hours_still_claims(tmp_path):
    """Repeated claims are no write conflict loop: free budget is found in minutes."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        for _ in range(12):
            await rig.decide("False", "QuotaExceeded")
            await asyncio.sleep(310)
        await rig.decide()

        await rig.seen(lambda i: not waiting(i), seconds=1)

    on_a_cell(tmp_path, story)


def test_w15_a_lack_of_budget_is_reported_once(tmp_path):
    """A claim that is left open for long is a lack of budget: one Warning, one in the metrics."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await asyncio.sleep(58)
        await rig.seen(has_condition("QuotaGranted", "Unknown", "QuotaNoBudget"))
        await rig.stage.rest(600)

        assert await rig.reasons() == ["QuotaNoBudget"]
        text = rig.stage.factory.metrics.text().decode()
        assert 'compute_quota_eval_failures_total{reason="QuotaNoBudget"} 1.0' in text
        assert "compute_quota_enforcement_enabled 1.0" in text

    on_a_cell(tmp_path, story)


def test_w47_a_claim_that_was_created_meanwhile_is_read(tmp_path):
    """A claim that exists already is no failure of the quota service."""

    async def story(rig: Rig) -> None:
        rig.start(twice=True)
        await rig.deploy(5)
        for ordinal in range(5):
            await rig.instance(ordinal)
        for ordinal in range(5):
            await rig.decide(name=f"{CLAIM[:-1]}{ordinal}")
            await rig.run_machine(f"{NAME[:-1]}{ordinal}")

        assert await rig.reasons() == []

    on_a_cell(tmp_path, story)


async def claim_of_another_size(rig: Rig, **meta) -> ResourceClaim:
    """A claim under the slot's name, granted, that asks for less than its Instance needs."""
    await rig.instance()
    claim = await rig.claim()
    await rig.decide()
    await rig.run_machine()
    await rig.remove()
    await rig.gone()
    await rig.project.delete(await rig.claim())
    spec = replace(claim.spec, requests=claim.spec.requests[:1])
    metadata = replace(claim.metadata, uid="", resource_version="", **meta)
    await rig.project.create(replace(claim, spec=spec, metadata=metadata))
    return await rig.decide()


def test_w49_a_claim_of_another_size_is_no_grant(tmp_path):
    """What was granted to an Instance of another size is claimed again."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        small = await claim_of_another_size(rig)
        await rig.instance()
        fresh = await rig.claim(lambda c: c.metadata.uid != small.metadata.uid)
        assert waiting(await rig.seen())
        assert len(fresh.spec.requests) > len(small.spec.requests)

        await rig.decide()

        await rig.run_machine()

    on_a_cell(tmp_path, story)


def test_w64_a_claim_that_is_being_deleted_is_no_grant(tmp_path):
    """An Instance that follows another at once waits for a claim that is not deleting."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        held = await rig.claim()
        metadata = replace(held.metadata, finalizers=("example.com/slow",))
        held = await rig.project.patch(held, replace(held, metadata=metadata))
        await rig.remove()
        await rig.gone()
        await rig.project.delete(held)
        await rig.instance()
        await rig.stage.rest()
        assert waiting(await rig.seen())

        dying = await rig.claim(lambda c: c.deleting)
        await rig.project.patch(dying, with_metadata(dying, finalizers=()))

        await rig.claim(lambda c: c.metadata.uid != held.metadata.uid)
        await rig.decide()
        await rig.run_machine()

    on_a_cell(tmp_path, story)


def test_a_lost_claim_is_created_again_and_nothing_stops(tmp_path):
    """A user deletes the claim of a running Instance: it keeps running, and claims again."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        first = await rig.claim()
        await rig.project.delete(first)

        await rig.claim(lambda c: c.metadata.uid != first.metadata.uid)
        await rig.stage.rest(1)
        assert is_ready(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_stale_cache_does_not_release_the_claim_of_the_next_instance(tmp_path):
    """A controller with a stale cache keeps the claim of the Instance's successor."""

    async def story(rig: Rig) -> None:
        rig.start(twice=True)
        await rig.deploy()
        await rig.running()
        before = await rig.claim()
        for _ in range(5):
            await rig.remove()
            await rig.gone()
            await rig.instance()
            await rig.run_machine()
        await rig.stage.rest()

        assert (await rig.claim()).metadata.uid == before.metadata.uid

    on_a_cell(tmp_path, story)


def test_class_5_the_claim_of_the_next_of_its_name_is_not_released(tmp_path):
    """An Instance that only the cache still has releases nothing: its name belongs to another."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        before = await rig.claim()
        await rig.scale(0)
        await rig.stage.rest()
        rig.shop.cut()
        await rig.remove()
        await rig.stage.rest(2)
        rig.home.deaf = True
        held = await rig.seen(lambda i: i.deleting)
        await rig.cell.patch(held, with_metadata(held, finalizers=()))
        await rig.instance()
        rig.shop.heal()
        await asyncio.sleep(20)

        assert (await rig.claim(lambda c: not c.deleting)).metadata.uid == before.metadata.uid

    on_a_cell(tmp_path, story)


def test_a_deployment_of_another_size_releases_its_claims(tmp_path):
    """When the next Instance of a slot needs another amount, the claim does not stay for it."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        found = await rig.cell.get(WorkloadDeployment, "web-home-dfw", NAMESPACE)
        runtime = found.spec.template.spec.runtime
        larger = replace(runtime.resources, requests={"cpu": "2", "memory": "4Gi"})
        spec = replace(found.spec.template.spec, runtime=replace(runtime, resources=larger))
        template = replace(found.spec.template, spec=spec)
        await rig.cell.patch(found, with_spec(found, template=template))
        await rig.remove()
        await rig.gone()

        await rig.claim_gone(seconds=0.1)

    on_a_cell(tmp_path, story)


def test_the_claim_of_another_cell_is_left_alone(tmp_path):
    """A deployment that moved took its claims along; a deleted Instance leaves them."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        claim = await rig.claim()
        new_labels = claim.metadata.labels | {labels.SOURCE_CLUSTER: "cell-two"}
        await rig.project.patch(claim, with_metadata(claim, labels=new_labels))
        await rig.scale(0)
        await rig.remove()

        await rig.gone()
        assert (await rig.claim()).metadata.uid == claim.metadata.uid

    on_a_cell(tmp_path, story)
