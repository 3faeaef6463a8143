"""Deletions: the Workload goes last, while machines stop slowly or cells are unreachable."""

import asyncio

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.options import DeleteOptions
from tests.integration.test_cells import cut
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    reason_of,
    run_story,
    with_replicas,
    workload,
)
from tests.support.kubekit.stage import Write

OURS: tuple[type[Object], ...] = (WorkloadDeployment, Instance, ResourceClaim, ResourceBinding)


async def delete(world: Watched, name: str = "web") -> None:
    await world.user.delete(await world.user.get(Workload, name, "default"))


async def elapsed(world: Watched, name: str = "web", seconds: float = 300.0) -> float:
    """How long it took for a Workload to go."""
    started = asyncio.get_running_loop().time()
    await world.gone(PROJECT, Workload, name, "default", seconds)
    return asyncio.get_running_loop().time() - started


def ours(left: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without the Works of namespaces, which stay with these."""
    named = {p: [n for n in there if "web" in n] for p, there in left.items()}
    return {plane: there for plane, there in named.items() if there}


def test_no_plane_lets_what_it_manages_be_orphaned():
    """`--cascade=orphan` is refused with what to type instead, and nothing changes."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        before = await world.instances("dfw")
        found: list[tuple[str, Object]] = [
            (PROJECT, await world.user.get(Workload, "web", "default")),
            ("core", await world.client("core").get(Project, PROJECT)),
        ]
        for plane in (PROJECT, "hub", "dfw"):
            (deployment,) = (await world.client(plane).every(WorkloadDeployment)).items
            found.append((plane, deployment))
        for plane, obj in found:
            with pytest.raises(Forbidden, match=f"kubectl delete {obj.RESOURCE.singular} "):
                await world.client(plane).delete(obj, DeleteOptions(propagation="Orphan"))
        await world.rest()
        assert await world.instances("dfw") == before
        settings = ConfigMap(metadata=ObjectMeta(name="mine", namespace="default"))
        made = await world.user.create(settings)
        await world.user.delete(made, DeleteOptions(propagation="Orphan"))
        await world.gone(PROJECT, ConfigMap, "mine", "default")

    run_story(story, cities=("DFW",))


def test_a_workload_goes_last_though_its_machines_stop_slowly():
    """When it is gone there is no Instance, claim, copy or projection in any plane."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="60")
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        await delete(world)
        assert 59 < await elapsed(world) < 70
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story)


def test_the_user_sees_machines_stop():
    """Copies outlive the hub's deployment: until the last moment the project shows the Instances."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="60")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        space = await world.space()
        await delete(world)
        await world.quiet(50.0)
        assert await world.client("hub").find(WorkloadDeployment, "web-home-dfw", space) is None
        for plane in ("hub", PROJECT):
            assert await world.instances(plane) == ["web-home-dfw-0", "web-home-dfw-1"]
        for shown in (await world.user.every(Instance)).items:
            assert reason_of(shown, "Available") == "Stopping"
            assert reason_of(shown, "Ready") == "Stopping"
        assert 5 < await elapsed(world) < 15
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story, cities=("DFW",))


def test_the_end_is_seen_by_watches_alone():
    """No controller polls whether a machine has stopped."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=2))
        await delete(world)
        assert await elapsed(world) < 0.5

    run_story(story)


def test_a_city_that_is_given_up_is_left_before_its_deployment_goes():
    """The same holds for one deployment of a Workload that stays."""

    async def story(world: Watched) -> None:
        await world.set_provider("lhr", stopSeconds="60")
        await world.deploy(workload(cities=("DFW", "LHR")))
        await world.user.delete(await world.user.get(WorkloadDeployment, "web-home-lhr", "default"))
        await world.quiet(30.0)
        held = await world.user.get(WorkloadDeployment, "web-home-lhr", "default")
        assert held.deleting
        await world.named(
            PROJECT, WorkloadDeployment, "web-home-lhr", true=lambda d: not d.deleting, seconds=90.0
        )
        await world.served("web")

    run_story(story)


def test_a_slot_between_two_instances_is_closed_too():
    """The claim that one Instance left to the next is given back when no next one comes."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="20")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        space, cell = await world.space(), world.client("dfw")
        await cell.delete(await cell.get(Instance, "web-home-dfw-1", space))
        await world.quiet(19.9)
        await delete(world)
        await elapsed(world)
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story)


def test_an_unreachable_cell_delays_no_deletion_indefinitely():
    """The Workload goes once the hub knows that the cell is silent; the cell cleans up on its return."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        space = await world.space()
        await cut(world, "dfw")
        await world.quiet(1.0)
        await delete(world)
        assert 30 < await elapsed(world) < 60
        left = await world.left(*OURS)
        assert left.keys() == {"dfw", PROJECT}  # what only the cell can end, and its claims
        assert {name.split()[0] for name in left[PROJECT]} == {"ResourceClaim"}
        assert is_ready(await world.client("dfw").get(Instance, "web-home-dfw-0", space))
        notes = [e.note for e in (await world.user.every(Event)).items if e.reason == "Withdrawn"]
        assert any("in dfw once that is reachable" in note for note in notes)
        await cut(world, "dfw", "false")
        await world.rest()
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story)


def test_a_workload_of_the_same_name_waits_for_the_cell_that_has_the_old_one():
    """What was deleted while the cell was unreachable stops there first, and the new one runs."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        old = await world.client("dfw").get(Instance, "web-home-dfw-0", await world.space())
        await cut(world, "dfw")
        await world.quiet(1.0)
        await delete(world)
        await elapsed(world)
        await world.user.create(workload(cities=("DFW",)))
        await world.quiet(30.0)
        await cut(world, "dfw", "false")
        await world.served("web")
        new = await world.client("dfw").get(Instance, "web-home-dfw-0", await world.space())
        assert new.metadata.uid != old.metadata.uid

    run_story(story)


@pytest.mark.parametrize("part", ["engine", "cell dfw", "provider dfw"])
def test_a_cell_that_answers_is_waited_for(part):
    """A controller that is paused there, or on the way, is no reason to call the cell gone."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.world.pause(part)
        await delete(world)
        await world.quiet(240.0)
        assert (await world.user.get(Workload, "web", "default")).deleting
        await world.world.resume(part)
        await elapsed(world)
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story)


@pytest.mark.parametrize("part", ["engine", "cell dfw", "provider dfw"])
def test_a_cell_that_answers_and_does_nothing_is_waited_for_five_minutes(part):
    """Then the Workload goes, and the rest is removed when the controllers there run again."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        await world.world.pause(part)
        await delete(world)
        await world.quiet(330.0)
        assert await world.user.find(Workload, "web", "default") is None
        assert await world.instances("dfw") == ["web-home-dfw-0"]
        await world.world.resume(part)
        await world.rest()
        assert ours(await world.left(*OURS, Work)) == {}

    run_story(story)


def since(world: Watched, mark: int) -> list[Write]:
    """What was written after that, leases aside; an event is named as what it is about."""
    return [
        (plane, kind, name.rpartition(".")[0] if kind == "/events" else name)
        for plane, kind, name in world.writes[mark:]
        if not kind.endswith("/leases")
    ]


def test_a_cell_that_returns_unchanged_is_reported_and_nothing_else():
    """The hub says that it answers, the project that it knows again; in the cell nothing is written."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=3))
        await world.rest()
        await cut(world, "dfw")
        await world.quiet(600.0)
        mark = len(world.writes)
        await cut(world, "dfw", "false")
        await world.rest(120.0)
        assert sorted(since(world, mark)) == [
            ("hub", "cluster.karmada.io/clusters", "dfw"),  # the annotation that heals it
            ("hub", "cluster.karmada.io/clusters", "dfw"),  # Ready
            (PROJECT, "/events", "default/web"),  # CityAvailable
            (PROJECT, "/events", "default/web-home-dfw"),
            (PROJECT, "compute.datumapis.com/workloaddeployments", "default/web-home-dfw"),
            (PROJECT, "compute.datumapis.com/workloads", "default/web"),
            (PROJECT, "networking.datumapis.com/locationbindings", "dfw"),
        ]

    run_story(story)


def test_a_cell_that_healed_meanwhile_writes_that_one_difference():
    """Of six Instances one is another now: its copy and its projection are renewed, and no other."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=3))
        await world.rest()
        await cut(world, "dfw")
        await world.quiet(600.0)
        cell, space = world.client("dfw"), await world.space()
        await cell.delete(await cell.get(Instance, "web-home-dfw-1", space))
        await world.quiet(600.0)
        assert is_ready(await cell.get(Instance, "web-home-dfw-1", space))
        mark = len(world.writes)
        await cut(world, "dfw", "false")
        await world.rest(120.0)
        written = since(world, mark)
        instances = {(plane, key) for plane, kind, key in written if kind.endswith("/instances")}
        assert instances == {
            ("hub", f"{space}/web-home-dfw-1"),
            (PROJECT, "default/web-home-dfw-1"),
        }
        assert not [each for each in written if each[0] == "dfw"]
        assert len(written) <= 10

    run_story(story)


def test_a_cell_that_is_cut_off_finishes_a_deletion_of_its_own():
    """What was to go before the cut goes, though neither hub nor project can be reached."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", stopSeconds="60")
        await world.deploy(workload(cities=("DFW",), replicas=2))
        await world.change("web", with_replicas(1))
        await world.quiet(5.0)
        await cut(world, "dfw")
        await world.quiet(180.0)
        assert await world.instances("dfw") == ["web-home-dfw-0"]
        await cut(world, "dfw", "false")
        await world.rest()
        for plane in ("hub", PROJECT):
            assert await world.instances(plane) == ["web-home-dfw-0"]
        assert len((await world.user.every(ResourceClaim)).items) == 1

    run_story(story)
