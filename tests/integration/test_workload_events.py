"""`kubectl describe workload` shows its history: the events of Workloads and deployments."""

import asyncio

from bench.load.world.orders import codes
from compute.api.compute import Workload, WorkloadDeployment
from kubekit.api.kinds.events import CoreEvent
from tests.integration.worlds import PROJECT, Watched, reason_of, run_story, with_image, workload

BROKEN = "registry.test/web:does-not-exist"
_APART = 400  # seconds, after which the same again is an event of its own


async def _events(world: Watched, kind: str = "Workload", name: str = "web") -> list[CoreEvent]:
    events = (await world.user.list(CoreEvent, "default")).items
    about = [e for e in events if (e.involved_object.kind, e.involved_object.name) == (kind, name)]
    return sorted(about, key=lambda event: int(event.metadata.resource_version))


async def _reasons(world: Watched, kind: str = "Workload", name: str = "web") -> list[str]:
    return [event.reason for event in await _events(world, kind, name)]


async def _until(world: Watched, name: str, reason: str) -> None:
    await world.named(
        PROJECT,
        WorkloadDeployment,
        name,
        true=lambda deployment: reason_of(deployment, "Available") == reason,
    )
    await world.rest()


def test_the_events_of_a_workload_report_its_life():
    """Created, split, served, rolled out, stuck, undone and recovered: each once, in this order."""

    async def story(world: Watched) -> None:
        made = await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        events = await _events(world)
        assert {e.involved_object.uid for e in events} == {made.metadata.uid}
        assert [e.reason for e in events] == [
            "Created",
            "DeploymentsCreated",
            "CityAvailable",
            "RolloutFinished",
        ]
        await asyncio.sleep(_APART)
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")
        await world.rest()
        assert (await _reasons(world))[4:] == [
            "RolloutStarted",
            "CityAvailable",
            "RolloutFinished",
        ]
        await asyncio.sleep(_APART)
        await world.change("web", with_image(BROKEN))
        await _until(world, "web-home-dfw", "ImageUnavailable")
        assert (await _reasons(world))[7:] == ["RolloutStarted", "CityStuck"]
        await asyncio.sleep(_APART)
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")
        await world.rest()
        assert (await _reasons(world))[9:] == ["Undone", "CityAvailable", "RolloutFinished"]
        assert (await _events(world))[-2].message == ("DFW is available: 1 of 1 instances ready")

    run_story(story, ("DFW",))


def test_a_rollout_that_is_stuck_in_a_city_that_serves_is_reported_too():
    """The old Instances go on; the Workload says all the same which city is stuck, and why, once."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=3))
        await world.rest()
        await world.change("web", with_image(BROKEN))
        await world.rest(60.0)
        stuck = [event for event in await _events(world) if event.reason == "CityStuck"]
        assert [event.message.partition(": ")[0] for event in stuck] == [
            "DFW is stuck (ImageUnavailable)"
        ]
        assert (await _reasons(world, "WorkloadDeployment", "web-home-dfw"))[
            -1
        ] == "ImageUnavailable"
        whole = await world.user.get(Workload, "web", "default")
        assert reason_of(whole, "Available") == "AvailablePlacementFound"

    run_story(story, ("DFW",))


def test_a_restart_of_the_manager_tells_nothing_again():
    """Events follow from writes, and a restart has nothing to write."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.rest()
        before = await _reasons(world)
        await world.world.pause("management")
        await world.world.resume("management")
        await asyncio.sleep(600)
        assert await _reasons(world) == before
        assert not [e for e in await _events(world) if e.count > 1]

    run_story(story, ("DFW",))


def test_a_workload_of_many_cities_gets_a_dozen_events():
    """Its first cities are named, the others are counted together."""
    cities = tuple(codes(14))

    async def story(world: Watched) -> None:
        await world.limit(14)
        await world.deploy(workload(cities=cities))
        await world.rest()
        events = await _events(world)
        available = [event for event in events if event.reason == "CityAvailable"]
        assert len(available) == 11
        assert sum(event.count for event in available) >= 14
        (split,) = [event for event in events if event.reason == "DeploymentsCreated"]
        assert split.message.endswith(" and 4 more")
        whole = await world.user.get(Workload, "web", "default")
        assert whole.status.ready_replicas == 14

    run_story(story, cities)
