"""What broke the original, or would break a careless port, from one end of the system to the other."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from compute.api import finalizers, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.quota import ResourceClaim
from compute.app.planes import HUB, PlaneRef
from kubekit.api.meta import Object, ObjectMeta
from tests.integration.test_cells import cut
from tests.integration.test_rollouts import restarted
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    run_story,
    with_image,
    with_replicas,
    workload,
)

SHOP = PlaneRef("project", PROJECT)
HELD = "test.example/held"


async def uids(world: Watched, plane: str, kind: type[Object]) -> dict[str, str]:
    """The uid of everything of a kind in a plane, by name."""
    there = (await world.client(plane).every(kind)).items
    return {each.metadata.name: each.metadata.uid for each in there}


async def claims(world: Watched) -> list[str]:
    """The names of the project's claims."""
    return sorted(await uids(world, PROJECT, ResourceClaim))


async def machines(world: Watched, cell: str) -> set[str]:
    """The Instances of a cell whose machine may run."""
    there = (await world.client(cell).every(Instance)).items
    return {i.metadata.name for i in there if finalizers.SIMULATED in i.metadata.finalizers}


async def throughout(check: Callable[[], Awaitable[None]], during: Awaitable[object]) -> None:
    """Check again and again while something goes on."""
    ends = asyncio.ensure_future(during)
    while not ends.done():
        await check()
        await asyncio.sleep(0.02)
    await ends


async def remove(world: Watched, name: str, seconds: float = 300.0) -> None:
    """Delete a Workload, and wait until it is gone."""
    await world.user.delete(await world.user.get(Workload, name, "default"))
    await world.gone(PROJECT, Workload, name, "default", seconds)


def with_finalizers(obj, *held: str):
    metadata = msgspec.structs.replace(obj.metadata, finalizers=held)
    return msgspec.structs.replace(obj, metadata=metadata)


async def nothing_else_is_left(world: Watched, *instances: str) -> None:
    """Every plane holds these Instances, and a claim, copy and projection of each, and no others."""
    await world.rest()
    for plane in ("hub", PROJECT):
        assert await world.instances(plane) == sorted(instances)
    in_cells = [name for cell in ("dfw", "lhr", "sin") for name in await world.instances(cell)]
    assert sorted(in_cells) == sorted(instances)
    assert await claims(world) == sorted(names.claim(name) for name in instances)
    deployments = {name.rpartition("-")[0] for name in instances}
    for plane in ("hub", PROJECT):
        assert set(await uids(world, plane, WorkloadDeployment)) == deployments
    cities = {name.rpartition("-")[2] for name in deployments}
    assert set(await uids(world, "hub", PropagationPolicy)) == {f"city-{city}" for city in cities}


def test_w13_quota_that_is_away_for_an_hour_takes_nothing_down():
    """What runs stays as it is to the last field, and its return changes nothing either."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.rest()
        before = (await world.client("dfw").every(Instance)).items
        world.world.links[SHOP].cut()
        await asyncio.sleep(3600)
        assert (await world.client("dfw").every(Instance)).items == before
        world.world.links[SHOP].heal()
        await world.rest()
        assert (await world.client("dfw").every(Instance)).items == before
        await world.served("web")

    run_story(story)


def test_w16_a_cell_finishes_deletions_while_the_hub_is_away():
    """The copy goes, and that of the successor comes, when the hub is back."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        space, cell = await world.space(), world.client("dfw")
        world.world.links[HUB].cut()
        gone = await cell.get(Instance, "web-home-dfw-1", space)
        await cell.delete(gone)
        successor = await world.named(
            "dfw",
            Instance,
            "web-home-dfw-1",
            space,
            lambda i: i.metadata.uid != gone.metadata.uid and is_ready(i),
        )
        world.world.links[HUB].heal()
        await world.served("web")
        await world.rest()
        assert (await uids(world, "dfw", Instance))["web-home-dfw-1"] == successor.metadata.uid
        copy = await world.client("hub").get(Instance, "web-home-dfw-1", space)
        assert copy.status == successor.status

    run_story(story)


def test_w16_a_cell_that_is_cut_off_removes_a_whole_deployment():
    """Its Instances go without their quota being given back; that is seen to afterwards."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        space, cell = await world.space(), world.client("dfw")
        await cut(world, "dfw")
        await asyncio.sleep(1)
        present = await cell.get(WorkloadDeployment, "web-home-dfw", space)
        await cell.delete(present)
        await world.gone("dfw", WorkloadDeployment, "web-home-dfw", space, seconds=120.0)
        assert await world.instances("dfw") == []
        await cut(world, "dfw", "false")
        await world.served("web", seconds=300.0)
        await nothing_else_is_left(world, "web-home-dfw-0", "web-home-dfw-1")

    run_story(story)


def test_w17_nothing_is_given_back_or_hidden_before_the_machine_has_stopped():
    """While a machine may run its claim stands, and the project sees its Instance."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="20")
        await world.deploy(workload(cities=("DFW",), replicas=3))
        seen = set()

        async def check() -> None:
            running = await machines(world, "dfw")
            assert {names.claim(name) for name in running} <= set(await claims(world))
            assert running <= set(await world.instances(PROJECT))
            seen.add(len(running))

        await world.change("web", with_replicas(1))
        await throughout(check, world.served("web"))
        assert seen >= {3, 2}
        await nothing_else_is_left(world, "web-home-dfw-0")

    run_story(story)


def test_w17_a_workload_goes_after_its_last_machine():
    """Its name is free, and its quota, when nothing of it runs any more."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="20")
        await world.deploy(workload(cities=("DFW",), replicas=3))
        seen = set()

        async def check() -> None:
            running = await machines(world, "dfw")
            assert {names.claim(name) for name in running} <= set(await claims(world))
            seen.add(len(running))
            if running:
                await world.user.get(Workload, "web", "default")

        await throughout(check, remove(world, "web"))
        assert 3 in seen
        assert await machines(world, "dfw") == set()
        assert await world.left(WorkloadDeployment, Instance, ResourceClaim) == {}
        await nothing_else_is_left(world)

    run_story(story)


@pytest.mark.parametrize("moments", [0, 1, 2, 5, 10, 20, 50])
def test_w20_a_city_whose_last_deployment_goes_as_another_comes_keeps_its_policy(moments):
    """Whichever of the two is seen first."""

    async def story(world: Watched) -> None:
        await world.deploy(workload("one", cities=("DFW",)))
        await world.user.delete(await world.user.get(Workload, "one", "default"))
        await asyncio.sleep(moments / 1000)
        await world.deploy(workload("two", cities=("DFW",)))
        await world.gone(PROJECT, Workload, "one", "default")
        await nothing_else_is_left(world, "two-home-dfw-0")

    run_story(story)


def test_w33_what_is_scaled_away_while_its_cell_is_cut_off_leaves_no_ghosts():
    """The project sees it for as long as it may run, and not a moment longer."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=3))
        await cut(world, "dfw")
        await asyncio.sleep(1)
        await world.change("web", with_replicas(1))
        await world.rest()
        assert len(await world.instances(PROJECT)) == 3
        await cut(world, "dfw", "false")
        await world.served("web", seconds=300.0)
        await nothing_else_is_left(world, "web-home-dfw-0")

    run_story(story)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_w41_what_never_ran_can_be_scaled_down_and_repaired(policy):
    """A first Instance that cannot start stands in the way of nothing."""

    async def story(world: Watched) -> None:
        bad = workload(cities=("DFW",), replicas=3, instance_management_policy=policy)
        await world.user.create(with_image("registry.test/does-not-exist:1")(bad))
        await world.named(
            PROJECT, Workload, "web", true=lambda w: "cannot be pulled" in str(w.status.conditions)
        )
        await world.change("web", with_replicas(1))
        await nothing_else_is_left(world, "web-home-dfw-0")
        await world.change("web", with_image("registry.test/web:2"))
        await world.change("web", with_replicas(2))
        await world.served("web")
        await nothing_else_is_left(world, "web-home-dfw-0", "web-home-dfw-1")

    run_story(story)


def test_w49_a_claim_of_another_size_is_not_taken_for_a_grant():
    """One that was left under the name is replaced before anything runs on it."""

    async def story(world: Watched) -> None:
        name = names.claim("web-home-dfw-0")
        await world.deploy(workload(cities=("DFW",)))
        proper = await world.user.get(ResourceClaim, name, "default")
        await remove(world, "web")
        small = [msgspec.structs.replace(asked, amount=1) for asked in proper.spec.requests]
        left = ResourceClaim(
            metadata=ObjectMeta(name=name, namespace="default", labels=proper.metadata.labels),
            spec=msgspec.structs.replace(proper.spec, requests=tuple(small)),
        )
        await world.user.create(workload(cities=("DFW",)))
        left = await world.user.create(left)
        await world.served("web")
        claim = await world.user.get(ResourceClaim, name, "default")
        assert claim.metadata.uid != left.metadata.uid
        assert claim.spec.requests == proper.spec.requests
        await nothing_else_is_left(world, "web-home-dfw-0")

    run_story(story)


def test_w64_a_claim_on_its_way_out_grants_nothing():
    """What runs goes on; what takes its place waits until the old claim is gone and a new granted."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space, cell = await world.space(), world.client("dfw")
        claim = await world.user.get(ResourceClaim, names.claim("web-home-dfw-0"), "default")
        claim = await world.user.patch(claim, with_finalizers(claim, HELD))
        await world.user.delete(claim)
        await world.rest()
        first = await cell.get(Instance, "web-home-dfw-0", space)
        assert is_ready(first)
        await cell.delete(first)
        await world.rest()
        second = await cell.get(Instance, "web-home-dfw-0", space)
        assert second.metadata.uid != first.metadata.uid
        assert not is_ready(second)
        claim = await world.user.get(ResourceClaim, names.claim("web-home-dfw-0"), "default")
        await world.user.patch(claim, with_finalizers(claim))
        await world.served("web", seconds=20.0)

    run_story(story)


def test_w65_a_restart_in_a_full_project_keeps_its_place():
    """Another that waits for budget gets none of what a slot holds while it is empty."""

    async def story(world: Watched) -> None:
        await world.limit(2)
        await world.set_provider("dfw", startSeconds="5", stopSeconds="5")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.user.create(workload("greedy", cities=("LHR",)))
        await world.rest()

        async def check() -> None:
            assert not await world.instances("lhr") or not is_ready(
                (await world.client("lhr").every(Instance)).items[0]
            )

        await world.change("web", restarted)
        await throughout(check, world.served("web"))
        await remove(world, "web")
        await world.served("greedy")

    run_story(story)
