"""The neighbours of compute in a whole world: quota, cities and entitlements."""

from collections.abc import Callable

import msgspec

from compute.api import annotations, names
from compute.api.compute import Workload
from compute.api.karmada import MemberCluster
from compute.api.networking import Location, LocationBinding
from compute.api.quota import AllowanceBucket, ResourceClaim
from compute.api.services import ServiceEntitlement
from compute.decide.quota import INSTANCES
from kubekit.api.kinds.events import Event
from tests.integration.operators import blocked, cut, entitle, lose, ready, settings, warnings
from tests.integration.worlds import PROJECT, Watched, is_ready, reason_of, run_story, workload

# Quota


def test_a_claim_gets_everything_or_nothing():
    """Who does not get all of it holds nothing, and waits without a write."""

    async def story(world: Watched) -> None:
        await world.limit(2)
        core = world.client("core")
        await world.deploy(workload("one", cities=("DFW",), replicas=2))
        await world.user.create(workload("two", cities=("LHR",)))
        denied = await world.named(
            PROJECT,
            ResourceClaim,
            names.claim("two-home-lhr-0"),
            true=lambda c: reason_of(c, "Granted") == "QuotaExceeded",
        )
        assert not any(a.allocated_amount for a in denied.status.allocations)
        await world.rest()
        assert await world.quiet() == []
        used = {
            b.spec.resource_type: (b.status.allocated, b.status.limit, b.status.claim_count)
            for b in (await core.every(AllowanceBucket)).items
        }
        assert used[INSTANCES] == (2, 2, 2)
        assert {count for _, _, count in used.values()} == {2}

    run_story(story, cities=("DFW", "LHR"))


def test_the_oldest_is_served_first_when_budget_frees():
    """Whatever its city: who asked first runs first, and the next waits on."""

    async def story(world: Watched) -> None:
        await world.limit(1)
        await world.deploy(workload("first", cities=("SIN",)))
        for name, city in (("old", "LHR"), ("new", "DFW")):
            await world.user.create(workload(name, cities=(city,)))
            await world.rest()
        await world.user.delete(await world.user.get(Workload, "first", "default"))
        await world.served("old", seconds=30.0)
        await world.rest()
        waiting = await world.user.get(Workload, "new", "default")
        assert not waiting.status.ready_replicas
        await world.user.delete(await world.user.get(Workload, "old", "default"))
        await world.served("new", seconds=30.0)

    run_story(story)


def test_a_new_project_may_run_ten_instances_and_no_eleventh():
    """What the first grant says; the Workload names the quota as the cause."""

    async def story(world: Watched) -> None:
        parallel = workload(cities=("DFW",), replicas=11, instance_management_policy="Parallel")
        await world.user.create(parallel)
        await ready(world, "web", 10)
        await world.rest()
        whole = await blocked(world, "web", "instances: 1 asked for, 0 of 10 left")
        assert whole.status.ready_replicas == 10

    run_story(story, cities=("DFW",))


def test_claims_that_a_lost_cell_leaves_are_reported_and_stay():
    """Its machines may still run: an event on each claim says who can free the quota."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await lose(world, "dfw")
        claim = names.claim("web-home-dfw-0")
        reported = await world.until(lambda: _events_on(world, claim))
        assert [e.reason for e in reported] == ["QuotaClaimOrphaned"]
        assert "dfw is gone" in reported[0].note
        await world.rest()
        assert await world.user.find(ResourceClaim, claim, "default") is not None

    run_story(story, cities=("DFW", "LHR"))


# Cities and entitlements


def test_a_city_that_a_cell_comes_to_serve_is_offered_and_one_that_it_leaves_is_not():
    """The label of the hub's Cluster decides, for the cell's Location and the projects alike."""

    async def story(world: Watched) -> None:
        hub = world.client("hub")
        cluster = await hub.get(MemberCluster, "lhr")
        moved = cluster.metadata.labels | {"topology.datum.net/city-code": "AMS"}
        metadata = msgspec.structs.replace(cluster.metadata, labels=moved)
        await hub.patch(cluster, msgspec.structs.replace(cluster, metadata=metadata))
        offered = await world.named(PROJECT, LocationBinding, "ams", "")
        assert offered.spec.display_name == "Amsterdam"
        await world.gone(PROJECT, LocationBinding, "lhr")
        await world.named("lhr", Location, "ams", "", is_ready)
        await world.gone("lhr", Location, "lhr")

    run_story(story, cities=("DFW", "LHR"))


def test_a_city_whose_cell_is_silent_is_offered_as_unavailable():
    """So a user sees it before deploying there; it is available again when the cell is."""

    async def story(world: Watched) -> None:
        await cut(world, "dfw")
        await world.named(
            PROJECT,
            LocationBinding,
            "dfw",
            "",
            lambda b: reason_of(b, "Available") == "CellUnreachable",
            seconds=120.0,
        )
        await cut(world, "dfw", "false")
        await world.named(
            PROJECT, LocationBinding, "dfw", "", lambda b: reason_of(b, "Available") == "Ready"
        )

    run_story(story, cities=("DFW", "LHR"))


def test_entitlements_wait_for_the_time_or_the_hand_that_is_set():
    """A delay, then by hand, then by itself again: changed at run time."""

    async def story(world: Watched) -> None:
        await settings(world, "core", "entitlements", delaySeconds="120")
        await entitle(world, "first")
        await world.named(PROJECT, ServiceEntitlement, "first", "", _is("PendingApproval"))
        assert await world.quiet(60.0) == []
        await world.named(PROJECT, ServiceEntitlement, "first", "", _is("Active"), seconds=70.0)
        await settings(world, "core", "entitlements", approval="Manual")
        waiting = await entitle(world, "second")
        await world.named(PROJECT, ServiceEntitlement, "second", "", _is("PendingApproval"))
        await settings(world, "core", "entitlements", approval="Never")
        await world.rest()
        assert "SettingsInvalid" in await warnings(world, "core")
        await world.named(PROJECT, ServiceEntitlement, "second", "", _is("PendingApproval"))
        waiting = await world.user.get(ServiceEntitlement, "second")
        word = waiting.metadata.annotations | {annotations.APPROVAL: "Approved"}
        metadata = msgspec.structs.replace(waiting.metadata, annotations=word)
        await world.user.patch(waiting, msgspec.structs.replace(waiting, metadata=metadata))
        await world.named(PROJECT, ServiceEntitlement, "second", "", _is("Active"))

    run_story(story, cities=("DFW",))


async def _events_on(world: Watched, claim: str) -> list[Event]:
    return [
        e
        for e in (await world.user.every(Event)).items
        if e.regarding and e.regarding.name == claim
    ]


def _is(phase: str) -> Callable[[ServiceEntitlement], bool]:
    return lambda entitlement: entitlement.status.phase == phase
