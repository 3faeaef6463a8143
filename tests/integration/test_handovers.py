"""A city that is changed, a placement that is renamed: the new serves before the old goes."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide.conditions import find
from kubekit.api.kinds.events import Event
from tests.integration.test_cells import cut
from tests.integration.test_changes import with_placements
from tests.integration.test_traps import nothing_else_is_left, uids
from tests.integration.worlds import PROJECT, Watched, is_ready, run_story, with_image, workload

LIMIT = 600.0  # seconds that the new has to make progress


def in_city(city: str) -> Callable[[Workload], Workload]:
    """A change of a Workload: its first placement is in this city alone."""

    def changed(present: Workload) -> Workload:
        first, *others = present.spec.placements
        return with_placements(replace(first, city_codes=(city,)), *others)(present)

    return changed


def renamed(present: Workload) -> Workload:
    (home,) = present.spec.placements
    return with_placements(replace(home, name="away"))(present)


async def serving(world: Watched) -> int:
    """How many Instances are Ready, in all cells."""
    found = [(await world.client(cell).every(Instance)).items for cell in ("dfw", "lhr")]
    return sum(is_ready(each) for there in found for each in there)


async def never_fewer(
    world: Watched, least: int, act: Coroutine[Any, Any, object], every: float = 0.25
) -> None:
    """Check at this interval that there are never fewer ready Instances."""
    ends = asyncio.ensure_future(act)
    while not ends.done():
        assert await serving(world) >= least
        await asyncio.wait([ends], timeout=every)
    await ends


async def noted(world: Watched, name: str) -> list[str]:
    """The reasons of the events about an object's drain."""
    events = (await world.user.every(Event)).items
    about = [e for e in events if e.regarding and e.regarding.name == name and e.action == "Drain"]
    return sorted(e.reason for e in about)


def drain_of(obj: Any) -> tuple[str, str]:
    said = find(obj.status.conditions, "DrainScheduled")
    return (said.reason, said.message) if said else ("", "")


@pytest.mark.parametrize(
    ("change", "new"), [(in_city("LHR"), "web-home-lhr"), (renamed, "web-away-dfw")]
)
def test_the_new_serves_before_the_old_goes(change, new):
    """All of it; and deployment and Workload say meanwhile what goes on, and until when."""

    async def story(world: Watched) -> None:
        for cell in ("dfw", "lhr"):
            await world.set_provider(cell, startSeconds="30")
        await world.deploy(workload(cities=("DFW",), replicas=2))

        async def act() -> None:
            await world.change("web", change)
            for kind, name in ((WorkloadDeployment, "web-home-dfw"), (Workload, "web")):
                seen = await world.named(PROJECT, kind, name, true=lambda o: any(drain_of(o)))
                reason, message = drain_of(seen)
                assert reason == "ReplacementPending"
                assert f"web-home-dfw keeps running until {new} serves" in message
            half = await world.user.get(Workload, "web", "default")
            assert (half.status.ready_replicas, half.status.desired_replicas) == (2, 2)
            assert half.status.conditions[0].message.startswith("0 of 2 instances ready; ")
            await world.served("web")

        await never_fewer(world, 2, act())
        await nothing_else_is_left(world, f"{new}-0", f"{new}-1")
        assert await noted(world, "web-home-dfw") == ["Replaced", "ReplacementPending"]
        served = await world.user.get(Workload, "web", "default")
        assert not any(drain_of(served))

    run_story(story)


def test_a_new_city_that_never_serves_gives_the_old_so_long():
    """Then the old goes, which is what the user asked for; an event says so. A restart is no delay."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        before = await uids(world, "dfw", Instance)
        await cut(world, "lhr")
        await world.quiet(60.0)
        await world.change("web", in_city("LHR"))
        await asyncio.sleep(LIMIT / 2)
        await world.world.pause("management")
        await world.world.resume("management")
        await asyncio.sleep(LIMIT / 2 - 1.0)
        assert await uids(world, "dfw", Instance) == before
        await world.gone(PROJECT, WorkloadDeployment, "web-home-dfw", "default", seconds=5.0)
        assert await noted(world, "web") == ["ReplacementPending", "ReplacementTimedOut"]

    run_story(story)


def test_what_takes_long_and_makes_progress_is_waited_for():
    """One Instance after the other, for longer than a new city may take without any."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=3))
        await world.set_provider("lhr", startSeconds="400")
        await world.change("web", in_city("LHR"))
        await never_fewer(world, 3, asyncio.sleep(1190.0), every=10.0)
        await world.served("web")
        await nothing_else_is_left(world, *(f"web-home-lhr-{n}" for n in range(3)))

    run_story(story)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_without_quota_for_both_one_is_replaced_after_the_other(policy):
    """All that the quota allows run, but for the one that is on its way; and the Workload says so."""

    async def story(world: Watched) -> None:
        for cell in ("dfw", "lhr"):
            await world.set_provider(cell, startSeconds="10", stopSeconds="5")
        await world.limit(3)
        await world.deploy(workload(cities=("DFW",), replicas=3, instance_management_policy=policy))

        async def act() -> None:
            await world.change("web", in_city("LHR"))
            seen = await world.named(
                PROJECT, Workload, "web", true=lambda w: "Quota" in drain_of(w)[0]
            )
            reason, message = drain_of(seen)
            assert reason == "ReplacementLacksQuota"
            assert "the quota does not allow both at once" in message
            await world.served("web", seconds=300.0)

        await never_fewer(world, 2, act())
        await nothing_else_is_left(world, *(f"web-home-lhr-{n}" for n in range(3)))
        assert await noted(world, "web-home-dfw") == [
            "Replaced",
            "ReplacementLacksQuota",
            "ReplacementPending",
        ]

    run_story(story)


def test_a_change_that_is_taken_back_leaves_the_old_as_it_was():
    """The same Instances, as many as before; and nothing of the new is left."""

    async def story(world: Watched) -> None:
        await world.set_provider("lhr", startSeconds="100")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        before = await uids(world, "dfw", Instance)
        await world.change("web", in_city("LHR"))
        await asyncio.sleep(50.0)
        await world.change("web", in_city("DFW"))
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0", "web-home-dfw-1")
        assert await uids(world, "dfw", Instance) == before
        assert not any(drain_of(await world.user.get(Workload, "web", "default")))

    run_story(story)


def test_a_workload_that_is_deleted_in_a_handover_goes_at_once():
    """Old and new alike."""

    async def story(world: Watched) -> None:
        await world.set_provider("lhr", startSeconds="100")
        await world.deploy(workload(cities=("DFW",)))
        await world.change("web", in_city("LHR"))
        await asyncio.sleep(20.0)
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default", seconds=5.0)
        assert await world.instances("dfw") == []

    run_story(story)


def test_a_change_of_city_and_template_at_once_keeps_the_old_template_until_then():
    """The old serves as it did: a roll of what is to go would be for nothing."""

    async def story(world: Watched) -> None:
        await world.set_provider("lhr", startSeconds="30")
        await world.deploy(workload(cities=("DFW",)))
        before = await uids(world, "dfw", Instance)

        def both(present: Workload) -> Workload:
            return with_image("registry.test/web:2")(in_city("LHR")(present))

        await world.change("web", both)
        await asyncio.sleep(20.0)
        assert await uids(world, "dfw", Instance) == before
        await world.served("web")
        await nothing_else_is_left(world, "web-home-lhr-0")

    run_story(story)
