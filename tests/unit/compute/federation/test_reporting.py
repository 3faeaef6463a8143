"""The status of a copy on its way back to the hub."""

import msgspec

from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    condition_of,
    report,
    run_story,
    send,
    settle,
    work,
    written,
)
from tests.support.compute.federation_builders import with_status
from tests.support.kubekit.stage import Stage


async def shown(stage: Stage, ready: int, seconds: float = 1.0) -> WorkloadDeployment:
    def true(wd: WorkloadDeployment) -> bool:
        return wd.status.ready_replicas == ready

    return await stage.named("hub", WorkloadDeployment, WD, NS, true, seconds)


def test_a_status_of_the_cell_reaches_the_hub_by_three_writes(tmp_path):
    """One report costs the Work, the binding and the hub's object one write each, at once."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        before = await settle(stage)
        await report(stage)
        hub = await shown(stage, 1, 0.1)
        assert hub.status == (await arrived(stage)).status
        await settle(stage)
        assert written(stage, before) == [
            "dfw workloaddeployments",
            "hub works",
            "hub resourcebindings",
            "hub workloaddeployments",
        ]

    run_story(tmp_path, story)


def test_the_binding_tells_of_each_cluster(tmp_path):
    """Status, health and what became of it, under the name of the cluster."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        await shown(stage, 1)
        binding = await bound(stage)
        (item,) = binding.status.aggregated_status
        assert (item.cluster_name, item.applied, item.health) == ("dfw", True, "Healthy")
        status = msgspec.convert(item.status, WorkloadDeploymentStatus)
        assert status == (await arrived(stage)).status
        reasons = {c.type: c.reason for c in binding.status.conditions}
        assert reasons == {"Scheduled": "Success", "FullyApplied": "FullyAppliedSuccess"}
        assert binding.status.scheduler_observed_generation == binding.metadata.generation
        assert (await work(stage)).status.manifest_statuses[0].health == "Healthy"

    run_story(tmp_path, story)


def test_a_cell_that_has_said_nothing_changes_nothing_on_the_hub(tmp_path):
    """Without a status in the cell the hub's stays as it is."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        await stage.client("hub").patch_status(made, with_status(made, ready_replicas=7))
        await arrived(stage)
        await settle(stage)
        assert (await shown(stage, 7)).status.ready_replicas == 7
        (item,) = (await bound(stage)).status.aggregated_status
        assert (item.status, item.health) == ({}, "Unhealthy")

    run_story(tmp_path, story)


def test_a_status_that_another_client_wrote_on_the_hub_is_replaced(tmp_path):
    """How a copy does is the cell's word."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        hub = await shown(stage, 1)
        await settle(stage)
        live = await stage.client("hub").get(WorkloadDeployment, WD, NS)
        await stage.client("hub").patch_status(live, with_status(live, ready_replicas=7))
        assert (await shown(stage, 1)).status == hub.status

    run_story(tmp_path, story)


def test_conditions_in_another_order_are_no_news(tmp_path):
    """The hub's object is not written because a list was turned around."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        await shown(stage, 1)
        copy = await arrived(stage)
        available = condition_of(copy, "Available")
        other = msgspec.structs.replace(available, type="ReplicasReady")
        cell = stage.client("dfw")
        two = with_status(copy, available, other, ready_replicas=1)
        copy = await cell.patch_status(copy, two)
        before = await settle(stage)
        await cell.patch_status(copy, with_status(copy, other, available, ready_replicas=1))
        await settle(stage)
        assert "hub workloaddeployments" not in written(stage, before)

    run_story(tmp_path, story)


def test_a_template_change_is_not_reported_as_a_status(tmp_path):
    """A status write on the hub does not come back to the cell."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await report(stage)
        await shown(stage, 1)
        before = await settle(stage)
        await report(stage, ready=0)
        await shown(stage, 0)
        await settle(stage)
        assert written(stage, before).count("dfw workloaddeployments") == 1

    run_story(tmp_path, story)
