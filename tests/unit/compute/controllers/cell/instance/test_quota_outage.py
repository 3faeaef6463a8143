"""Instances beside a quota service that is slow, unreachable, stale or denies."""

import asyncio

import pytest
from msgspec.structs import replace

from compute.api.compute import Instance
from kubekit.api.errors import Forbidden, NotFound
from kubekit.runtime.reporting.counters import PassResult
from tests.support.compute.builders import condition
from tests.support.compute.cell_rig import (
    CELL,
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


@pytest.mark.parametrize("deaf_from", ["the start", "the claim"])
def test_a_missed_grant_is_found_by_polling(tmp_path, deaf_from):
    """Without a watch event the claim is read again after a while."""

    async def story(rig: Rig) -> None:
        rig.shop.deaf = deaf_from == "the start"
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.claim()
        rig.shop.deaf = True
        await rig.decide()

        await rig.seen(lambda i: not waiting(i), seconds=35)

    on_a_cell(tmp_path, story)


def test_a_conflict_never_falls_into_error_backoff_while_quota_is_pending(tmp_path):
    """However often other writers win, a grant takes effect a second later."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.claim()
        await rig.stage.rest(1)
        rig.home.conflicts = 30
        await rig.decide()

        await rig.seen(lambda i: not waiting(i), seconds=32)
        results = rig.stage.factory.metrics.controller("instance-controller").results
        assert results[PassResult.ERROR] == 0

    on_a_cell(tmp_path, story)


def test_w13_an_outage_of_quota_stops_no_instance(tmp_path):
    """While the project is unreachable a running Instance stays Ready, and nothing is written."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        rig.shop.cut()
        assert await rig.stage.quiet() == []
        await rig.report(condition("Available", "False", "Starting"))
        await rig.seen(has_condition("Ready", "False", "Starting"), seconds=1)
        await rig.report(condition("Available"))

        back = await rig.seen(is_ready, seconds=1)

        assert status_and_reason(back, "QuotaGranted") == ("True", "QuotaAvailable")

    on_a_cell(tmp_path, story)


def test_w13_a_controller_that_starts_during_an_outage_stops_nothing(tmp_path):
    """With an empty cache and an unreachable project, a grant stays valid."""

    async def story(rig: Rig) -> None:
        await rig.deploy()
        await rig.instance()
        found = await rig.cell.get(Instance, NAME, NAMESPACE)
        assert found.spec.controller is not None
        spec = replace(found.spec, controller=replace(found.spec.controller, scheduling_gates=()))
        await rig.cell.patch(found, replace(found, spec=spec))
        await rig.report(
            condition("QuotaGranted", "True", "QuotaAvailable"),
            condition("Programmed", "True", "Programmed"),
            condition("Available"),
        )
        rig.shop.cut()
        rig.start()
        await rig.stage.rest()
        stands = await rig.seen(is_ready)
        assert status_and_reason(stands, "QuotaGranted") == ("True", "QuotaAvailable")
        assert await rig.reasons() == ["QuotaBackendUnavailable"]

        rig.shop.heal()

        await rig.claim()
        await rig.decide()
        await rig.stage.rest()
        assert is_ready(await rig.seen())

    on_a_cell(tmp_path, story)


def test_a_short_outage_writes_no_warning(tmp_path):
    """A project that is unreachable for seconds, as during a restart, changes no reason."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.claim()
        await rig.stage.rest()
        written: list[bytes] = []
        rig.stage.planes[CELL].store.listen(lambda _, event: written.append(event.record.data))
        rig.shop.cut()
        await rig.instance(1)
        await asyncio.sleep(5)
        rig.shop.heal()
        await rig.decide(name=f"{CLAIM[:-1]}1")
        await rig.run_machine(f"{NAME[:-1]}1")
        await rig.stage.rest()
        assert not [each for each in written if b"QuotaBackendUnavailable" in each]

    on_a_cell(tmp_path, story)


@pytest.mark.parametrize(
    ("refusal", "status", "reason"),
    [
        (Forbidden("cells may not claim"), "False", "QuotaMisconfigured"),
        (NotFound("the namespace is not there"), "False", "QuotaNamespaceNotFound"),
    ],
    ids=["forbidden", "no namespace"],
)
def test_a_refusal_is_reported_and_retried(tmp_path, refusal, status, reason):
    """A refusal of the project is reported on the Instance until it is fixed."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(1)
        await rig.claim(name=f"{CLAIM[:-1]}1")
        rig.shop.refuse_creates = refusal
        await rig.instance()
        await rig.seen(has_condition("QuotaGranted", status, reason))
        rig.shop.refuse_creates = None

        await rig.decide()

        await rig.run_machine()
        assert await rig.reasons() == [reason]

    on_a_cell(tmp_path, story)


def test_a_project_that_does_not_exist(tmp_path):
    """An Instance of no project waits, and can be deleted."""

    async def story(rig: Rig) -> None:
        rig.shop.missing = True
        rig.start()
        await rig.deploy(replicas=0)
        await rig.instance()
        await rig.seen(has_condition("QuotaGranted", "False", "QuotaProjectNotFound"))
        await rig.delete()

        await rig.gone(seconds=1)

    on_a_cell(tmp_path, story)


def test_a_project_that_never_answers_blocks_no_other(tmp_path):
    """A call that times out is not repeated at once for each Instance."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(20)
        await rig.running()
        rig.shop.mute = True
        for ordinal in range(1, 20):
            await rig.instance(ordinal)
        for ordinal in range(1, 20):
            name = f"{NAME[:-1]}{ordinal}"
            unreachable = has_condition("QuotaGranted", "False", "QuotaBackendUnavailable")
            await rig.seen(unreachable, name, seconds=20)
        await rig.report(condition("Available", "False", "Starting"))

        await rig.seen(has_condition("Ready", "False", "Starting"), seconds=6)

    on_a_cell(tmp_path, story)
