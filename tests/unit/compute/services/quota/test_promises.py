"""Promises: what was written down before a grant, by whomever, is kept and never broken."""

import asyncio
from dataclasses import replace

import msgspec

from compute.api import names
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from compute.app.links import Link, linked_client
from compute.decide.budget import Ledger, Reservation, need_of
from compute.services.quota import lookups, service
from compute.services.quota.context import BudgetContext
from compute.services.quota.ledger import ClaimLedger, entry_of
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.budget_builders import reason, reasons, started
from tests.support.compute.service_builders import CORE, PLANES, claim, namespace, planes, project
from tests.support.kubekit.stage import Stage, staged


def promise(of: ResourceClaim) -> Reservation:
    meta = of.metadata
    return Reservation(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        need=need_of(of.spec.requests),
    )


async def promised(stage: Stage, *claims: ResourceClaim, revision: int = 0) -> None:
    """A ledger that another keeper wrote a moment ago, before it answered a claim."""
    owner = await stage.client("core").create(project())
    if await stage.client("core").find(Namespace, CORE) is None:  # before anything was started
        await stage.client("core").create(namespace(CORE))
    newest = max([revision, *(int(each.metadata.resource_version) for each in claims)])
    ledger = Ledger(
        project=owner.metadata.uid,
        revision=newest,
        holder="another",
        written=stage.environment.now(),
        reserved=tuple(map(promise, claims)),
    )
    meta = ObjectMeta(
        name=lookups.ledger_name("shop"), namespace=CORE, labels={lookups.CONSUMER_NAME: "shop"}
    )
    await stage.client("core").create(ConfigMap(metadata=meta, data=ledger.data()))


def start(stage: Stage, instances: int) -> None:
    amounts = {"compute.datumapis.com/instances": instances}
    stage.start(*service.controllers(planes(stage), stage.factory, amounts))


def test_the_promises_of_a_keeper_who_died_are_kept_after_a_while(tmp_path):
    """They count at once, are kept within seconds, and the rest of the budget is given after."""

    async def story(stage: Stage) -> None:
        youngest_first = [await stage.client("shop").create(claim(n)) for n in (1, 0)]
        await promised(stage, youngest_first[0])
        start(stage, 1)
        await asyncio.sleep(4)
        assert await reasons(stage) == {"PendingEvaluation": 2}
        await stage.seen("shop", claim(1), lambda c: reason(c) == "QuotaAvailable", 3)
        await stage.seen("shop", claim(0), lambda c: reason(c) == "QuotaExceeded")

    staged(tmp_path, story, *PLANES)


def test_a_promise_to_a_claim_that_went_is_no_promise(tmp_path):
    """A later claim of the same name has no reservation, and the first is not waited for."""

    async def story(stage: Stage) -> None:
        client = stage.client("shop")
        first = await client.create(claim(0))
        await promised(stage, first)
        await client.delete(first)
        await client.create(claim(0))
        start(stage, 1)
        await stage.seen("shop", claim(0), lambda c: reason(c) == "QuotaAvailable", 2)

    staged(tmp_path, story, *PLANES)


def test_a_later_project_of_the_same_name_has_a_ledger_of_its_own(tmp_path):
    """The reservations of an earlier life of a project are void."""

    async def story(stage: Stage) -> None:
        await promised(stage, revision=1_000_000)
        core = stage.client("core")
        await core.delete(await core.get(Project, "shop"))
        await core.create(project())
        start(stage, 1)
        await stage.client("shop").create(claim())
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable", 2)

    staged(tmp_path, story, *PLANES)


def test_a_plane_that_was_set_back_by_a_backup_is_served_again(tmp_path):
    """A ledger that saw more than the plane will ever show again does not stop the project."""

    async def story(stage: Stage) -> None:
        await promised(stage, revision=1_000_000)
        await stage.client("shop").create(claim())
        start(stage, 1)
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable", 120)

    staged(tmp_path, story, *PLANES)


def test_nothing_is_given_until_the_claims_are_known_far_enough(tmp_path):
    """A keeper whose view is older than the ledger waits until it has caught up."""

    async def story(stage: Stage) -> None:
        start(stage, 1)
        await stage.rest()
        other = ConfigMap(metadata=ObjectMeta(name="other", namespace="default"))
        made = await stage.client("shop").create(
            other
        )  # a revision that a watch of claims receives late
        await promised(stage, revision=int(made.metadata.resource_version))
        await asyncio.sleep(2)
        await stage.client("shop").create(claim())
        await stage.seen("shop", claim(), lambda c: reason(c) == "QuotaAvailable", 2)

    staged(tmp_path, story, *PLANES)


def test_a_project_that_was_cut_off_is_counted_before_anything_is_given(tmp_path):
    """A grant during the cut counts once the link is back."""

    async def story(stage: Stage) -> None:
        link = Link("shop")
        plane = await stage.plane("shop")
        await stage.role("projects").engage(
            cluster_name("shop"), linked_client(plane, "compute", link)
        )
        await started(stage, instances=1)
        await stage.rest()
        link.cut()
        taken = await stage.client("shop").create(claim(0))
        granted = msgspec.structs.replace(
            taken,
            status=msgspec.structs.replace(
                taken.status,
                conditions=(
                    msgspec.structs.replace(
                        taken.status.conditions[0], status="True", reason="QuotaAvailable"
                    ),
                ),
            ),
        )
        await stage.client("shop").patch_status(taken, granted)
        await stage.client("shop").create(claim(1))
        await asyncio.sleep(60)
        link.heal()
        await stage.seen("shop", claim(1), lambda c: reason(c) == "QuotaExceeded", 120)
        assert await reasons(stage) == {"QuotaAvailable": 1, "QuotaExceeded": 1}

    staged(tmp_path, story, ("core", "core"), ("hub", "hub"))


def test_a_ledger_that_was_deleted_is_started_again(tmp_path):
    """Losing the ledger at rest loses nothing: every grant is in the status of its claim."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=2)
        await stage.client("shop").create(claim(0))
        await stage.seen("shop", claim(0), lambda c: reason(c) == "QuotaAvailable")
        await stage.rest()
        core = stage.client("core")
        await core.delete(await core.get(ConfigMap, lookups.ledger_name("shop"), CORE))
        for number in (1, 2):
            await stage.client("shop").create(claim(number))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 2, "QuotaExceeded": 1}
        await core.get(ConfigMap, lookups.ledger_name("shop"), CORE)

    staged(tmp_path, story, *PLANES)


def test_a_claim_that_changes_while_it_is_answered_is_answered_again(tmp_path):
    """A write to a claim at the same time does not lose its grant."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=50)
        client = stage.client("shop")
        await stage.rest()
        for number in range(40):
            await client.create(claim(number))
            await asyncio.sleep(0.001)
            now = await client.get(ResourceClaim, names.claim(f"web-home-dfw-{number}"), "default")
            meta = msgspec.structs.replace(now.metadata, annotations={"touched": "once"})
            await client.patch(now, msgspec.structs.replace(now, metadata=meta))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 40}

    staged(tmp_path, story, *PLANES)


def test_an_answer_is_for_the_claim_that_was_decided(tmp_path):
    """A claim that is gone, that came later under its name, or that requests more now gets no answer."""

    async def story(stage: Stage) -> None:
        made = await stage.client("shop").create(claim())
        shop, core = stage.role("projects").sole(), stage.role("core").sole()
        await shop.informers.of(ResourceClaim).wait_synced()
        owner, ledger = await stage.client("core").create(project()), ClaimLedger()
        context = BudgetContext(
            owner, shop, core, ledger, None, Ledger(project="uid"), stage.environment.now()
        )
        entry = entry_of(made)
        before = len(stage.writes)
        for other in (
            replace(entry, uid="later"),
            replace(entry, need=(("cpu", 9),)),
            replace(entry, position=entry.position._replace(name="gone")),
        ):
            await context.answer(other, lambda found: found.status)
            await context.grant([other])
            assert context.faults(other, {}) == []
        assert len(stage.writes) == before

    staged(tmp_path, story, *PLANES)
