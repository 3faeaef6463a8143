"""Claims that break the rules, at admission and after it; and leaked claims."""

import msgspec
import pytest

from compute.api import labels, names
from compute.api.karmada import MemberCluster as Member
from compute.api.quota import ResourceClaim, ResourceRegistration, ResourceRequest
from compute.app.links import Link, linked_client
from compute.services.quota.admission import ClaimAdmission
from compute.services.quota.ledger import ClaimLedgers
from compute.services.quota.registrations import REGISTRATIONS
from kubekit.api.errors import Invalid
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import NotEngaged, cluster_name
from tests.support.compute.budget_builders import bucket, reason, reasons, started
from tests.support.compute.service_builders import PLANES, claim, consumer, grant
from tests.support.kubekit.stage import Stage, staged

GPUS = "example.com/gpus"


def asking(kind: str, amount: int = 1) -> ResourceClaim:
    made = claim()
    requests = (ResourceRequest(resource_type=kind, amount=amount),)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, requests=requests))


def test_a_claim_that_slipped_by_is_refused_and_reopened_when_the_rules_change(tmp_path):
    """It says what is wrong; once its type is registered and granted it is served."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("shop").create(asking(GPUS))
        await stage.seen("shop", claim(), lambda c: reason(c) == "ValidationFailed")
        await stage.rest()
        assert await stage.quiet() == []
        core = stage.client("core")
        spec = msgspec.structs.replace(REGISTRATIONS[0].spec, resource_type=GPUS)
        await core.create(ResourceRegistration(metadata=ObjectMeta(name="gpus"), spec=spec))
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaExceeded")
        await core.create(grant("gpus", {GPUS: 2}))
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        assert (await bucket(stage, GPUS)).status.available == 1

    staged(tmp_path, story, *PLANES)


def test_a_claim_on_the_budget_of_another_project_is_refused(tmp_path):
    """A claim cannot use the budget of another project, even if it would fit."""

    async def story(stage: Stage) -> None:
        await started(stage)
        made = claim()
        spec = msgspec.structs.replace(made.spec, consumer_ref=consumer("bank"))
        await stage.client("shop").create(msgspec.structs.replace(made, spec=spec))
        await stage.client("shop").create(claim(1))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 1, "ValidationFailed": 1}

    staged(tmp_path, story, *PLANES)


def test_admission_allows_registered_types_and_nothing_else(tmp_path):
    """A claim that breaks a rule is refused with its field, and what was asked for stays so."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.rest()
        admission = ClaimAdmission(stage.role("core"))
        admission.review(claim(), "shop")
        admission.review(claim(), "shop", old=claim())
        with pytest.raises(Invalid, match=r"spec.requests\[0\].resourceType"):
            admission.review(asking(GPUS), "shop")
        with pytest.raises(Invalid, match="cannot be changed"):
            admission.review(claim(vcpus=1000), "shop", old=claim())

    staged(tmp_path, story, *PLANES)


def test_a_claim_that_goes_is_not_granted_and_holds_until_it_is_gone(tmp_path):
    """A claim with a finalizer that is being deleted frees nothing yet, and gets nothing new."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=1)
        client = stage.client("shop")
        held = [
            msgspec.structs.replace(
                claim(number),
                metadata=msgspec.structs.replace(
                    claim(number).metadata, finalizers=("example.com/held",)
                ),
            )
            for number in (0, 1)
        ]
        for each in held:
            await client.create(each)
            await stage.rest()
        for each in held:
            await client.delete(await client.get(ResourceClaim, each.metadata.name, "default"))
        await client.create(claim(2))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 1, "QuotaExceeded": 2}
        first = await client.get(ResourceClaim, held[0].metadata.name, "default")
        free = msgspec.structs.replace(first.metadata, finalizers=())
        await client.patch(first, msgspec.structs.replace(first, metadata=free))
        await stage.seen("shop", claim(2), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        second = await client.get(ResourceClaim, held[1].metadata.name, "default")
        assert reason(second) == "QuotaExceeded"

    staged(tmp_path, story, *PLANES)


def test_w51_the_claims_of_a_cell_that_is_gone_are_reported(tmp_path):
    """An event on the claim and a metric report them until they are deleted."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("shop").create(claim(0))
        await stage.client("shop").create(claim(1, cell=""))
        await stage.rest()
        gauge = "compute_quota_service_leaked_claims"
        where = {"project": "shop", "cell": "cell-dfw"}
        registry = stage.factory.metrics.registry
        assert registry.get_sample_value(gauge, where) is None
        hub = stage.client("hub")
        await hub.delete(await hub.get(Member, "cell-dfw"))
        await stage.rest()
        events = (await stage.client("shop").every(Event)).items
        assert [(e.reason, e.regarding.name) for e in events if e.regarding] == [
            ("QuotaClaimOrphaned", names.claim("web-home-dfw-0"))
        ]
        assert registry.get_sample_value(gauge, where) == 1
        assert await stage.quiet() == []
        client = stage.client("shop")
        await client.delete(
            await client.get(ResourceClaim, names.claim("web-home-dfw-0"), "default")
        )
        await stage.rest()
        assert registry.get_sample_value(gauge, where) is None

    staged(tmp_path, story, *PLANES)


@pytest.mark.parametrize("cut", [True, False], ids=["cut off", "not there"])
def test_w51_an_unreachable_hub_makes_no_claim_leaked(tmp_path, cut):
    """Only the hub's own word makes a claim a leaked one."""

    async def story(stage: Stage) -> None:
        if cut:
            link = Link("hub")
            unreachable = linked_client(await stage.plane("hub"), "compute", link)
            await stage.role("hub").engage(cluster_name("hub"), unreachable)
            link.cut()
        await stage.plane("hub")
        await started(stage)
        await stage.client("shop").create(claim(cell="cell-lost"))
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        assert (await stage.client("shop").every(Event)).items == ()
        found = await stage.client("shop").get(ResourceClaim, claim().metadata.name, "default")
        assert found.metadata.labels == {labels.SOURCE_CLUSTER: "cell-lost"}

    staged(tmp_path, story, ("core", "core"), ("projects", "shop"))


def test_claims_that_go_while_they_are_answered_are_let_go(tmp_path):
    """An answer to a claim that is gone is no error."""

    async def story(stage: Stage) -> None:
        client = stage.client("shop")
        made = [await client.create(claim(number)) for number in range(100)]
        await started(stage, instances=0)

        async def some_denied() -> bool:
            return "QuotaExceeded" in await reasons(stage)

        await stage.until(some_denied)
        for each in reversed(made):
            await client.delete(each)
        await stage.rest()
        assert await reasons(stage) == {}
        assert stage.factory.metrics.controller("quota").errors == 0

    staged(tmp_path, story, *PLANES)


def test_a_project_that_is_not_engaged_has_no_ledger():
    """A pass for a project that has gone ends there."""
    with pytest.raises(NotEngaged):
        ClaimLedgers().of(cluster_name("shop"))
