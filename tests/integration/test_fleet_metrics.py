"""What a person would alert on: the metrics of the management controllers."""

import asyncio

from tests.integration.operators import cut
from tests.integration.worlds import Watched, run_story, workload


def metrics(world: Watched) -> dict[tuple[str, ...], float]:
    """Each sample of management: its name and the values of its labels but for buckets."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in world.world.metrics()["management"].registry.collect()
        for sample in family.samples
    }


def test_the_fleet_is_counted_by_city_phase_and_reason():
    """A scrape finds what serves, what waits for quota and since when, and how long things took."""

    async def story(world: Watched) -> None:
        await world.limit(3)
        await world.deploy(workload(cities=("DFW", "LHR")))
        await world.user.create(
            workload("more", cities=("LHR",), replicas=2, instance_management_policy="Parallel")
        )
        await asyncio.sleep(100)
        metrics(world)  # which starts to follow the leases
        await asyncio.sleep(20)
        found = metrics(world)
        assert found["compute_workloads", "", "Ready", "AvailablePlacementFound"] == 2
        assert found["compute_deployments", "LHR", "Ready", "StableInstanceFound"] == 2
        assert found["compute_instances", "DFW", "Ready", "Available"] == 1
        assert found["compute_instances", "LHR", "Ready", "Available"] == 2
        assert found["compute_quota_claims_waiting", "LHR", "QuotaExceeded"] == 1
        assert 100 <= found["compute_instance_oldest_unready_seconds", "LHR"] <= 130
        assert ("compute_instance_oldest_unready_seconds", "DFW") not in found
        assert found["compute_rollout_duration_seconds_count",] == 1
        for hop, count in (("project_to_hub", 3), ("hub_to_cell", 3), ("cell_to_project", 4)):
            assert found["compute_hop_latency_seconds_count", hop] >= count - 1
            assert found["compute_hop_latency_seconds_sum", hop] < 30

    run_story(story, ("DFW", "LHR"))


def test_the_age_of_a_cells_last_report_grows_while_it_is_silent():
    """It stays below the time of a lease while the cell answers."""

    async def story(world: Watched) -> None:
        metrics(world)
        await asyncio.sleep(60)
        assert metrics(world)["compute_cell_last_report_age_seconds", "dfw", "DFW"] < 40
        await cut(world, "dfw")
        await asyncio.sleep(300)
        found = metrics(world)
        assert found["compute_cell_last_report_age_seconds", "dfw", "DFW"] > 250
        assert found["compute_cell_last_report_age_seconds", "lhr", "LHR"] < 40

    run_story(story, ("DFW", "LHR"))
