"""Instances of a cell: through the quota gate, Ready, and deleted."""

from compute.api import finalizers
from compute.api.compute import Instance
from tests.support.compute.builders import condition
from tests.support.compute.cell_rig import (
    CELL,
    NAME,
    NAMESPACE,
    Rig,
    has_condition,
    is_ready,
    on_a_cell,
    status_and_reason,
    waiting,
)


def test_an_instance_claims_quota_passes_its_gate_and_becomes_ready(tmp_path):
    """A claim in its project, the grant, the gate, the machine, Ready; and then nothing more."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        claim = await rig.claim()
        pending = await rig.seen(has_condition("Ready", "False", "SchedulingGatesPresent"))
        assert status_and_reason(pending, "QuotaGranted") == ("Unknown", "PendingEvaluation")
        assert claim.spec.resource_ref is not None
        assert claim.spec.resource_ref.name == NAME

        await rig.decide()
        ready = await rig.run_machine()

        assert not waiting(ready)
        assert status_and_reason(ready, "QuotaGranted") == ("True", "QuotaAvailable")
        assert await rig.reasons() == []
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_the_gate_opens_in_the_pass_that_sees_the_grant(tmp_path):
    """Grant, status and gate are one step: nothing waits for a timer."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.claim()
        await rig.stage.rest(0.5)
        await rig.decide()

        await rig.seen(lambda i: not waiting(i), seconds=0.2)

    on_a_cell(tmp_path, story)


def test_waiting_is_reported_only_after_a_moment(tmp_path):
    """A grant at once costs no status write about waiting; a pending claim is reported."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(2)
        made = await rig.instance(0)
        await rig.instance(1)
        await rig.claim()
        await rig.stage.rest(0.1)
        assert await rig.seen() == made

        await rig.decide()
        await rig.seen(lambda i: not waiting(i), seconds=0.2)
        other = has_condition("Ready", "False", "SchedulingGatesPresent")
        await rig.seen(other, "web-home-dfw-1", seconds=11)
        assert await rig.stage.quiet(30) == []

    on_a_cell(tmp_path, story)


def test_w14_ready_observes_the_newest_generation(tmp_path):
    """After a gate has opened, Ready and QuotaGranted observe the new generation."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        ready = await rig.running()
        await rig.stage.rest()
        ready = await rig.seen()

        spoken = {c.type: c.observed_generation for c in ready.status.conditions}
        assert ready.metadata.generation > 1
        assert spoken["Ready"] == spoken["QuotaGranted"] == ready.metadata.generation

    on_a_cell(tmp_path, story)


def test_w17_the_claim_is_deleted_after_the_machine_has_stopped(tmp_path):
    """Quota is not released while the machine of an Instance may run."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.scale(0)
        await rig.delete()
        await rig.stage.rest()
        held = await rig.seen()
        assert is_ready(held)
        await rig.claim(lambda c: not c.deleting)

        await rig.stop_machine()

        await rig.gone(seconds=0.5)
        await rig.claim_gone(seconds=0.5)
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_w65_a_restart_keeps_its_claim(tmp_path):
    """The next Instance of a slot uses the grant of its predecessor, and passes at once."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        before = await rig.claim()
        await rig.remove()
        await rig.gone()

        await rig.instance()
        await rig.run_machine()

        assert (await rig.claim()).metadata.uid == before.metadata.uid

    on_a_cell(tmp_path, story)


def test_two_replicas_of_the_controllers_reach_the_same_state(tmp_path):
    """Two replicas create one claim, and delete it."""

    async def story(rig: Rig) -> None:
        rig.start(twice=True)
        await rig.deploy()
        await rig.running()
        await rig.stage.rest()
        assert await rig.stage.quiet() == []
        await rig.scale(0)
        await rig.remove()

        await rig.gone()
        await rig.claim_gone()
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_an_instance_of_another_client_gets_the_finalizer_before_a_claim(tmp_path):
    """Without our finalizer an Instance would leak its claim."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(finalizers=())
        await rig.claim()

        assert (await rig.seen()).metadata.finalizers == (finalizers.CLAIM,)

    on_a_cell(tmp_path, story)


def test_an_instance_of_the_original_is_released(tmp_path):
    """The original's finalizer stands for a hub copy, which is deleted without it here."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(finalizers=(finalizers.INSTANCE,))
        await rig.claim()
        await rig.scale(0)
        await rig.cell.delete(await rig.cell.get(Instance, NAME, NAMESPACE))

        await rig.gone()
        await rig.claim_gone()

    on_a_cell(tmp_path, story)


def test_a_deleting_instance_is_not_ready_once_its_machine_stops(tmp_path):
    """A deleting Instance is Ready for as long as it serves, and no longer."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.delete()
        await rig.report(condition("Available", "False", "Stopping"))

        await rig.seen(has_condition("Ready", "False", "Stopping"))
        assert (await rig.stage.client(CELL).get(Instance, NAME, NAMESPACE)).deleting

    on_a_cell(tmp_path, story)
