"""The engine in a whole world: cells that leave, hub objects that an operator deletes, namespaces."""

import asyncio

import pytest

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from tests.integration.operators import addresses, cut, lose
from tests.integration.worlds import (
    PROJECT,
    Watched,
    message_of,
    reason_of,
    run_story,
    running,
    workload,
)
from tests.support.kubekit.virtual_time import run

TWINS = ("DFW", "DFW")
TRACES = (Instance, WorkloadDeployment, NetworkBinding, NetworkContext, Subnet, SubnetClaim)


async def home_of(world: Watched) -> tuple[str, str]:
    """The cell of the two that has something, and the other."""
    (home,) = [cell for cell in ("dfw", "dfw-2") if await world.instances(cell)]
    return home, "dfw-2" if home == "dfw" else "dfw"


async def uids(world: Watched, cell: str) -> list[str]:
    found = (await world.client(cell).every(Instance)).items
    return sorted(instance.metadata.uid for instance in found)


def test_a_cell_that_leaves_hands_over_what_it_runs():
    """It lets go of everything first, then the other cell of the city starts it; nothing is left."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        home, other = await home_of(world)
        hub = world.client("hub")
        await hub.delete(await hub.get(MemberCluster, home))
        await world.gone("hub", MemberCluster, home)
        await world.gone("hub", Namespace, names.execution_namespace(home))
        await world.served("web")
        assert await world.instances(other) == ["web-home-dfw-0", "web-home-dfw-1"]
        await world.rest()
        assert home not in await world.left(*TRACES)
        assert await world.client(home).find(Namespace, await world.space()) is None
        claims = (await world.user.every(ResourceClaim)).items
        assert {c.metadata.labels["compute.datumapis.com/source-cluster"] for c in claims} == {
            other
        }

    run_story(story, cities=TWINS)


def test_what_a_lost_cell_ran_is_started_in_the_other():
    """Once an operator says that it is gone; the quota of the lost machines is taken over."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        home, other = await home_of(world)
        before = await uids(world, home)
        await lose(world, home)
        await world.served("web", seconds=900.0)
        assert await world.instances(other) == ["web-home-dfw-0", "web-home-dfw-1"]
        assert await uids(world, home) == before
        assert len((await world.user.every(ResourceClaim)).items) == 2

    run_story(story, cities=TWINS)


@pytest.mark.parametrize("whole", ["workload", "project"])
def test_nothing_waits_for_a_cell_that_is_lost(whole):
    """Deleting ends in every other plane, though the lost one cannot be reached."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        await lose(world, "dfw")
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default")
        if whole == "project":
            core = world.client("core")
            await core.delete(await core.get(Project, PROJECT))
            await world.gone("core", Project, PROJECT, seconds=300.0)
        await world.rest()
        left = await world.left(*TRACES, ResourceBinding)
        assert list(left) == ["dfw"]

    run_story(story, cities=("DFW", "LHR"))


@pytest.mark.parametrize("kind", [ResourceBinding, PropagationPolicy])
def test_what_is_only_about_propagation_is_made_again_without_a_restart(kind):
    """A binding finds its Works again; a policy that goes leaves everything as it is."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        before = await uids(world, "dfw")
        hub = world.client("hub")
        (found,) = (await hub.every(kind)).items
        await hub.delete(found)
        await world.named("hub", kind, found.metadata.name, found.metadata.namespace, _other(found))
        await world.rest()
        assert await uids(world, "dfw") == before
        await world.served("web")

    run_story(story, cities=("DFW",))


@pytest.mark.parametrize("kind", [Work, WorkloadDeployment])
def test_what_the_hub_sends_to_a_cell_is_withdrawn_and_sent_again(kind):
    """As Karmada does it: the cell releases it, and gets it again; nothing stays half way."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        before = await uids(world, "dfw")
        hub = world.client("hub")
        every = (await hub.every(kind)).items
        (found,) = [each for each in every if "web-home-dfw" in str(each)]
        await hub.delete(found)
        await world.until(lambda: _none_of(world, before))
        await world.served("web")
        await world.rest()
        assert await world.instances("dfw") == ["web-home-dfw-0", "web-home-dfw-1"]
        assert len((await world.user.every(ResourceClaim)).items) == 2

    run_story(story, cities=("DFW",))


def test_a_deleted_hub_namespace_comes_back_with_everything():
    """Its cells stop its instances, and start them again."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        space, hub = await world.space(), world.client("hub")
        found = await hub.get(Namespace, space)
        await hub.delete(found)
        await world.named("hub", Namespace, space, "", _other(found), seconds=120.0)
        await world.served("web")
        await world.rest()
        assert len((await world.user.every(ResourceClaim)).items) == 2
        assert await world.quiet() == []

    run_story(story, cities=("DFW", "LHR"))


def test_namespaces_of_the_hub_are_in_every_cell_with_their_labels():
    """Not only in the city's: one that is deleted or changed in a cell is restored."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        space = await world.space()
        wanted = (await world.client("hub").get(Namespace, space)).metadata.labels
        for cell in ("dfw", "lhr"):
            there = await world.client(cell).get(Namespace, space)
            assert wanted.items() <= there.metadata.labels.items()
        lhr = world.client("lhr")
        found = await lhr.get(Namespace, space)
        await lhr.delete(found)
        await world.named("lhr", Namespace, space, "", _other(found))
        names_ = {n.metadata.name for n in (await lhr.every(Namespace)).items}
        assert not any(name.startswith("karmada-") for name in names_)

    run_story(story, cities=("DFW", "LHR"))


def test_an_object_in_the_way_in_a_cell_is_left_alone_and_reported():
    """An operator's own object of that name keeps the deployment out, until it is removed."""

    async def story(world: Watched) -> None:
        await world.deploy(workload("first", cities=("DFW",)))
        space, cell = await world.space(), world.client("dfw")
        sample = await cell.get(WorkloadDeployment, "first-home-dfw", space)
        mine = WorkloadDeployment(
            metadata=ObjectMeta(name="web-home-dfw", namespace=space), spec=sample.spec
        )
        await cell.create(mine)
        await world.user.create(workload("web", cities=("DFW",)))
        binding = names.resource_binding("web-home-dfw", "WorkloadDeployment")
        blocked = await world.named(
            "hub",
            ResourceBinding,
            binding,
            space,
            lambda b: any(not item.applied for item in b.status.aggregated_status),
        )
        assert "the hub did not make" in blocked.status.aggregated_status[0].applied_message
        refused = await world.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            "default",
            lambda d: reason_of(d, "Available") == "RefusedByCell",
        )
        assert "already has a WorkloadDeployment" in message_of(refused, "Available")
        await cell.delete(await cell.get(WorkloadDeployment, "web-home-dfw", space))
        await world.served("web")

    run_story(story, cities=("DFW",))


def test_a_cell_that_was_cut_while_its_work_was_withdrawn_lets_go_when_it_is_back():
    """Nothing was forgotten meanwhile: the Work waits for the cell."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await cut(world, "dfw")
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.rest()
        assert await world.instances("dfw") == ["web-home-dfw-0"]
        await cut(world, "dfw", "false")
        await world.gone(PROJECT, Workload, "web", "default")
        await world.rest()
        assert await world.left(*TRACES, ResourceClaim, ResourceBinding) == {}
        assert await world.user.find(Network, "default", "default") is not None

    run_story(story, cities=("DFW", "LHR"))


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.08, 0.2, 1.0])
def test_a_world_that_ends_at_any_moment_goes_on(tmp_path, seconds):
    """A half-done operation is finished or repeated; nothing exists twice."""

    async def first() -> None:
        async with running(TWINS, tmp_path) as world:
            await world.make_project()
            await world.user.create(workload(cities=("DFW",), replicas=3))
            await asyncio.sleep(seconds)

    async def second() -> None:
        async with running(TWINS, tmp_path) as world:
            await world.served("web")
            home, _ = await home_of(world)
            got = await addresses(world, home)
            assert len(set(got)) == len(got) == 3
            assert len((await world.user.every(ResourceClaim)).items) == 3
            await world.user.delete(await world.user.get(Workload, "web", "default"))
            await asyncio.sleep(seconds)

    async def third() -> None:
        async with running(TWINS, tmp_path) as world:
            await world.gone(PROJECT, Workload, "web", "default")
            await world.rest()
            assert await world.left(*TRACES, ResourceClaim, ResourceBinding) == {}

    for part in (first, second, third):
        run(part())


def _other(than: Object):
    return lambda found: found.metadata.uid != than.metadata.uid


async def _none_of(world: Watched, before: list[str]) -> bool:
    return not set(before) & set(await uids(world, "dfw"))
