"""Changes that come before the last one has come to its end."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from compute.api.compute import Instance, Placement, Workload, WorkloadDeployment
from kubekit.api.errors import AlreadyExists
from tests.integration.test_rollouts import restarted
from tests.integration.test_traps import nothing_else_is_left, throughout, uids, with_finalizers
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    run_story,
    with_image,
    with_replicas,
    workload,
)


async def create_when_free(world: Watched, wanted: Workload) -> None:
    """Create a Workload as soon as its name is free."""

    async def check() -> bool:
        try:
            await world.user.create(wanted)
        except AlreadyExists:
            return False
        return True

    await world.until(check, 300.0, f"{wanted.metadata.name} to be free")


def with_placements(*placements: Placement) -> Callable[[Workload], Workload]:
    def changed(present: Workload) -> Workload:
        spec = msgspec.structs.replace(present.spec, placements=placements)
        return msgspec.structs.replace(present, spec=spec)

    return changed


def test_a_workload_that_is_made_again_at_once_is_a_new_one():
    """Nothing of the old one is adopted, and nothing of it is left."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="5")
        await world.deploy(workload(replicas=2))
        old = await uids(world, PROJECT, WorkloadDeployment)
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await create_when_free(world, workload(replicas=1))
        await world.served("web")
        await nothing_else_is_left(world, *(f"web-home-{city}-0" for city in ("dfw", "lhr", "sin")))
        new = await uids(world, PROJECT, WorkloadDeployment)
        assert not set(old.values()) & set(new.values())

    run_story(story)


def test_a_workload_torn_from_its_finalizer_and_made_again_is_served():
    """Its deployments are in the way until they have come down in order; then new ones come."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="5")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        torn = await world.user.get(Workload, "web", "default")
        await world.user.delete(await world.user.patch(torn, with_finalizers(torn)))
        await create_when_free(world, workload(cities=("DFW",), replicas=1))
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0")
        (present,) = (await world.user.every(WorkloadDeployment)).items
        made = await world.user.get(Workload, "web", "default")
        assert present.spec.workload_ref.uid == made.metadata.uid

    run_story(story)


def test_a_placement_that_is_renamed_moves():
    """What has the old name goes, what has the new one comes."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        (home,) = (await world.user.get(Workload, "web", "default")).spec.placements
        await world.change("web", with_placements(msgspec.structs.replace(home, name="away")))
        served = await world.served("web")
        await nothing_else_is_left(world, "web-away-dfw-0", "web-away-dfw-1")
        served = await world.user.get(Workload, "web", "default")
        assert [p.name for p in served.status.placements] == ["away"]
        assert served.status.deployments == 1

    run_story(story)


@pytest.mark.parametrize("seconds", [0, 0.005, 1, 30])
def test_a_city_that_is_removed_and_added_back_runs_again(seconds):
    """However far the removal has come by then."""

    async def story(world: Watched) -> None:
        await world.set_provider("lhr", stopSeconds="5")
        await world.deploy(workload(cities=("DFW", "LHR")))
        (both,) = (await world.user.get(Workload, "web", "default")).spec.placements
        dfw = (await uids(world, "dfw", Instance))["web-home-dfw-0"]
        await world.change(
            "web", with_placements(msgspec.structs.replace(both, city_codes=("DFW",)))
        )
        await asyncio.sleep(seconds)
        await world.change("web", with_placements(both))
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0", "web-home-lhr-0")
        assert (await uids(world, "dfw", Instance))["web-home-dfw-0"] == dfw

    run_story(story)


@pytest.mark.parametrize("seconds", [0, 0.01, 0.3, 3])
def test_a_template_that_changes_twice_quickly_ends_with_the_second(seconds):
    """No more than one Instance is missing at a time, whichever template it was made from."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", startSeconds="1", stopSeconds="1")
        await world.deploy(workload(cities=("DFW",), replicas=3))

        async def check() -> None:
            there = (await world.client("dfw").every(Instance)).items
            assert sum(map(is_ready, there)) >= 2

        async def change() -> None:
            await world.change("web", with_image("registry.test/web:2"))
            await asyncio.sleep(seconds)
            await world.change("web", with_image("registry.test/web:3"))
            await world.served("web")

        await throughout(check, change())
        await nothing_else_is_left(world, *(f"web-home-dfw-{n}" for n in range(3)))

    run_story(story)


@pytest.mark.parametrize(("first", "then"), [(2, 4), (4, 2)])
@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_restart_while_scaling_does_both(policy, first, then):
    """All that is left was made after the restart was asked for."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", startSeconds="1", stopSeconds="1")
        await world.deploy(
            workload(cities=("DFW",), replicas=first, instance_management_policy=policy)
        )
        before = await uids(world, "dfw", Instance)
        await world.change("web", with_replicas(then))
        await world.change("web", restarted)
        await world.served("web")
        await nothing_else_is_left(world, *(f"web-home-dfw-{n}" for n in range(then)))
        after = await uids(world, "dfw", Instance)
        assert not set(before.values()) & set(after.values())

    run_story(story)


def test_an_old_workload_is_completed_without_a_rollout():
    """A default that is stored for the first time is no change of the template."""

    async def story(world: Watched) -> None:
        admission = world.planes[PROJECT].registry.admission
        completing, admission.mutating = admission.mutating, []
        await world.deploy(workload(cities=("DFW",), instance_management_policy=""))
        admission.mutating = completing
        before = await uids(world, "dfw", Instance)

        await world.change("web", with_replicas(2))
        changed = await world.served("web")
        (placement,) = changed.spec.placements
        assert placement.scale_settings.instance_management_policy == "OrderedReady"
        assert (await uids(world, "dfw", Instance)).items() >= before.items()

    run_story(story)
