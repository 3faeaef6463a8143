"""Quota: denied, freed, and given back."""

import asyncio

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.quota import ResourceClaim
from kubekit.api.kinds.events import Event
from tests.integration.worlds import PROJECT, Watched, reason_of, run_story, workload

SHORTAGE = (
    "Not enough quota: instances: 1 asked for, 0 of 1 left; vcpus: 1 asked for, 0 of 1 left; "
    "memory: 2048 MiB asked for, 0 of 2048 MiB left. "
    "Scale down, delete something, or ask for more quota"
)


def test_what_is_denied_runs_once_budget_is_there():
    """The cause is reported at every level with a warning, and more quota is all that is needed."""

    async def story(world: Watched) -> None:
        await world.limit(1)
        parallel = workload(cities=("DFW",), replicas=2, instance_management_policy="Parallel")
        await world.user.create(parallel)
        blocked = await world.named(
            PROJECT,
            Instance,
            "web-home-dfw-1",
            true=lambda i: reason_of(i, "QuotaGranted") == "QuotaExceeded",
        )
        assert blocked.spec.controller is not None
        assert [gate.name for gate in blocked.spec.controller.scheduling_gates] == ["Quota"]
        assert reason_of(blocked, "Ready") == "PendingQuota"
        await world.rest()
        deployment = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert reason_of(deployment, "ReplicasReady") == "QuotaExceeded"
        whole = await world.user.get(Workload, "web", "default")
        claim = await world.user.get(ResourceClaim, names.claim("web-home-dfw-1"), "default")
        for each in (claim, blocked, deployment, whole):
            assert SHORTAGE in str(each.status.conditions)
        assert whole.status.ready_replicas == 1
        warnings = [e for e in (await world.user.every(Event)).items if e.type == "Warning"]
        assert {(e.reason, e.regarding.name) for e in warnings if e.regarding} == {
            ("QuotaExceeded", "web-home-dfw-1"),
            ("QuotaExceeded", "web-home-dfw"),
            ("CityStuck", "web"),
        }
        await world.limit(2)
        await world.served("web", seconds=10.0)

    run_story(story)


def test_budget_that_another_workload_frees_is_used():
    """Deleting one is enough for the other, within a moment."""

    async def story(world: Watched) -> None:
        await world.limit(1)
        await world.deploy(workload("one", cities=("DFW",)))
        await world.user.create(workload("two", cities=("LHR",)))
        await world.rest()
        assert not (await world.user.get(Workload, "two", "default")).status.ready_replicas
        await world.user.delete(await world.user.get(Workload, "one", "default"))
        await world.served("two", seconds=30.0)
        claims = (await world.user.every(ResourceClaim)).items
        assert [c.metadata.name for c in claims] == [names.claim("two-home-lhr-0")]

    run_story(story)


def test_a_quota_service_that_starts_is_no_outage():
    """The first claims of a new project, and those made while quota restarts, raise no alarm."""

    async def story(world: Watched) -> None:
        written: list[bytes] = []
        for plane in world.planes.values():
            plane.store.listen(lambda _, event: written.append(event.record.data))
        await world.deploy(workload("one"))
        await world.world.pause("quota")
        await world.user.create(workload("two"))
        await asyncio.sleep(20)
        await world.world.resume("quota")
        await world.served("two")
        await world.rest()
        assert any(b'"PendingEvaluation"' in each for each in written)
        assert not [each for each in written if b"QuotaBackendUnavailable" in each]

    run_story(story)
