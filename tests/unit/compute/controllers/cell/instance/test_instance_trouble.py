"""What is reported of an Instance in trouble, and how often."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance
from compute.api.instance_spec import LocationRef, NetworkRef
from compute.api.networking import NetworkBinding, NetworkBindingSpec
from compute.api.quota import ResourceClaim
from compute.controllers.cell.planes import CellSettings
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ConditionStatus, ObjectMeta, with_metadata
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


@pytest.mark.parametrize("reason", ["ImageUnavailable", "InstanceCrashing", "ConfigurationError"])
def test_w18_a_machine_that_cannot_run_is_reported_once(tmp_path, reason):
    """One Warning per new reason, however often the provider writes it."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.decide()
        await rig.seen(lambda i: not waiting(i))
        for text in ("first", "second"):
            await rig.report(condition("Programmed", "False", reason, text))
            await rig.seen(_says(reason, text))
        await rig.stage.rest()

        assert await rig.reasons() == [reason]

    on_a_cell(tmp_path, story)


def _says(reason: str, text: str) -> Callable[[Instance], bool]:
    return lambda i: status_and_reason(i, "Ready")[1] == reason and text in str(i)


def binding(status: ConditionStatus, reason: str) -> NetworkBinding:
    made = NetworkBinding(
        metadata=ObjectMeta(name="web-home-dfw-net-0", namespace=NAMESPACE),
        spec=NetworkBindingSpec(
            location=LocationRef(name="dfw", namespace=""), network=NetworkRef(name="default")
        ),
    )
    new_status = replace(
        made.status, conditions=(condition("Ready", status, reason, "no addresses"),)
    )
    return replace(made, status=new_status)


async def bind(rig: Rig, status: ConditionStatus, reason: str) -> None:
    """Write the status of a binding, as the network service does."""
    wanted = binding(status, reason)
    found = await rig.cell.find(NetworkBinding, wanted.metadata.name, NAMESPACE)
    there = found or await rig.cell.create(wanted)
    await rig.cell.patch_status(there, replace(there, status=wanted.status))


def test_a_network_that_failed_is_reported_by_the_instances_that_wait(tmp_path):
    """The binding's failure becomes the reason of Ready, with a Warning, until it is fixed."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(2)
        await rig.running(1)
        await rig.instance(gates=("Network", "Quota"))
        await rig.decide()
        await rig.seen(lambda i: not waiting(i))
        await bind(rig, "False", "NetworkFailedToCreate")
        await rig.seen(has_condition("Ready", "False", "NetworkFailedToCreate"))
        assert is_ready(await rig.seen(name="web-home-dfw-1"))
        await rig.stage.rest()
        assert await rig.reasons() == ["NetworkFailedToCreate"]

        await bind(rig, "True", "NetworkContextReady")

        await rig.seen(has_condition("Ready", "False", "SchedulingGatesPresent"))
        assert await rig.stage.quiet() == []

    on_a_cell(tmp_path, story)


def test_networks_are_not_read_without_networking(tmp_path):
    """Without networking bindings are ignored."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await bind(rig, "False", "NetworkFailedToCreate")
        await rig.instance(gates=("Network", "Quota"))
        await rig.decide()
        await rig.seen(lambda i: not waiting(i))
        await rig.stage.rest()

        assert status_and_reason(await rig.seen(), "Ready") == ("False", "SchedulingGatesPresent")

    on_a_cell(tmp_path, story, CellSettings(name=CELL, networking=False))


def test_bindings_of_other_deployments_requeue_nothing(tmp_path):
    """A binding with a name of another form is ignored."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(gates=("Network", "Quota"))
        await rig.decide()
        await rig.seen(lambda i: not waiting(i))
        other = binding("False", "NetworkFailedToCreate")
        metadata = replace(other.metadata, name="another")
        await rig.cell.create(replace(other, metadata=metadata))
        await rig.stage.rest()

        assert status_and_reason(await rig.seen(), "Ready") == ("False", "SchedulingGatesPresent")

    on_a_cell(tmp_path, story)


def test_without_quota_the_gate_opens(tmp_path):
    """A cell without quota lets its Instances through, reports that, and sets no finalizer."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(finalizers=())
        open_ = await rig.seen(
            lambda i: status_and_reason(i, "QuotaGranted") == ("True", "QuotaDisabled")
        )
        assert not waiting(open_)
        assert open_.metadata.finalizers == ()
        assert rig.shop.calls == 0

        await rig.delete()

        await rig.gone()

    on_a_cell(tmp_path, story, CellSettings(name=CELL, quota=False))


def test_without_quota_a_machine_that_stops_is_no_longer_ready(tmp_path):
    """An Instance with only its provider's finalizer has conditions until it is gone."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance(finalizers=())
        await rig.run_machine()
        await rig.delete()
        await rig.report(condition("Available", "False", "Stopping"))

        await rig.seen(has_condition("Ready", "False", "Stopping"))
        await rig.stop_machine()
        await rig.gone()

    on_a_cell(tmp_path, story, CellSettings(name=CELL, quota=False))


def test_quota_switched_off_removes_its_finalizer(tmp_path):
    """A finalizer from before blocks no deletion."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy(replicas=0)
        await rig.instance()
        await rig.seen(lambda i: not waiting(i))
        await rig.delete()

        await rig.gone()

    on_a_cell(tmp_path, story, CellSettings(name=CELL, quota=False))


async def relabel(rig: Rig, **new_labels: str) -> None:
    found = await rig.cell.get(Namespace, NAMESPACE)
    await rig.cell.patch(found, with_metadata(found, labels=new_labels))


def test_a_namespace_without_the_labels_of_its_project(tmp_path):
    """Nothing is guessed; once the labels are back it continues, without a timer."""

    async def story(rig: Rig) -> None:
        labelled = (await rig.cell.get(Namespace, NAMESPACE)).metadata.labels
        await relabel(rig)
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.seen(has_condition("QuotaGranted", "False", "QuotaProjectIDUnresolvable"))
        await rig.stage.rest(400)
        assert await rig.reasons() == ["QuotaProjectIDUnresolvable"]

        await relabel(rig, **labelled)

        await rig.stage.until(lambda: claimed(rig), seconds=1)
        await rig.decide()
        await rig.run_machine()

    async def claimed(rig: Rig) -> bool:
        return bool(await rig.claim())

    on_a_cell(tmp_path, story)


def test_an_instance_of_an_unknown_project_is_released_with_a_warning(tmp_path):
    """Its claim cannot be found any more, which an operator should know."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.running()
        await rig.scale(0)
        await relabel(rig, **{labels.UPSTREAM_NAMESPACE: "default"})
        await rig.remove()

        await rig.gone()
        await rig.stage.rest()
        assert "QuotaClaimOrphaned" in await rig.reasons()
        text = rig.stage.factory.metrics.text().decode()
        assert "compute_quota_claim_orphaned_total 1.0" in text

    on_a_cell(tmp_path, story)


async def vanish(rig: Rig) -> None:
    """Delete an Instance, while the cache still has it."""
    await rig.stage.rest(1)
    rig.home.deaf = True
    await rig.delete()
    held = await rig.cell.get(Instance, NAME, NAMESPACE)
    await rig.cell.patch(held, with_metadata(held, finalizers=()))


def test_an_instance_that_vanishes_under_a_pass_is_no_error(tmp_path):
    """An Instance that is gone needs nothing."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        await rig.claim()
        await vanish(rig)
        await rig.decide()
        await rig.stage.rest(1)

        results = rig.stage.factory.metrics.controller("instance-controller").results
        assert results[PassResult.ERROR] == 0

    on_a_cell(tmp_path, story)


def test_nothing_is_claimed_for_an_instance_that_is_gone(tmp_path):
    """The Instance is read live before the claim is created."""

    async def story(rig: Rig) -> None:
        rig.start()
        await rig.deploy()
        await rig.instance()
        claim = await rig.claim()
        await vanish(rig)
        await rig.project.delete(claim)
        await asyncio.sleep(20)

        assert await rig.project.find(ResourceClaim, CLAIM, "default") is None

    on_a_cell(tmp_path, story)
