"""An isolated cell: it keeps its Instances, replaces them, and finishes what it started."""

from msgspec.structs import replace

from compute.api.compute import Instance
from compute.api.quota import ResourceClaim
from tests.support.compute.builders import condition
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


async def cut_off(rig: Rig) -> None:
    await rig.stage.rest()
    rig.shop.cut()
    rig.hub.cut()


def heal(rig: Rig) -> None:
    rig.shop.heal()
    rig.hub.heal()


def test_an_isolated_cell_replaces_its_instances(tmp_path):
    """An Instance that replaces another runs on the grant of its slot."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        before = await rig.claim()
        await cut_off(rig)
        await rig.remove()
        await rig.gone(seconds=1)
        await rig.instance()
        healed = await rig.run_machine()
        assert status_and_reason(healed, "QuotaGranted") == ("True", "QuotaAvailable")

        heal(rig)
        await rig.stage.rest(120)

        assert (await rig.claim()).metadata.uid == before.metadata.uid
        assert is_ready(await rig.seen())
        copy = await rig.stage.named("hub", Instance, NAME, NAMESPACE, is_ready)
        assert copy.status == (await rig.seen()).status
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_w13_a_grant_that_was_not_reported_yet_outlives_its_cell(tmp_path):
    """The gate was open when the process ended; the next process cannot read the claim, and stops nothing."""

    async def story(rig: Rig) -> None:
        first = rig.start_process()
        await rig.deploy()
        await rig.instance()
        await rig.decide()
        await rig.seen(lambda i: not waiting(i))
        await first.close()
        rig.shop.cut()
        await rig.report(condition("Programmed", "True", "Programmed"), condition("Available"))
        await rig.restart()

        served = await rig.seen(is_ready)
        assert status_and_reason(served, "QuotaGranted") == ("True", "QuotaAvailable")

    on_a_cell(tmp_path, story)


def test_an_isolated_cell_starts_nothing_without_a_grant(tmp_path):
    """A new slot waits with a reason, and continues when the project is reachable again."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(2)
        await rig.running()
        await cut_off(rig)
        await rig.instance(1)
        name = f"{NAME[:-1]}1"
        await rig.seen(has_condition("QuotaGranted", "False", "QuotaBackendUnavailable"), name)
        await rig.stage.rest()
        assert waiting(await rig.seen(name=name))

        heal(rig)

        await rig.decide(name=f"{CLAIM[:-1]}1")
        await rig.run_machine(name)

    on_a_cell(tmp_path, story)


def test_a_smaller_grant_opens_no_gate_of_a_larger_instance(tmp_path):
    """Only the slot's own grant counts: not a claim of another size, nor a deleting one."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        claim = await rig.claim()
        await rig.remove()
        await rig.gone()
        await rig.project.delete(claim)
        spec = replace(claim.spec, requests=claim.spec.requests[:1])
        metadata = replace(claim.metadata, uid="", resource_version="")
        await rig.project.create(replace(claim, spec=spec, metadata=metadata))
        await rig.decide()
        await cut_off(rig)
        await rig.instance()

        await rig.seen(has_condition("QuotaGranted", "False", "QuotaBackendUnavailable"))
        assert waiting(await rig.seen())

    on_a_cell(tmp_path, story)


def test_w16_an_isolated_cell_finishes_its_deletions(tmp_path):
    """The Instance goes with its machine, its claim and its copy when the other planes are reachable again."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.stage.named("hub", Instance, NAME, NAMESPACE, is_ready)
        await rig.scale(0)
        await cut_off(rig)
        await rig.remove()
        await rig.gone(seconds=40)
        await rig.stage.rest(600)
        assert await rig.project.find(ResourceClaim, CLAIM, "default")
        assert await rig.upstairs.find(Instance, NAME, NAMESPACE)

        heal(rig)

        await rig.claim_gone(seconds=90)
        await rig.stage.gone("hub", Instance, NAME, NAMESPACE, seconds=90)
        assert "QuotaClaimOrphaned" in await rig.reasons()
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_an_instance_waits_a_little_for_a_quota_service_that_restarts(tmp_path):
    """A short outage costs only time, and writes no warning."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.scale(0)
        await rig.stage.rest()
        rig.shop.cut()
        await rig.remove()
        await rig.stage.rest(10)
        assert (await rig.seen()).deleting

        rig.shop.heal()

        await rig.gone(seconds=5)
        await rig.claim_gone(seconds=1)
        await rig.stage.rest()
        assert await rig.reasons() == []

    on_a_cell(tmp_path, story)


def test_w16_an_unreachable_hub_blocks_no_instance(tmp_path):
    """An Instance is created, runs and is deleted while the hub is unreachable."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.stage.rest()
        rig.hub.cut()
        await rig.running()
        await rig.scale(0)
        await rig.remove()

        await rig.gone(seconds=1)

    on_a_cell(tmp_path, story)
