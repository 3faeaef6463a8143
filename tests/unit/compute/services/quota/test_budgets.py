"""The keeper of budgets, over real planes."""

import asyncio

from compute.api import names
from compute.api.quota import ResourceClaim
from compute.decide import quota
from compute.decide.conditions import find
from compute.services.quota import service
from tests.support.compute.budget_builders import bucket, reason, reasons, started
from tests.support.compute.service_builders import PLANES, claim, grant, planes
from tests.support.kubekit.stage import Stage, staged


def test_a_claim_within_the_budget_is_granted_in_one_write(tmp_path):
    """Allocations and condition come together, and the buckets show what is used."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.rest()
        before = len(stage.writes)
        made = await stage.client("shop").create(claim(vcpus=1000, memory=2048))
        granted = await stage.seen("shop", made, lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        assert [(a.status, a.allocated_amount) for a in granted.status.allocations] == [
            ("Granted", 1),
            ("Granted", 1000),
            ("Granted", 2048),
        ]
        shown = (await bucket(stage)).status
        assert (shown.limit, shown.allocated, shown.available, shown.claim_count) == (10, 1, 9, 1)
        mine = [kind for plane, kind, _ in stage.writes[before:] if plane == "shop"]
        assert mine.count("quota.miloapis.com/resourceclaims") == 2  # made, and answered
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_claims_are_served_the_oldest_first_and_freed_budget_is_used(tmp_path):
    """What does not fit is denied; when something is given back the oldest of them gets it."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=2)
        client = stage.client("shop")
        for number in range(5):
            await client.create(claim(number))
            await asyncio.sleep(2)
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 2, "QuotaExceeded": 3}
        await client.delete(
            await client.get(ResourceClaim, names.claim("web-home-dfw-0"), "default")
        )
        third = await stage.seen("shop", claim(2), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        assert third.status.allocations[0].allocated_amount == 1
        assert await reasons(stage) == {"QuotaAvailable": 2, "QuotaExceeded": 2}
        assert (await bucket(stage)).status.available == 0
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_denied_claim_gets_the_reason_and_keeps_nothing(tmp_path):
    """A claim is granted as a whole or not at all, and says which amount was lacking."""

    async def story(stage: Stage) -> None:
        await started(stage, memory=1024)
        await stage.client("shop").create(claim(vcpus=1000, memory=2048))
        denied = await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaExceeded")
        await stage.rest()
        said = find(denied.status.conditions, "Granted")
        assert said is not None
        assert said.message == (
            "Not enough quota: memory: 2048 MiB asked for, 1024 of 1024 MiB left. "
            "Scale down, delete something, or ask for more quota"
        )
        assert [a.status for a in denied.status.allocations] == ["Pending"] * 3
        assert (await bucket(stage, quota.VCPUS)).status.allocated == 0

    staged(tmp_path, story, *PLANES)


def test_more_quota_revives_a_denied_claim(tmp_path):
    """Raising a grant answers the claims that were denied before, without a new claim."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=0)
        await stage.client("shop").create(claim())
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaExceeded")
        await stage.client("core").create(grant("more", {quota.INSTANCES: 3}))
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        shown = (await bucket(stage)).status
        assert (shown.limit, shown.grant_count) == (3, 2)
        assert [(g.name, g.amount) for g in shown.contributing_grant_refs] == [
            ("more", 3),
            ("shop-compute-quota", 0),
        ]

    staged(tmp_path, story, *PLANES)


def test_two_keepers_at_once_never_give_more_than_there_is(tmp_path):
    """Two copies that decide at the same moment agree, and come to rest."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=7)
        stage.start(*service.controllers(planes(stage), stage.factory))
        await stage.rest()
        for number in range(20):
            await stage.client("shop").create(claim(number))
        most = 0
        for _ in range(400):
            most = max(most, (await reasons(stage)).get("QuotaAvailable", 0))
            await asyncio.sleep(0.01)
        await stage.rest()
        assert most <= 7
        assert await reasons(stage) == {"QuotaAvailable": 7, "QuotaExceeded": 13}
        assert (await bucket(stage)).status.allocated == 7
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_crowd_of_claims_shares_ledgers_and_buckets(tmp_path):
    """A claim of many costs its own answer, and a small part of a ledger and of a bucket."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=400, vcpus=0, memory=0)
        await stage.rest()
        before = len(stage.writes)
        for number in range(500):
            await stage.client("shop").create(claim(number))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 400, "QuotaExceeded": 100}
        written = [(plane, kind.rpartition("/")[2]) for plane, kind, _ in stage.writes[before:]]
        assert written.count(("shop", "resourceclaims")) == 1000  # each made and answered
        assert written.count(("shop", "allowancebuckets")) <= 15
        assert sum(plane == "core" for plane, _ in written) <= 30

    staged(tmp_path, story, *PLANES)
